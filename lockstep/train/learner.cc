#include "lockstep/train/learner.h"

#include <cmath>

#include "lockstep/base/aligned.h"
#include "lockstep/base/text.h"
#include "lockstep/collective/agreement.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

constexpr Tag kStatisticsTag = 16;

std::unique_ptr<AllReduce> make_all_reduce(const Config& config) {
  const Section& section = config.at("aggregate");
  return Registry<AllReduce>::instance().make(section.component(), section.options());
}

std::unique_ptr<SyncStrategy> make_strategy(const Config& config) {
  const Section& section = config.at("sync");
  return Registry<SyncStrategy>::instance().make(section.component(), section.options());
}

// The cores of the machine shared out among the ranks that compute on it at once. Simulated ranks
// count as many as there are, so that their sums have the order, and the bits, of threads.
ModelSettings settings_for(Transport& transport, const Job& job) {
  const Options& cluster = job.config().at("cluster").own();
  int here = transport.size();
  if (cluster.text("world") == "mpi") {
    here = 0;
    for (int rank = 0; rank < transport.size(); ++rank) {
      here += transport.host_of(rank) == transport.host_of(transport.rank()) ? 1 : 0;
    }
  }
  ModelSettings settings = job.model_settings();
  const auto asked = static_cast<int>(cluster.integer("threads"));
  settings.threads = asked > 0 ? asked : thread_budget(here);
  apply_thread_budget(settings.threads);
  return settings;
}

// What must be the same on all ranks, or they would average what does not belong together.
RunFacts facts_of(const Job& job, Replica& replica) {
  RunFacts facts;
  std::string section;
  for (const auto& line : split(job.config().to_toml(), '\n')) {
    if (line.starts_with('[')) section = line;
    if (const auto at = line.find(" = "); at != std::string::npos) {
      facts.add(section + " " + line.substr(0, at), line.substr(at + 3));
    }
  }
  facts.add("data set", job.dataset().name);
  facts.add("samples", job.dataset().size());
  facts.add("parameters", replica.params().size());
  facts.add("layers", replica.layers().size());
  facts.add("steps", static_cast<std::size_t>(job.plan().steps()));
  return facts;
}

}  // namespace

Learner::Learner(Transport& transport, const Job& job)
    : transport_(transport),
      job_(job),
      group_(transport),
      all_reduce_(make_all_reduce(job.config())),
      communicator_(group_, *all_reduce_),
      replica_(job.model().make(settings_for(transport, job))),
      optimizer_(job.make_optimizer()),
      strategy_(make_strategy(job.config())) {
  require_agreement(group_, facts_of(job, *replica_));
  all_reduce_->prepare(group_);
  broadcast(group_, replica_->params(), 0);
  broadcast(group_, replica_->buffers(), 0);
  replica_->apply_update();
  optimizer_->prepare(replica_->layers());
  share_statistics();
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

PassResult Learner::learn(std::int64_t step, const Batch& batch) {
  const Rates rates = job_.rates(step);
  // The gradient of all samples of the step, each counting the same, whatever worker has it.
  const float weight = static_cast<float>(static_cast<double>(batch.size()) * group_.size() /
                                          static_cast<double>(job_.samples_in(step)));
  const PassResult result = replica_->forward_backward(batch, weight);
  transport_.charge(replica_->modelled_seconds() * static_cast<double>(batch.size()));
  check_loss(result.loss, step, rates);
  SyncStep sync{*replica_, *optimizer_, communicator_, step, rates};
  strategy_->step(sync);
  return result;
}

void Learner::finish(std::int64_t step) {
  SyncStep last{*replica_, *optimizer_, communicator_, step, {}};
  strategy_->finish(last);
}

Tallies Learner::validate(std::span<const SampleId> samples) {
  const auto buffers = replica_->buffers();
  const AlignedVector<float> own(buffers.begin(), buffers.end());
  average_statistics();
  const Tallies tallies = evaluate(group_, *replica_, job_.loader(), samples);
  std::copy(own.begin(), own.end(), buffers.begin());
  return tallies;
}

void Learner::average_statistics() {
  if (!replica_->buffers().empty()) {
    all_reduce_->run(group_, replica_->buffers(), ReduceOp::kMean);
  }
}

std::vector<std::string> Learner::remarks() const {
  std::vector<std::string> remarks = replica_->remarks();
  if (const std::string found = all_reduce_->findings(); !found.empty()) remarks.push_back(found);
  return remarks;
}

void Learner::state(StateVisitor& visitor) {
  visitor.floats("params", replica_->params());
  visitor.floats("buffers", replica_->buffers());
  StateScope model(visitor, "model"), optim(visitor, "optim"), sync(visitor, "sync");
  replica_->state(model);
  optimizer_->state(optim);
  strategy_->state(sync);
}

}  // namespace lockstep
