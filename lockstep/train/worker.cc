#include "lockstep/train/worker.h"

#include <algorithm>
#include <limits>

#include "lockstep/base/text.h"
#include "lockstep/pipeline/slot_table.h"
#include "lockstep/train/arrival_file.h"
#include "lockstep/train/batch_supply.h"
#include "lockstep/train/exchange.h"
#include "lockstep/train/interrupt.h"
#include "lockstep/train/ledgers.h"
#include "lockstep/train/trace_file.h"

namespace lockstep {

namespace {

std::string pipeline_line(const std::vector<WorkerLedger>& ledgers, const Job& job) {
  const Parallel* const parallel = job.parallel();
  if (parallel == nullptr) return "";
  const int k = parallel->stages(), m = parallel->microbatches();
  return fmt::format(
      "pipeline    {}, {} stages, {} micro-batches: idle {:.1f} % of forward and backward; "
      "(k-1)/(m+k-1) = {:.1f} %",
      job.config().at("parallel").component(), k, m, 100 * idle_share(ledgers),
      100 * ideal_idle_share(k, m));
}

}  // namespace

Worker::Worker(Transport& transport, const Job& job, RunPaths paths)
    : transport_(transport),
      job_(job),
      paths_(std::move(paths)),
      everyone_(group_of_everyone(transport)),
      learner_(transport, job),
      early_stopping_(job.config().at("train").own().integer("patience"),
                      job.config().at("train").own().real("least_gain")),
      began_(transport.now()) {}

std::vector<std::string> Worker::remarks() const {
  std::vector<std::string> remarks = learner_.remarks();
  if (const StagePlan* const plan = learner_.seat().plan()) {
    for (const auto& [stage, text] : describe(*plan)) {
      remarks.push_back(fmt::format("{:<11} {}", stage, text));
    }
  }
  return remarks;
}

TrainResult Worker::run() {
  const std::int64_t total = job_.plan().steps();
  const bool in_step = job_.traits().in_step;
  TrainResult result;
  result.stopped_early = standing_.step < total && early_stopping_.should_stop();  // then resumed
  learner_.start();
  {
    BatchSupply batches(learner_.seat().peers(), job_, standing_.step, own_steps_);
    start_clock();
    while (standing_.step < total && !result.interrupted && !result.stopped_early) {
      const Turn turn = learner_.next(standing_.step, next_meeting());
      if (turn.trains) {
        const double began = transport_.now();
        Batch& batch = batches.take(turn, own_steps_);
        learner_.loaded(turn.step, began, transport_.now());
        learn(turn.step, batch);
      } else {
        standing_.step = turn.step;
        standing_.epoch = job_.plan().at(turn.step).epochs;
      }
      standing_.seconds = seconds_before_ + transport_.now() - began_;
      standing_.bytes = bytes_before_ + static_cast<double>(learner_.bytes_sent());
      if (reporter_ != nullptr) reporter_->alive(standing_);
      // Where workers are not in step, they meet only when there is nothing left to do before.
      const bool meets = !turn.trains || (in_step && (learner_.consistent() || at_meeting_));
      if (meets) meet(result);
    }
    result.waited = batches.waited();
  }
  if (!result.interrupted) finish(result);
  take_stock(result);
  write_timeline();
  rest(RestFor::kEnd);
  // Who asked for an early meeting is not told apart in the record, so it cannot be repeated.
  const bool whole = wants_arrivals(job_) && !anybody_interrupted(learner_.seat().trainers());
  if (transport_.rank() == 0 && whole && !result.interrupted) {
    end_arrivals(paths_.arrivals(), standing_.step);
  }
  result.standing = standing_;
  result.placement = job_.placement();
  const StagePlan* const plan = learner_.seat().plan();
  result.parameters = plan != nullptr ? plan->params : learner_.replica().params().size();
  return result;
}

std::int64_t Worker::next_meeting() const {
  std::int64_t next = job_.plan().steps();
  for (const char* option : {"validate_every", "checkpoint_every"}) {
    const double every = job_.config().at("train").own().real(option);
    if (every <= 0) continue;
    const std::int64_t interval = job_.interval(every, standing_.step);
    next = std::min(next, (standing_.step / interval + 1) * interval);
  }
  return next;
}

void Worker::learn(std::int64_t step, Batch& batch) {
  at_meeting_ = job_.traits().in_step && step + 1 == next_meeting();
  const PassResult pass = learner_.learn(step, own_steps_++, batch, at_meeting_);
  tallies_.add(pass, batch.size());
  standing_.lr = job_.rates(step).lr;
  if (job_.traits().in_step) {
    standing_.samples += static_cast<double>(job_.samples_in(step));
    standing_.step = step + 1;
    standing_.epoch = job_.plan().at(step + 1).epochs;
  } else if (interrupt_signal() != 0 && !closed_) {
    closed_ = true;
    learner_.close();
  }
}

// All workers are here, at the same step.
void Worker::meet(TrainResult& result) {
  const std::int64_t step = standing_.step;
  const bool last = step == job_.plan().steps();
  const std::int64_t every = job_.config().at("train").own().integer("log_every");
  if (step / every > reported_ / every || last) report_training();
  if (learner_.consistent()) {
    take_snapshots();
    if (!last && due("validate_every", validated_)) result.validation = validate();
    result.stopped_early = early_stopping_.should_stop();
    forget_sent();
  }
  result.interrupted = !last && !result.stopped_early && agreed_to_stop();
  if (!last && !result.stopped_early && (result.interrupted || due("checkpoint_every", saved_))) {
    save_checkpoint();
    start_clock();
  }
}

bool Worker::due(const char* option, std::int64_t last) const {
  const double every = job_.config().at("train").own().real(option);
  if (every <= 0) return false;
  const std::int64_t interval = job_.interval(every, standing_.step - 1);
  return standing_.step / interval > last / interval;
}

void Worker::report_training() {
  const Tallies all = sum_over(learner_.group(), tallies_);
  tallies_ = {};
  reported_ = standing_.step;
  if (!job_.traits().in_step) standing_.samples += all.samples;
  if (const StalenessRecord* own = learner_.staleness()) {
    const StalenessRecord staleness = sum_over(learner_.group(), *own);
    if (reporter_ != nullptr) reporter_->trained(standing_, all, &staleness);
  } else if (reporter_ != nullptr) {
    reporter_->trained(standing_, all);
  }
}

void Worker::write_timeline() {
  RankTimeline* const timeline = learner_.timeline();
  if (timeline == nullptr) return;
  const auto all = gather_timelines(learner_.seat().trainers(), *timeline);
  std::string names;
  if (learner_.overlap() != nullptr) {
    for (const auto& name : learner_.overlap()->bucket_names()) names += name + '\n';
  }
  std::vector<std::vector<std::string>> buckets;
  for (const auto& text : gather_texts(learner_.seat().trainers(), names, 0)) {
    buckets.push_back(split(text, '\n'));
  }
  if (transport_.rank() != 0) return;
  write_trace(paths_.timeline(), all, {job_.placement(), std::move(buckets)});
}

Tallies Worker::validate() {
  const auto& samples = job_.split().validation;
  const bool again = validated_ == standing_.step;  // by a run that was killed after its last step
  validated_ = standing_.step;
  if (samples.empty()) return {};
  const double began = transport_.now();
  const Tallies tallies = learner_.validate(samples);
  if (learner_.timeline() != nullptr) {
    learner_.timeline()->training.add(Activity::kValidate, began, transport_.now());
  }
  if (!again) early_stopping_.record(tallies.accuracy());
  if (reporter_ != nullptr) reporter_->validated(standing_, tallies, "validation");
  return tallies;
}

// Everybody stops after the same step. Ranks of one process that meet in every step see one note:
// whoever sees it first fixes the next step as the last, which nobody can have finished.
bool Worker::agreed_to_stop() {
  if (job_.config().at("cluster").own().text("world") == "mpi" || !job_.traits().every_step) {
    return anybody_interrupted(learner_.seat().trainers());
  }
  if (interrupt_signal() != 0) {
    auto never = std::numeric_limits<std::int64_t>::max();
    job_.stop_after.compare_exchange_strong(never, standing_.step + 1);
  }
  return standing_.step >= job_.stop_after.load();
}

void Worker::take_snapshots() {
  const double before = job_.plan().at(looked_).progress;
  const double now = job_.plan().at(standing_.step).progress;
  looked_ = standing_.step;
  const auto points = job_.snapshots();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] > before && points[i] <= now) {
      save_model(fmt::format("{}/snapshot-{}.pt", paths_.root, i + 1));
    }
  }
}

void Worker::finish(TrainResult& result) {
  learner_.finish(standing_.step);
  const bool known = validated_ == standing_.step && result.validation.samples > 0;
  if (!known) result.validation = validate();
  save_checkpoint();
  result.best_accuracy = early_stopping_.best();
  result.test = learner_.validate(job_.split().test);
  if (reporter_ != nullptr && result.test.samples > 0) {
    reporter_->validated(standing_, result.test, "test");
  }
  write_results();
}

void Worker::take_stock(TrainResult& result) {
  result.ledgers = gather_ledgers(learner_.seat().trainers(), learner_.ledger());
  result.pipeline = pipeline_line(result.ledgers, job_);
  result.overlap = learner_.overlap_line(result.ledgers);
  if (const StalenessRecord* own = learner_.staleness()) {
    result.staleness = sum_over(learner_.group(), *own);
  }
  if (job_.compression() != nullptr && learner_.group().size() > 1) {
    result.compression =
        compression_line(job_.compression()->names(), result.ledgers, learner_.measure_link());
  }
}

}  // namespace lockstep
