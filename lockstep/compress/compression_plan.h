// What a configuration says about compression: which compressor for which layers, from which epoch
// on. Pure: the same on all ranks, made once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/compress/compressor.h"

namespace lockstep {

// What a sender keeps of what its messages leave out.
enum class Feedback {
  kNone,     // nothing: it comes again by itself, as with differences of models that stay
  kPlanned,  // as [compress] error_feedback says
  kWorker,   // the same, and momentum correction: of a worker's gradients
};

enum class Combining { kAuto, kGather, kOwner };

class CompressionPlan {
 public:
  // One compressor and its layers.
  struct Lane {
    std::string name;
    Options options;
    std::vector<Layer> layers;
  };

  // `own`: the keys of [compress] that belong to no compressor, see compress_options().
  CompressionPlan(const std::string& compressor, const Options& options, const Options& own);

  bool compresses() const;  // or is it "none" at all times?
  std::size_t phases() const { return phases_.size(); }
  std::size_t phase_at(double epoch) const;
  // A ConfigError if a rule matches none of the model's layers.
  void check_rules(std::span<const Layer> layers) const;
  std::vector<Lane> lanes(std::size_t phase, std::span<const Layer> layers) const;
  // The compressor of a lane, prepared.
  std::unique_ptr<Compressor> make(const Lane& lane, Feedback feedback) const;
  Combining combining() const { return combining_; }
  double momentum() const;    // the largest of a momentum correction
  bool nearly_exact() const;  // are all of its compressors?
  bool whole_layers() const;  // does any of its compressors want layers uncut?
  std::string names() const;  // "topk", "none, then fp16"

 private:
  struct Choice {  // of a compressor
    std::string name;
    Options options;
  };
  struct Rule {
    std::string pattern;
    Choice choice;
  };
  struct Phase {
    double from_epoch = 0;
    Choice choice;
    bool waits = false;  // the one before from_epoch, in which no rule counts
  };

  void check_phases();
  Choice parse(const std::string& text, const std::string& where) const;
  const Choice& choice_for(const Layer& layer, const Choice& otherwise) const;
  std::vector<const Choice*> all() const;

  std::vector<Phase> phases_;
  std::vector<Rule> rules_;  // that go first, first
  std::size_t plain_below_ = 0;
  std::string feedback_;
  Combining combining_ = Combining::kAuto;
  Choice plain_;
};

// The keys of [compress] that belong to no compressor.
OptionSet compress_options();

}  // namespace lockstep
