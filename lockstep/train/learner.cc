#include "lockstep/train/learner.h"

#include <cmath>
#include <utility>

#include "lockstep/base/aligned.h"
#include "lockstep/pipeline/stage_replica.h"
#include "lockstep/train/common_start.h"
#include "lockstep/train/everyone.h"

namespace lockstep {
namespace {

constexpr Tag kStatisticsTag = 16;

std::unique_ptr<AllReduce> make_all_reduce(const Config& config) {
  const Section& section = config.at("aggregate");
  return Registry<AllReduce>::instance().make(section.component(), section.options());
}

std::unique_ptr<RankTimeline> make_timeline(const Job& job) {
  constexpr std::size_t kMostEvents = 20000;  // of a track, about 3 MB as JSON
  if (!job.config().at("train").own().flag("timeline")) return nullptr;
  return std::make_unique<RankTimeline>(kMostEvents);
}

Arrivals inbox_of(const Job& job, int rank) {
  if (!job.replay() || job.has_server()) return {};
  return Arrivals(job.replay()->at(static_cast<std::size_t>(rank)));
}

}  // namespace

Learner::Learner(Transport& whole, const Job& job)
    : seat_(whole, job),
      transport_(seat_.peers()),
      job_(job),
      timeline_(make_timeline(job)),
      group_(transport_, first_ranks(job.placement().worker_ranks())),
      all_reduce_(make_all_reduce(job.config())),
      replica_(make_replica()),
      pass_(transport_, *replica_),
      optimizer_(job.make_optimizer()),
      strategy_(job.make_strategy()),
      inbox_(inbox_of(job, transport_.rank())) {
  Group everyone = group_of_everyone(whole);
  const bool cut = seat_.plan() != nullptr;  // then all have agreed before they sat down
  if (!cut) agree_on_run(everyone, job, replica_->params().size());
  start_equal(cut ? group_ : everyone, *replica_);
  all_reduce_->prepare(group_);
  optimizer_->prepare(replica_->layers());
  share_statistics();
  if (job.has_server())
    serving_ = std::make_unique<Serving>(transport_, job, *replica_, *strategy_);
  averaging_ = make_averaging();
  communicator_ = std::make_unique<Communicator>(group_, *averaging_);
  if (timeline_) communicator_->note_on(&timeline_->training);
  strategy_->prepare({*replica_, *optimizer_, *communicator_,
                      serving_ ? &serving_->client() : nullptr, inbox_, job.seed(),
                      job.plan().steps(), job.plan().epochs(), job.compression(),
                      overlap_ == nullptr && updates_together()});
  open_overlap();
}

std::unique_ptr<Replica> Learner::make_replica() {
  const Parallel* const parallel = job_.parallel();
  if (parallel == nullptr) return lockstep::make_replica(seat_.whole(), job_);
  const int stage = seat_.stage();
  return std::make_unique<StageReplica>(
      job_.model().make_stage(settings_for(seat_.whole(), job_), seat_.share().units),
      parallel->make_schedule(),
      StageReplica::Setup{seat_.whole(), stage, parallel->stages(), seat_.rank_of(stage - 1),
                          seat_.rank_of(stage + 1), parallel->microbatches(), parallel->recompute(),
                          timeline_ ? &timeline_->training : nullptr});
}

void Learner::share_statistics() {
  // Workers of one rank share theirs by being one part of its batch; see BatchSource.
  const int ranks = job_.statistics_workers() / job_.placement().merge;
  if (ranks <= 1) return;
  std::vector<int> members;
  const int first = transport_.rank() / ranks * ranks;
  for (int i = 0; i < ranks; ++i) members.push_back(first + i);
  statistics_group_ = std::make_unique<Group>(transport_, std::move(members), kStatisticsTag);
  replica_->share_statistics(
      [this](std::span<float> sums) { all_reduce_->run(*statistics_group_, sums, ReduceOp::kSum); },
      ranks);
}

void Learner::check_loss(double loss, std::int64_t step, const Rates& rates) const {
  if (std::isfinite(loss)) return;
  const Placement& placement = job_.placement();
  const int first = placement.first_worker(transport_.rank());
  throw TrainingError(
      "the loss became {} at step {} on worker{} {}, with learning rate {:g}; a lower rate "
      "([optim] lr), a warm-up ([schedule] warmup_epochs) or precision = \"float\" may help",
      std::isnan(loss) ? "no number (NaN)" : "infinite", step + 1, placement.merge > 1 ? "s" : "",
      placement.merge > 1 ? fmt::format("{} to {}", first, first + placement.merge - 1)
                          : fmt::format("{}", first),
      rates.lr);
}

// The gradient of all samples of the step that go into one model, each counting the same, whatever
// worker has it.
float Learner::weight_of(std::int64_t step, std::size_t samples) const {
  const auto own = static_cast<double>(samples);
  if (!job_.traits().by_step) {  // nobody knows who else takes part
    return static_cast<float>(own / static_cast<double>(job_.plan().at(step).local_batch));
  }
  const Placement& placement = job_.placement();
  const int together = placement.workers / job_.models();  // workers that train one model
  const int first = placement.first_worker(transport_.rank()) / together * together;
  const std::size_t all = job_.samples_in(step, first, together);
  if (all == 0) return 0;  // only workers of other models have any left
  return static_cast<float>(own * (group_.size() / job_.models()) / static_cast<double>(all));
}

Turn Learner::next(std::int64_t done, std::int64_t until) {
  const double began = transport_.now();
  const Turn turn = strategy_->next(done, until);
  deciding_ += transport_.now() - began;                        // it may have talked, too
  if (!turn.trains) consistent_ = strategy_->consistent_now();  // all have met
  return turn;
}

// Workers of one rank go at the pace of the slowest.
double Learner::slowdown_of(std::int64_t own) const {
  const Placement& placement = job_.placement();
  double factor = 1;
  for (int i = 0; i < placement.merge; ++i) {
    const int worker = placement.first_worker(transport_.rank()) + i;
    factor = std::max(factor, job_.slowdown().factor(worker, own));
  }
  return factor;
}

PassResult Learner::learn(std::int64_t step, std::int64_t own, Batch& batch, bool meeting) {
  const Rates rates = job_.rates(step);
  SyncStep sync{*replica_, *optimizer_, *communicator_, step, rates, 0, meeting};
  averaging_->begin_step(rates.epoch);
  if (serving_) serving_->client().begin_step(rates.epoch);
  Communicator* const members = overlap_ ? strategy_->gradient_members(step) : nullptr;
  if (members != nullptr && overlap_->wants_times()) {
    overlap_->plan(members->group(), pass_.layer_times(batch));
  }
  const double began = transport_.now();
  const double slowdown = slowdown_of(own);
  strategy_->before(sync, batch);
  if (slowdown > 1) transport_.pause((slowdown - 1) * (transport_.now() - began));
  if (const PassTimes* times = replica_->pass_times()) counted_ = *times;  // not what was measured
  const PassResult result = pass_.run(batch, weight_of(step, batch.size()), slowdown,
                                      members != nullptr ? overlap_ : nullptr);
  count_pass(began, transport_.now());
  check_loss(result.loss, step, rates);
  sync.loss = result.loss;
  sync.samples = batch.size();
  take_step(sync);
  return result;
}

void Learner::count_pass(double began, double ended) {
  ledger_.steps += 1;
  if (const PassTimes* now = replica_->pass_times()) {  // it has its own timeline, too
    const PassTimes& before = counted_;
    ledger_.forward += now->forward - before.forward;
    ledger_.computing += now->forward - before.forward + now->backward - before.backward;
    ledger_.idling += now->waited - before.waited;
    ledger_.passed += static_cast<double>(now->sent - before.sent);
    return;
  }
  ledger_.computing += ended - began;
  ledger_.forward += pass_.forward_end() - began;
  if (timeline_) {
    timeline_->training.add(Activity::kForward, began, pass_.forward_end());
    timeline_->training.add(Activity::kBackward, pass_.forward_end(), ended);
  }
}

std::uint64_t Learner::bytes_sent() const {
  const PassTimes* const passes = replica_->pass_times();
  return communicator_->traffic().sent + (passes != nullptr ? passes->sent : 0);
}

// What a strategy does beside exchanging is to update.
void Learner::take_step(SyncStep& sync) {
  const double began = transport_.now();
  strategy_->step(sync);
  consistent_ = strategy_->consistent_now();
  const double spent = transport_.now() - began + std::exchange(deciding_, 0);
  const double exchanging = communicator_->exchanging();
  ledger_.updating += spent - (exchanging - std::exchange(exchanged_, exchanging));
}

void Learner::loaded(std::int64_t step, double began, double ended) {
  ledger_.loading += ended - began;
  if (!timeline_) return;
  timeline_->at_step(step);
  timeline_->training.add(Activity::kLoad, began, ended);
}

void Learner::finish(std::int64_t step) {
  SyncStep last{*replica_, *optimizer_, *communicator_, step, {}, 0, true};
  strategy_->finish(last);
  replica_->apply_update();
  consistent_ = true;
}

void Learner::with_model(const std::function<void()>& action) {
  // Where workers have no parameters of their own, others may be reading them.
  const auto params = job_.traits().own_models ? replica_->params() : std::span<float>();
  const auto buffers = replica_->buffers();
  const AlignedVector<float> own_params(params.begin(), params.end());
  const AlignedVector<float> own_buffers(buffers.begin(), buffers.end());
  SyncStep here{*replica_, *optimizer_, *communicator_, 0, {}, 0, true};
  strategy_->show_model(here);
  replica_->apply_update();
  action();
  std::copy(own_params.begin(), own_params.end(), params.begin());
  std::copy(own_buffers.begin(), own_buffers.end(), buffers.begin());
  replica_->apply_update();
}

Tallies Learner::validate(std::span<const SampleId> samples) {
  Tallies tallies;
  with_model([&] { tallies = evaluate(group_, *replica_, job_.loader(), samples); });
  return tallies;
}

const WorkerLedger& Learner::ledger() {
  communicator_->settle();
  const Traffic now = communicator_->traffic();
  ledger_.add(now, std::exchange(settled_, now));
  return ledger_;
}

std::vector<std::string> Learner::remarks() const {
  std::vector<std::string> remarks = replica_->remarks();
  for (const std::string& found : {all_reduce_->findings(), averaging_->findings()}) {
    if (!found.empty()) remarks.push_back(found);
  }
  return remarks;
}

void Learner::start_server() {
  if (serving_) serving_->start();
}

void Learner::start() {
  strategy_->start();
  start_server();
}

void Learner::rest() {
  if (serving_) serving_->rest();
  strategy_->before_saving();
}

std::vector<int> Learner::take_arrivals() {
  return serving_ ? serving_->take_arrivals() : inbox_.take_noted();
}

void Learner::model_state(StateVisitor& visitor) {
  visitor.floats("params", replica_->params());
  visitor.floats("buffers", replica_->buffers());
  std::int64_t consistent = consistent_ ? 1 : 0;
  visitor.integer("consistent", consistent);
  consistent_ = consistent != 0;
  StateScope model(visitor, "model"), sync(visitor, "sync");
  replica_->state(model);
  strategy_->state(sync);
}

void Learner::state(StateVisitor& visitor) {
  model_state(visitor);
  StateScope optim(visitor, "optim"), server(visitor, "server"), ledger(visitor, "ledger");
  StateScope averaging(visitor, "averaging");
  Buckets buckets = overlap_ != nullptr ? overlap_->buckets() : Buckets();
  std::int64_t members = overlap_ != nullptr ? overlap_->members() : 0;
  visit_list(averaging, "buckets", buckets);
  averaging.integer("members", members);
  if (overlap_ != nullptr && keeps_buckets_) overlap_->keep(buckets, members);
  averaging_->state(averaging);
  optimizer_->state(optim);
  if (serving_) serving_->state(server);
  ledger_.state(ledger);
}

}  // namespace lockstep
