// Rows of a batch that share statistics (a segment), cut into blocks that the kernels take one
// after the other or on several threads. Blocks have a fixed length and their sums are added up in
// their order, so results do not depend on the number of threads.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace lockstep {

class NormSegments {
 public:
  struct Segment {
    std::size_t first = 0, rows = 0;
  };
  struct Block {
    std::size_t segment = 0, first = 0, rows = 0;
  };

  NormSegments() = default;
  explicit NormSegments(std::span<const std::size_t> rows_of_segments) {
    std::size_t first = 0;
    for (const std::size_t rows : rows_of_segments) {
      for (std::size_t done = 0; done < rows; done += kBlockRows) {
        blocks_.push_back({segments_.size(), first + done, std::min(kBlockRows, rows - done)});
      }
      segments_.push_back({first, rows});
      first += rows;
    }
  }

  std::size_t size() const { return segments_.size(); }
  const Segment& operator[](std::size_t index) const { return segments_[index]; }

  template <typename Body>
  void for_each_block(const Body& body) const {
    at::parallel_for(0, static_cast<std::int64_t>(blocks_.size()), 1, [&](auto begin, auto end) {
      for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
        body(blocks_[b], b);
      }
    });
  }

  // body(block, out) fills `width` sums of a block; returns those of each segment, in order.
  template <typename Body>
  std::vector<double> sums(std::size_t width, const Body& body) const {
    std::vector<float> of_blocks(blocks_.size() * width);
    for_each_block(
        [&](const Block& block, std::size_t b) { body(block, of_blocks.data() + b * width); });
    std::vector<double> total(segments_.size() * width, 0);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      double* sums = total.data() + blocks_[b].segment * width;
      for (std::size_t i = 0; i < width; ++i) sums[i] += of_blocks[b * width + i];
    }
    return total;
  }

 private:
  static constexpr std::size_t kBlockRows = 256;
  std::vector<Segment> segments_;
  std::vector<Block> blocks_;
};

}  // namespace lockstep
