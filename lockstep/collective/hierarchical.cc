// Hierarchical (Jia et al. 2018): members form groups; each group reduces to its master, the
// masters form a ring, and each master hands the result to its group. Fits machines with a fast
// inside and a slow network between: only masters use the network. Inside a group shared memory is
// used where there is any, else a binomial tree; the bits are the same.
#include <algorithm>
#include <cmath>

#include <boost/container/small_vector.hpp>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/ring.h"
#include "lockstep/collective/shared_memory.h"
#include "lockstep/collective/tree.h"

namespace lockstep {
namespace {

using Members = boost::container::small_vector<int, 64>;

// What a member must know of the groups.
struct Arrangement {
  Members mine;     // the members of its own group; the first is the master
  Members masters;  // of all groups

  std::span<const int> own_group() const { return {mine.data(), mine.size()}; }
  std::span<const int> all_masters() const { return {masters.data(), masters.size()}; }
};

// Consecutive members, sizes differing by at most one.
void arrange_consecutively(Group& group, int groups, Arrangement& arrangement) {
  const auto me = static_cast<std::size_t>(group.index());
  for (int g = 0; g < groups; ++g) {
    const Range range = chunk(static_cast<std::size_t>(group.size()), groups, g);
    arrangement.masters.push_back(static_cast<int>(range.begin));
    if (me < range.begin || me >= range.end()) continue;
    for (std::size_t i = range.begin; i < range.end(); ++i) {
      arrangement.mine.push_back(static_cast<int>(i));
    }
  }
}

int usual_groups(int members) {
  return static_cast<int>(std::lround(std::sqrt(static_cast<double>(members))));
}

// One group a host, unless there is just one host or every member has its own. In the order of the
// masters, which is the same on every rank.
void arrange_by_host(Group& group, Arrangement& arrangement) {
  const auto host_of = [&](int member) { return group.transport().host_of(group.rank(member)); };
  for (int i = 0; i < group.size(); ++i) {
    if (host_of(i) == host_of(group.index())) arrangement.mine.push_back(i);
    const bool known = std::ranges::any_of(
        arrangement.masters, [&](int master) { return host_of(master) == host_of(i); });
    if (!known) arrangement.masters.push_back(i);
  }
  const std::size_t hosts = arrangement.masters.size();
  if (hosts > 1 && hosts < group.ranks().size()) return;
  arrangement.mine.clear();
  arrangement.masters.clear();
  arrange_consecutively(group, usual_groups(group.size()), arrangement);
}

class Hierarchical : public AllReduce {
 public:
  explicit Hierarchical(int groups) : AllReduce("all-reduce hierarchical"), groups_(groups) {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    Arrangement arrangement;
    if (groups_ == 0) {
      arrange_by_host(group, arrangement);
    } else {
      arrange_consecutively(group, checked(group.size()), arrangement);
    }
    Group& inside = group.part(arrangement.own_group());
    SharedSpace* const space = inside.size() > 1 ? inside.shared() : nullptr;

    if (space != nullptr) {
      group.step("reduce in the group", 0, 1);
      shared_tree_reduce(*space, data, reduction.undivided());
    } else {
      tree_reduce(inside, data, reduction.undivided(), 0, "reduce in the group");
    }
    if (inside.index() == 0) {
      Group& between = group.part(arrangement.all_masters());
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
    const auto all = static_cast<std::size_t>(ranks);
    tally.steps(2 * tree_levels(static_cast<int>(chunk(all, count, 0).size)) + 2 * (count - 1));
    for (int g = 0; g < count; ++g) {
      const Range members = chunk(all, count, g);
      const int master = static_cast<int>(members.begin), size = static_cast<int>(members.size);
      for (int i = 0; i < size; ++i) {
        if (i != 0) tally.send(master + i, n);
        tally.send(master + i, n * binomial_children(i, size).size());
      }
      tally.send(master, ring_share_reduce_sends(g, count, n) + ring_share_only_sends(g, count, n));
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
