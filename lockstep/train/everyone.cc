#include "lockstep/train/everyone.h"

#include <cstring>

#include "lockstep/collective/collectives.h"
#include "lockstep/train/common_start.h"

namespace lockstep {
namespace {

constexpr Tag kEveryoneTag = 48;

}  // namespace

Group group_of_everyone(Transport& transport) {
  return Group(transport, kEveryoneTag);
}

RestFor agree_to_rest(Group& everyone, RestFor wish) {
  float word = wish == RestFor::kEnd ? 1 : 0;
  broadcast(everyone, std::span(&word, 1), 0);
  return word != 0 ? RestFor::kEnd : RestFor::kSaving;
}

ArrivalRecord gather_arrivals(Group& everyone, const Job& job, std::vector<int> mine) {
  const auto all = all_gather_bytes(everyone, std::as_bytes(std::span(mine)));
  ArrivalRecord record;
  if (everyone.index() != 0) return record;
  // Behind the workers are the ranks that only serve; if there are any, shards are there alone.
  const auto first =
      static_cast<std::size_t>(job.placement().servers > 0 ? job.placement().worker_ranks() : 0);
  for (std::size_t rank = first; rank < all.size(); ++rank) {
    auto& place = record.emplace_back(all[rank].size() / sizeof(int));
    if (!place.empty()) std::memcpy(place.data(), all[rank].data(), place.size() * sizeof(int));
  }
  return record;
}

void serve_only(Transport& transport, const Job& job, const RunPaths& paths, bool resume) {
  Group everyone = group_of_everyone(transport);
  const auto strategy = job.make_strategy();
  std::unique_ptr<Serving> serving;
  {
    const auto replica = make_replica(transport, job);  // for its layers and first parameters
    agree_on_run(everyone, job, replica->params().size());
    start_equal(everyone, *replica);
    serving = std::make_unique<Serving>(transport, job, *replica, *strategy);
  }
  const auto show = [&](StateVisitor& visitor) {
    StateScope server(visitor, "server");
    serving->state(server);
  };
  if (resume) {
    if (const auto checkpoint = load_checkpoint(everyone, paths.checkpoints())) {
      checkpoint->restore(show);
    }
  }
  for (;;) {
    serving->start();
    const RestFor wish = agree_to_rest(everyone);
    gather_arrivals(everyone, job, serving->take_arrivals());
    if (wish == RestFor::kEnd) return;
    save_checkpoint(everyone, paths.checkpoints(), {}, show, 1);
  }
}

}  // namespace lockstep
