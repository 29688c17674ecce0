#include "lockstep/train/worker.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "lockstep/collective/collectives.h"
#include "lockstep/data/npy.h"
#include "lockstep/data/prefetch.h"
#include "lockstep/train/batch_source.h"
#include "lockstep/train/interrupt.h"

namespace lockstep {
namespace {

constexpr Tag kBatchTag = 32;

}  // namespace

Worker::Worker(Transport& transport, const Job& job, RunPaths paths)
    : transport_(transport),
      job_(job),
      paths_(std::move(paths)),
      learner_(transport, job),
      early_stopping_(job.config().at("train").own().integer("patience"),
                      job.config().at("train").own().real("least_gain")),
      began_(transport.now()) {}

std::vector<std::string> Worker::resume() {
  const auto checkpoint =
      load_checkpoint(learner_.group(), paths_.checkpoints(), OtherWorkers::kAllow);
  if (!checkpoint) return {"There is no checkpoint yet: starting from the beginning."};
  std::vector<std::string> news = checkpoint->passed_over();
  for (const auto& name : checkpoint->restore([this](StateVisitor& visitor) { state(visitor); })) {
    news.push_back(fmt::format("The checkpoint's \"{}\" is not used any more.", name));
  }
  learner_.replica().apply_update();
  seconds_before_ = standing_.seconds;
  bytes_before_ = standing_.bytes;
  news.push_back(fmt::format("Going on after step {} of {}.", standing_.step, job_.plan().steps()));
  if (!checkpoint->change().empty()) news.push_back(checkpoint->change());
  if (standing_.step > job_.plan().steps()) {
    throw ConfigError("the run is at step {} already, beyond the {} it would have now",
                      standing_.step, job_.plan().steps());
  }
  standing_.epoch = job_.plan().at(standing_.step).epochs;
  return news;
}

std::vector<std::string> Worker::remarks() const {
  return learner_.remarks();
}

TrainResult Worker::run() {
  const Options& options = job_.config().at("train").own();
  const std::int64_t total = job_.plan().steps();
  BatchSource source(job_, transport_.rank());
  const auto fill = [&](std::int64_t step, Batch& batch) { source.fill(step, batch); };
  TrainResult result;
  {
    std::optional<Prefetcher> ahead;
    if (options.flag("prefetch")) {
      ahead.emplace(transport_, kBatchTag, standing_.step, total, fill);
    }
    Batch own;
    while (standing_.step < total && !result.interrupted && !result.stopped_early) {
      if (!ahead) fill(standing_.step, own);
      learn(ahead ? ahead->next() : own);
      const bool last = standing_.step == total;
      if (standing_.step % options.integer("log_every") == 0 || last) report_training();
      if (learner_.consistent()) {
        take_snapshots();
        if (!last && due("validate_every")) validate();
        result.stopped_early = early_stopping_.should_stop();
        result.interrupted = !last && agreed_to_stop();
        if (!last && !result.stopped_early && (result.interrupted || due("checkpoint_every"))) {
          save_checkpoint();
        }
      }
    }
    if (ahead) result.waited = ahead->waited();
  }
  if (!result.interrupted) finish(result);
  result.standing = standing_;
  result.parameters = learner_.replica().params().size();
  return result;
}

void Worker::learn(const Batch& batch) {
  const std::int64_t step = standing_.step;
  const PassResult pass = learner_.learn(step, batch);
  tallies_.add(pass, batch.size());
  standing_.lr = job_.rates(step).lr;
  standing_.samples += static_cast<double>(job_.samples_in(step));
  standing_.step = step + 1;
  standing_.epoch = job_.plan().at(step + 1).epochs;
  standing_.seconds = seconds_before_ + transport_.now() - began_;
  standing_.bytes = bytes_before_ + static_cast<double>(learner_.bytes_sent());
  if (reporter_ != nullptr) reporter_->alive(standing_);
}

bool Worker::due(const char* option) const {
  const double every = job_.config().at("train").own().real(option);
  return every > 0 && standing_.step % job_.interval(every, standing_.step - 1) == 0;
}

void Worker::report_training() {
  const Tallies all = sum_over(learner_.group(), tallies_);
  tallies_ = {};
  if (reporter_ != nullptr) reporter_->trained(standing_, all);
}

Tallies Worker::validate() {
  const auto& samples = job_.split().validation;
  if (samples.empty()) return {};
  const Tallies tallies = learner_.validate(samples);
  early_stopping_.record(tallies.accuracy());
  if (reporter_ != nullptr) reporter_->validated(standing_, tallies, "validation");
  return tallies;
}

// Everybody stops after the same step. Ranks of one process see one note: whoever sees it first
// fixes the next step as the last, which nobody can have finished, as all meet in every step.
bool Worker::agreed_to_stop() {
  if (job_.config().at("cluster").own().text("world") == "mpi") {
    return anybody_interrupted(learner_.group());
  }
  if (interrupt_signal() != 0) {
    auto never = std::numeric_limits<std::int64_t>::max();
    job_.stop_after.compare_exchange_strong(never, standing_.step + 1);
  }
  return standing_.step >= job_.stop_after.load();
}

void Worker::take_snapshots() {
  const double before = job_.plan().at(standing_.step - 1).progress;
  const double now = job_.plan().at(standing_.step).progress;
  const auto points = job_.snapshots();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] > before && points[i] <= now) {
      save_model(fmt::format("{}/snapshot-{}.pt", paths_.root, i + 1));
    }
  }
}

void Worker::save_checkpoint() {
  const CheckpointMeta meta{standing_.step, standing_.epoch, 0, job_.config().to_toml()};
  const auto keep = static_cast<int>(job_.config().at("train").own().integer("keep"));
  lockstep::save_checkpoint(
      learner_.group(), paths_.checkpoints(), meta,
      [this](StateVisitor& visitor) { state(visitor); }, keep);
}

// With running statistics averaged over the workers, which keep their own.
void Worker::save_model(const std::string& path) {
  if (!learner_.replica().saves()) return;
  const auto buffers = learner_.replica().buffers();
  const AlignedVector<float> own(buffers.begin(), buffers.end());
  learner_.average_statistics();
  if (transport_.rank() == 0) learner_.replica().save(path);
  std::copy(own.begin(), own.end(), buffers.begin());
}

void Worker::finish(TrainResult& result) {
  learner_.finish(standing_.step);
  learner_.average_statistics();
  result.validation = validate();
  save_checkpoint();
  result.best_accuracy = early_stopping_.best();
  result.test = learner_.validate(job_.split().test);
  if (reporter_ != nullptr && result.test.samples > 0) {
    reporter_->validated(standing_, result.test, "test");
  }
  save_model(paths_.model());
  if (transport_.rank() == 0) {
    const auto params = learner_.replica().params();
    write_npy(paths_.weights(), params, {static_cast<std::int64_t>(params.size())});
  }
}

void Worker::state(StateVisitor& visitor) {
  visitor.integer("step", standing_.step);
  visitor.real("samples", standing_.samples);
  visitor.real("seconds", standing_.seconds);
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
