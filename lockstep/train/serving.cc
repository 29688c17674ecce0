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
  const ShardMap map(replica.layers(), job.shards(), optimizer->whole_layers());
  const int first = placement.servers > 0 ? placement.worker_ranks() : 0;  // with a shard
  if (transport.rank() >= first) {
    const int shard = transport.rank() - first;
    ShardSetup setup{.shard = shard,
                     .workers = placement.worker_ranks(),
                     .params = slice(std::span<const float>(replica.params()), map.range(shard)),
                     .layers = map.layers_of(shard),
                     .optimizer = std::move(optimizer)};
    setup.optimizer->prepare(setup.layers);
    shard_ =
        std::make_unique<ShardServer>(strategy.shard_rule(std::move(setup)), map.range(shard).size,
                                      placement.worker_ranks(), arrivals_at(job, shard));
  }
  if (transport.rank() < placement.worker_ranks()) {
    std::vector<int> ranks(static_cast<std::size_t>(job.shards()));
    std::iota(ranks.begin(), ranks.end(), first);
    client_ = std::make_unique<ServerClient>(transport, map, std::move(ranks));
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
}

}  // namespace lockstep
