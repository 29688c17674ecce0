// Hierarchical (Jia et al. 2018): members form groups; each group reduces to its master, the
// masters form a ring, and each master hands the result to its group. Fits machines with a fast
// inside and a slow network between: only masters use the network. Inside a group shared memory is
// used where there is any, else a binomial tree; the bits are the same.
#include <cmath>
#include <map>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/ring.h"
#include "lockstep/collective/shared_memory.h"
#include "lockstep/collective/tree.h"

namespace lockstep {
namespace {

using Members = std::vector<int>;

// Consecutive members, sizes differing by at most one.
std::vector<Members> consecutive_groups(int members, int groups) {
  std::vector<Members> result(static_cast<std::size_t>(groups));
  for (int g = 0; g < groups; ++g) {
    const Range range = chunk(static_cast<std::size_t>(members), groups, g);
    for (std::size_t i = range.begin; i < range.end(); ++i) {
      result[static_cast<std::size_t>(g)].push_back(static_cast<int>(i));
    }
  }
  return result;
}

int usual_groups(int members) {
  return static_cast<int>(std::lround(std::sqrt(static_cast<double>(members))));
}

// One group a host, unless there is just one host or every member has its own.
std::vector<Members> groups_by_host(Group& group) {
  std::map<int, Members> by_host;
  for (int i = 0; i < group.size(); ++i) {
    by_host[group.transport().host_of(group.rank(i))].push_back(i);
  }
  const int hosts = static_cast<int>(by_host.size());
  if (hosts == 1 || hosts == group.size()) {
    return consecutive_groups(group.size(), usual_groups(group.size()));
  }
  std::vector<Members> result;
  for (auto& [host, members] : by_host) result.push_back(std::move(members));
  std::sort(result.begin(), result.end());  // by first member: the same on every rank
  return result;
}

class Hierarchical : public AllReduce {
 public:
  explicit Hierarchical(int groups) : AllReduce("all-reduce hierarchical"), groups_(groups) {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    const auto groups = groups_ == 0 ? groups_by_host(group)
                                     : consecutive_groups(group.size(), checked(group.size()));
    Members masters;
    const Members* mine = nullptr;
    for (const auto& members : groups) {
      masters.push_back(members.front());
      if (std::find(members.begin(), members.end(), group.index()) != members.end())
        mine = &members;
    }
    Group& inside = group.part(*mine);
    SharedSpace* const space = inside.size() > 1 ? inside.shared() : nullptr;

    if (space != nullptr) {
      group.step("reduce in the group", 0, 1);
      shared_tree_reduce(*space, data, reduction.undivided());
    } else {
      tree_reduce(inside, data, reduction.undivided(), 0, "reduce in the group");
    }
    if (inside.index() == 0) {
      Group& between = group.part(masters);
      ring_share_reduce(between, data, reduction);
      ring_share_only(between, data);
    }
    if (space != nullptr) {
      group.step("broadcast in the group", 0, 1);
      shared_broadcast(*space, data);
    } else {
      tree_broadcast(inside, data, 0, "broadcast in the group");
    }
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    const int count = groups_ == 0 ? usual_groups(ranks) : checked(ranks);
    const auto groups = consecutive_groups(ranks, count);
    tally.steps(2 * tree_levels(static_cast<int>(groups.front().size())) + 2 * (count - 1));
    for (int g = 0; g < count; ++g) {
      const Members& members = groups[static_cast<std::size_t>(g)];
      const int size = static_cast<int>(members.size());
      for (int i = 0; i < size; ++i) {
        const int member = members[static_cast<std::size_t>(i)];
        if (i != 0) tally.send(member, n);
        tally.send(member, n * binomial_children(i, size).size());
      }
      tally.send(members.front(),
                 ring_share_reduce_sends(g, count, n) + ring_share_only_sends(g, count, n));
    }
  }

 private:
  int checked(int members) const {
    if (groups_ > members) {
      throw ConfigError(
          "all-reduce algorithm \"hierarchical\": {} groups asked for, but there are only {} ranks",
          groups_, members);
    }
    return groups_;
  }

  int groups_;
};

OptionSet options() {
  OptionSet set;
  set.integer("groups", 0, "number of groups; 0 makes one a host, or about the root of the ranks")
      .at_least(0)
      .at_most(1 << 20);
  return set;
}

const Registration<AllReduce> kHierarchical{
    "hierarchical", "Groups reduce to their masters, the masters form a ring, and hand it down.",
    options(), [](const Options& values) {
      return std::make_unique<Hierarchical>(static_cast<int>(values.integer("groups")));
    }};

}  // namespace
}  // namespace lockstep
