#include "lockstep/collective/shared_memory.h"

#include <algorithm>

#include <boost/container/small_vector.hpp>

#include "lockstep/collective/chunks.h"

namespace lockstep {
namespace {

constexpr std::size_t kGrain = 16;    // floats in a cache line: slices share none
constexpr std::size_t kBlock = 2048;  // floats reduced at once: a few of these fit the L1 cache

// What a meeting is for; members that come for different reasons are told.
enum Kind : std::uint64_t { kAllReduce = 1, kTreeReduce, kBroadcast, kDone };

template <typename Visit>
void for_blocks(Range range, std::size_t block, Visit visit) {
  for (std::size_t at = range.begin; at < range.end(); at += block) {
    visit(Range{at, std::min(block, range.end() - at)});
  }
}

void copy(std::span<const float> from, float* to) {
  std::copy(from.begin(), from.end(), to);
}

using Buffers = boost::container::small_vector<std::span<float>, 16>;  // one a member
using BufferView = std::span<const std::span<float>>;
BufferView view(const Buffers& buffers) {
  return {buffers.data(), buffers.size()};
}

// The buffers all members brought.
Buffers buffers_met(const SharedSpace& space, std::size_t n) {
  Buffers buffers;
  for (int i = 0; i < space.size(); ++i) {
    buffers.emplace_back(static_cast<float*>(space.card(i).data), n);
  }
  return buffers;
}

// Lends the data.
SharedSpace::Card lend(std::span<float> data, Kind kind, ReduceOp op = ReduceOp::kSum) {
  return {data.data(), data.size_bytes(), kind << 8 | static_cast<std::uint64_t>(op)};
}
// Lends nothing; says only what this is about.
SharedSpace::Card note(std::span<float> data, Kind kind, ReduceOp op = ReduceOp::kSum) {
  return {nullptr, data.size_bytes(), kind << 8 | static_cast<std::uint64_t>(op)};
}

// Into member 0's block, in the order of the members.
void combine_in_order(BufferView sources, Range block, ReduceOp op) {
  for (std::size_t i = 1; i < sources.size(); ++i) {
    combine(op, slice(sources[0], block), slice(sources[i], block));
  }
}

// Into member 0's block, up the binomial tree.
void combine_in_tree(BufferView sources, Range block, ReduceOp op) {
  for (std::size_t d = 1; d < sources.size(); d *= 2) {
    for (std::size_t i = 0; i + d < sources.size(); i += 2 * d) {
      combine(op, slice(sources[i], block), slice(sources[i + d], block));
    }
  }
}

// Half of every member's window: while one half is still read, the other is written.
Buffers half_windows(const SharedSpace& space, std::size_t half, std::size_t floats) {
  Buffers windows;
  for (int i = 0; i < space.size(); ++i) {
    auto* const begin = reinterpret_cast<float*>(space.window(i).data());
    windows.emplace_back(begin + half * floats, floats);
  }
  return windows;
}

// Calls visit(segment of data, windows, own slice of the segment) for each segment in turn.
template <typename Visit>
void for_segments(SharedSpace& space, std::span<float> data, Visit visit) {
  const std::size_t window = space.window(0).size() / sizeof(float);
  const std::size_t room = window / 2 / kGrain * kGrain;
  for_blocks({0, data.size()}, room, [&](Range range) {
    const Buffers windows = half_windows(space, space.next_half(), room);
    visit(slice(data, range), view(windows),
          grained_chunk(range.size, kGrain, space.size(), space.index()));
  });
}

// Own slices never pass through the window on the way in, and other members' slices never on the
// way out: member 0's window collects the results.
void staged_all_reduce(SharedSpace& space, std::span<float> data, const Reduction& reduction) {
  const auto me = static_cast<std::size_t>(space.index());
  for_segments(space, data, [&](std::span<float> part, BufferView windows, Range own) {
    const auto outside_own = [&](auto visit) {
      visit(Range{0, own.begin});
      visit(Range{own.end(), part.size() - own.end()});
    };
    outside_own([&](Range range) { copy(slice(part, range), windows[me].data() + range.begin); });
    space.meet(note(data, kAllReduce, reduction.op));
    Buffers sources(windows.begin(), windows.end());
    sources[me] = part;
    for_blocks(own, kBlock, [&](Range block) {
      combine_in_order(view(sources), block, reduction.op);
      const auto result = slice(sources[0], block);
      finish(reduction, result);
      copy(result, (me == 0 ? windows[0] : part).data() + block.begin);
    });
    space.meet(note(data, kDone));
    outside_own([&](Range range) { copy(slice(windows[0], range), part.data() + range.begin); });
  });
}

}  // namespace

void shared_all_reduce(SharedSpace& space, std::span<float> data, const Reduction& reduction) {
  if (!space.direct()) return staged_all_reduce(space, data, reduction);
  space.meet(lend(data, kAllReduce, reduction.op));
  const auto buffers = buffers_met(space, data.size());
  const Range own = grained_chunk(data.size(), kGrain, space.size(), space.index());
  for_blocks(own, kBlock, [&](Range block) {
    combine_in_order(view(buffers), block, reduction.op);
    const auto result = slice(buffers[0], block);
    finish(reduction, result);
    for (std::size_t i = 1; i < buffers.size(); ++i) copy(result, buffers[i].data() + block.begin);
  });
  space.meet(note(data, kDone));
}

void shared_tree_reduce(SharedSpace& space, std::span<float> data, const Reduction& reduction) {
  const auto reduce_slice = [&](BufferView sources, Range own) {
    for_blocks(own, kBlock, [&](Range block) {
      combine_in_tree(sources, block, reduction.op);
      finish(reduction, slice(sources[0], block));
    });
  };
  if (space.direct()) {
    space.meet(lend(data, kTreeReduce, reduction.op));
    reduce_slice(view(buffers_met(space, data.size())),
                 grained_chunk(data.size(), kGrain, space.size(), space.index()));
    space.meet(note(data, kDone));
    return;
  }
  const auto me = static_cast<std::size_t>(space.index());
  for_segments(space, data, [&](std::span<float> part, BufferView windows, Range own) {
    copy(part, windows[me].data());
    space.meet(note(data, kTreeReduce, reduction.op));
    reduce_slice(windows, own);
    space.meet(note(data, kDone));
    if (me == 0) copy(windows[0].first(part.size()), part.data());
  });
}

void shared_broadcast(SharedSpace& space, std::span<float> data) {
  const bool root = space.index() == 0;
  if (space.direct()) {
    space.meet(lend(data, kBroadcast));
    if (!root) copy({static_cast<const float*>(space.card(0).data), data.size()}, data.data());
    space.meet(note(data, kDone));
    return;
  }
  for_segments(space, data, [&](std::span<float> part, BufferView windows, Range) {
    if (root) copy(part, windows[0].data());
    space.meet(note(data, kBroadcast));
    if (!root) copy(windows[0].first(part.size()), part.data());
  });
}

}  // namespace lockstep
