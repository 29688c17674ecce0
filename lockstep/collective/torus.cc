// Torus (Mikami et al. 2018): members stand in a grid of Y rows of X. Share-reduce along the row
// leaves each with 1/X of the vector; an all-reduce of that part along the column finishes it;
// share-only along the row hands it out. As little data as the ring in 2(X−1)+2(Y−1) steps.
// A prime number of members makes no grid: then it is a ring.
#include <boost/container/small_vector.hpp>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/grid.h"
#include "lockstep/collective/ring.h"

namespace lockstep {
namespace {

class Torus : public AllReduce {
 public:
  Torus() : AllReduce("all-reduce torus") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    const int x = row_length(group.size()), y = group.size() / x;
    if (x == 1) {
      ring_share_reduce(group, data, reduction);
      ring_share_only(group, data);
      return;
    }
    boost::container::small_vector<int, 64> row, column;
    for (int i = 0; i < x; ++i) row.push_back(group.index() / x * x + i);
    for (int j = 0; j < y; ++j) column.push_back(group.index() % x + j * x);
    Group& along_row = group.part({row.data(), row.size()});
    Group& along_column = group.part({column.data(), column.size()});

    ring_share_reduce(along_row, data, reduction.undivided(), 0, "row share-reduce");
    const auto own = slice(data, chunk(data.size(), x, ring_chunk_of(along_row.index(), x)));
    ring_share_reduce(along_column, own, reduction, 0, "column share-reduce");
    ring_share_only(along_column, own, "column share-only");
    ring_share_only(along_row, data, "row share-only");
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    const int x = row_length(ranks), y = ranks / x;
    tally.steps(2 * (x - 1) + 2 * (y - 1));
    for (int p = 0; p < ranks; ++p) {
      const auto ring = [&](int member, int size, std::size_t floats) {
        tally.send(p, ring_share_reduce_sends(member, size, floats) +
                          ring_share_only_sends(member, size, floats));
      };
      if (x > 1) ring(p % x, x, n);
      ring(p / x, y, chunk(n, x, ring_chunk_of(p % x, x)).size);
    }
  }
};

const Registration<AllReduce> kTorus{
    "torus",
    "A grid: share-reduce along rows, all-reduce along columns, share-only along rows.",
    {},
    [](const Options&) { return std::make_unique<Torus>(); }};

}  // namespace
}  // namespace lockstep
