#include "lockstep/train/serving.h"

#include <numeric>

namespace lockstep {
namespace {

Arrivals arrivals_at(const Job& job, int shard) {
  if (job.replay()) return Arrivals(job.replay()->at(static_cast<std::size_t>(shard)));
  return {};
}

}  // namespace

Serving::Serving(Transport& transport, const Job& job, Replica& replica,
                 const SyncStrategy& strategy)
    : transport_(transport) {
  const Placement& placement = job.placement();
  auto optimizer = job.make_optimizer();
  const CompressionPlan* plan = job.compression();
  if (plan != nullptr) plan->check_rules(replica.layers());
  const bool whole = optimizer->whole_layers() || (plan != nullptr && plan->whole_layers());
  const ShardMap map(replica.layers(), job.shards(), whole);
  const int first = placement.servers > 0 ? placement.worker_ranks() : 0;  // with a shard
  if (transport.rank() >= first) {
    const int shard = transport.rank() - first;
    ShardSetup setup{.shard = shard,
                     .workers = placement.worker_ranks(),
                     .params = slice(std::span<const float>(replica.params()), map.range(shard)),
                     .layers = map.layers_of(shard),
                     .optimizer = std::move(optimizer)};
    setup.optimizer->prepare(setup.layers);
    std::unique_ptr<ShardCompression> compression;
    if (plan != nullptr) {
      compression = std::make_unique<ShardCompression>(
          ShardCompression{*plan, setup.layers, setup.params, job.seed(), shard});
    }
    shard_ = std::make_unique<ShardServer>(strategy.shard_rule(std::move(setup)),
                                           map.range(shard).size, placement.worker_ranks(),
                                           arrivals_at(job, shard), compression.get());
  }
  if (transport.rank() < placement.worker_ranks()) {
    std::vector<int> ranks(static_cast<std::size_t>(job.shards()));
    std::iota(ranks.begin(), ranks.end(), first);
    client_ = std::make_unique<ServerClient>(transport, map, std::move(ranks));
    if (plan != nullptr) {
      const bool models = job.traits().pushes_models;
      client_->compress(*plan, models ? replica.params() : std::span<float>(), job.seed());
    }
  }
}

Serving::~Serving() = default;

void Serving::start() {
  if (!shard_) return;
  if (!trains()) return shard_->serve(transport_);
  companion_ = transport_.spawn([this](Transport& beside) { shard_->serve(beside); });
}

void Serving::rest() {
  client_->leave();
  if (companion_) companion_->join();
  companion_.reset();
}

std::vector<int> Serving::take_arrivals() {
  return shard_ ? shard_->arrivals().take_noted() : std::vector<int>();
}

void Serving::state(StateVisitor& visitor) {
  if (shard_) shard_->state(visitor);
  if (!client_) return;
  StateScope client(visitor, "client");
  client_->state(client);
}

}  // namespace lockstep
