// Binomial tree: latency-optimal, 2⌈log2 M⌉ steps, but whole vectors travel on every level.
#include "lockstep/collective/tree.h"

#include <bit>

namespace lockstep {
namespace {

// Nodes are members counted from the root.
int node_of(int member, int root, int count) {
  return (member - root + count) % count;
}
int member_of(int node, int root, int count) {
  return (node + root) % count;
}

template <typename Visit>
void for_pieces(Group& group, std::span<float> data, Visit visit) {
  for (std::size_t at = 0; at < data.size(); at += group.piece()) {
    visit(data.subspan(at, std::min(group.piece(), data.size() - at)));
  }
}

}  // namespace

int binomial_parent(int node) {
  return node == 0 ? -1 : node & (node - 1);
}

int binomial_level(int node) {
  return std::countr_zero(static_cast<unsigned>(node));
}

int tree_levels(int count) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)));
}

Children binomial_children(int node, int count) {
  Children children;
  for (int distance = 1; node + distance < count; distance *= 2) {
    if (node & distance) break;
    children.push_back(node + distance);
  }
  return children;
}

void tree_reduce(Group& group, std::span<float> data, const Reduction& reduction, int root,
                 const char* phase) {
  const int m = group.size(), levels = tree_levels(m), me = node_of(group.index(), root, m);
  const auto children = binomial_children(me, m);
  Outgoing sending;
  for_pieces(group, data, [&](std::span<float> piece) {
    // Level k: members at an odd multiple of 2^k send to the one 2^k before them.
    std::size_t next = 0;
    for (int level = 0; level < levels; ++level) {
      group.step(phase, level, levels);
      if (next < children.size() && binomial_level(children[next]) == level) {
        group.combine_from(member_of(children[next++], root, m), piece, reduction.op);
      } else if (me != 0 && binomial_level(me) == level) {
        sending.join(group.send(member_of(binomial_parent(me), root, m), piece));
      }
    }
    if (me == 0) finish(reduction, piece);
  });
  sending.wait();
}

void tree_broadcast(Group& group, std::span<float> data, int root, const char* phase) {
  const int m = group.size(), levels = tree_levels(m), me = node_of(group.index(), root, m);
  const auto children = binomial_children(me, m);
  Outgoing sending;
  for_pieces(group, data, [&](std::span<float> piece) {
    // The reverse: the farthest child, whose subtree is the largest, comes first.
    std::size_t next = children.size();
    for (int level = levels - 1; level >= 0; --level) {
      group.step(phase, levels - 1 - level, levels);
      if (me != 0 && binomial_level(me) == level) {
        group.receive(member_of(binomial_parent(me), root, m), piece);
      } else if (next > 0 && binomial_level(children[next - 1]) == level) {
        sending.join(group.send(member_of(children[--next], root, m), piece));
      }
    }
  });
  sending.wait();
}

void tree_merge(Group& group, std::span<std::byte> bytes, const Merge& merge) {
  const auto children = binomial_children(group.index(), group.size());
  const int parent = binomial_parent(group.index());
  std::vector<std::byte> theirs(bytes.size());
  group.step("up", 0, 1);
  for (const int child : children) {
    group.receive_bytes(child, theirs);
    merge(bytes, theirs);
  }
  if (parent >= 0) group.send_bytes(parent, bytes).wait();
  group.step("down", 0, 1);
  if (parent >= 0) group.receive_bytes(parent, bytes);
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    group.send_bytes(*child, bytes).wait();
  }
}

namespace {

class Tree : public AllReduce {
 public:
  Tree() : AllReduce("all-reduce tree") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    tree_reduce(group, data, reduction);
    tree_broadcast(group, data);
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(2 * tree_levels(ranks));
    for (int p = 0; p < ranks; ++p) {
      if (p != 0) tally.send(p, n);
      tally.send(p, n * binomial_children(p, ranks).size());
    }
  }
};

const Registration<AllReduce> kTree{
    "tree",
    "Vectors are reduced up a binomial tree and the result is broadcast down it.",
    {},
    [](const Options&) { return std::make_unique<Tree>(); }};

}  // namespace
}  // namespace lockstep
