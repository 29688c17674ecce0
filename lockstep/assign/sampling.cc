#include "lockstep/assign/sampling.h"

namespace lockstep {

OptionSet sampling_options() {
  OptionSet options;
  options
      .text("shuffle", "epoch",
            "when samples are put in a new order: every epoch, once, or never (none)")
      .one_of({"epoch", "once", "none"});
  options.flag("replacement", false,
               "draw each sample from all of the shard, whether it was drawn before or not");
  options
      .text("scope", "local",
            "local: a worker keeps its shard; global: samples are shared out anew every epoch")
      .one_of({"local", "global"});
  return options;
}

Sampling Sampling::from(const Options& options) {
  Sampling sampling;
  const std::string& shuffle = options.text("shuffle");
  if (shuffle == "once") sampling.shuffle = Shuffle::kOnce;
  if (shuffle == "none") sampling.shuffle = Shuffle::kNone;
  if (options.text("scope") == "global") sampling.scope = Scope::kGlobal;
  sampling.replacement = options.flag("replacement");
  if (sampling.replacement && !sampling.shuffled()) {
    throw ConfigError(
        "replacement = true draws at random, which shuffle = \"none\" forbids; use "
        "shuffle = \"epoch\" or \"once\"");
  }
  if (sampling.scope == Scope::kGlobal && sampling.shuffle != Shuffle::kEpoch) {
    throw ConfigError(
        "scope = \"global\" shares out anew every epoch, which shuffle = \"{}\" forbids; use "
        "shuffle = \"epoch\"",
        shuffle);
  }
  return sampling;
}

}  // namespace lockstep
