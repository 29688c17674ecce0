// What a worker leaves behind and goes on from.
#include "lockstep/data/npy.h"
#include "lockstep/train/arrival_file.h"
#include "lockstep/train/start_line.h"
#include "lockstep/train/whole_model.h"
#include "lockstep/train/worker.h"

namespace lockstep {
namespace {

// A shard's state cannot be cut anew, and a rank that served knows nothing of training.
void require_same_servers(const LoadedCheckpoint& checkpoint, const Config& saved, int servers) {
  const auto then = saved.at("aggregate").own().integer("servers");
  if (then == servers) return;
  throw ConfigError("{} is of a run with [aggregate] servers = {}, this one has {}",
                    checkpoint.path(), then, servers);
}

std::string cuts_of(const Config& config) {
  return stages_of(config) == 1 ? "" : config.at("parallel").text_of("cuts");
}

}  // namespace

std::vector<std::string> Worker::resume() {
  const bool may_differ = job_.traits().resizes && job_.placement().servers == 0;
  const auto checkpoint = load_checkpoint(everyone_, paths_.checkpoints(),
                                          may_differ ? OtherWorkers::kAllow : OtherWorkers::kRefuse,
                                          learner_.seat().plan());
  if (!checkpoint) return {"There is no checkpoint yet: starting from the beginning."};
  Config saved;
  saved.read_text(checkpoint->meta().config, checkpoint->path());
  require_same_servers(*checkpoint, saved, job_.placement().servers);
  if (const std::string then = cuts_of(saved), now = cuts_of(settled()); then != now) {
    if (job_.compression() != nullptr) {  // what it holds back belongs to a stage
      throw ConfigError(
          "{} is of a run whose model was cut at [{}], this one at [{}]; with [compress] it "
          "can only go on with the same cuts (--set parallel.cuts=…)",
          checkpoint->path(), then, now);
    }
    learner_.forget_buckets();
  }
  std::vector<std::string> news = checkpoint->passed_over();
  for (const auto& name : checkpoint->restore([this](StateVisitor& visitor) { state(visitor); })) {
    news.push_back(fmt::format("The checkpoint's \"{}\" is not used any more.", name));
  }
  learner_.replica().apply_update();
  if (checkpoint->newcomer()) learner_.begin_ledger();
  began_ = transport_.now();
  bytes_before_ = standing_.bytes;
  news.push_back(fmt::format("Going on after step {} of {}.", standing_.step, job_.plan().steps()));
  if (!checkpoint->change().empty()) news.push_back(checkpoint->change());
  if (standing_.step > job_.plan().steps()) {
    throw ConfigError("the run is at step {} already, beyond the {} it would have now",
                      standing_.step, job_.plan().steps());
  }
  standing_.epoch = job_.plan().at(standing_.step).epochs;
  if (standing_.step > 0) standing_.lr = job_.rates(standing_.step - 1).lr;
  return news;
}

// On a simulated clock saving takes no time, for no disk is simulated, and all go on together:
// taken up here, a run goes on as if it had never been stopped.
void Worker::start_clock() {
  if (!transport_.simulated()) return;
  line_up(learner_.seat().trainers());
  began_ = transport_.now();
}

// What was sent since the last step, to show the model or to rest, is no part of training: how
// often a run validates and saves does not change its bytes, and taken up here it counts on alike.
void Worker::forget_sent() {
  bytes_before_ = standing_.bytes - static_cast<double>(learner_.bytes_sent());
}

void Worker::save_checkpoint() {
  const double began = transport_.now();
  seconds_before_ += began - began_;
  began_ = began;
  saved_ = standing_.step;
  rest(RestFor::kSaving);
  learner_.ledger();  // settled, so that nothing is lost
  const CheckpointMeta meta{standing_.step, standing_.epoch, 0, settled().to_toml()};
  const auto keep = static_cast<int>(job_.config().at("train").own().integer("keep"));
  lockstep::save_checkpoint(
      everyone_, paths_.checkpoints(), meta, [this](StateVisitor& visitor) { state(visitor); },
      keep, learner_.seat().plan());
  forget_sent();
  learner_.start_server();
  if (learner_.timeline() != nullptr) {
    learner_.timeline()->training.add(Activity::kSave, began, transport_.now());
  }
}

// While the server rests, who came when is written down.
void Worker::rest(RestFor wish) {
  learner_.rest();
  if (job_.placement().servers > 0) agree_to_rest(everyone_, wish);
  const ArrivalRecord record = gather_arrivals(everyone_, job_, learner_.take_arrivals());
  if (transport_.rank() == 0 && wants_arrivals(job_)) {
    append_arrivals(paths_.arrivals(), standing_.step, record);
  }
}

void Worker::save_model(const std::string& path) {
  if (!learner_.replica().saves()) return;
  learner_.with_model([&] {
    if (const WholeModel whole = whole_model(learner_, job_)) whole->save(path);
  });
}

// The model as it leaves, and its parameters alone.
void Worker::write_results() {
  learner_.with_model([&] {
    const WholeModel whole = whole_model(learner_, job_);
    if (!whole) return;
    if (whole->saves()) whole->save(paths_.model());
    const auto params = whole->params();
    write_npy(paths_.weights(), params, {static_cast<std::int64_t>(params.size())});
  });
}

Config Worker::settled() const {
  Config config = job_.config();
  if (const StagePlan* const plan = learner_.seat().plan()) {
    config.at("parallel").set_value("cuts", job_.parallel()->names_of(*plan));
  }
  return config;
}

void Worker::state(StateVisitor& visitor) {
  visitor.integer("step", standing_.step);
  visitor.integer("own_steps", own_steps_);
  visitor.integer("reported", reported_);
  visitor.integer("looked", looked_);
  visitor.integer("validated", validated_);
  visitor.integer("saved", saved_);
  visitor.real("samples", standing_.samples);
  visitor.real("seconds", standing_.seconds);
  visitor.real("elapsed", seconds_before_);  // also since the last step
  visitor.real("bytes", standing_.bytes);
  StateScope since(visitor, "since_report");
  since.real("loss", tallies_.loss);
  since.real("labels", tallies_.labels);
  since.real("correct", tallies_.correct);
  since.real("samples", tallies_.samples);
  StateScope stopping(visitor, "early_stopping");
  early_stopping_.state(stopping);
  learner_.state(visitor);
}

}  // namespace lockstep
