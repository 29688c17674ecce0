// All-gather: blocks go round the ring; in step s member p passes on the block that member p−s
// brought. The variable form sends the sizes round first.
#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

// block(i) is the place of member i's block; the own one is filled.
template <typename Block>
void pass_round(Group& group, const char* phase, Block block) {
  const int m = group.size(), p = group.index();
  for (int s = 0; s < m - 1; ++s) {
    group.step(phase, s, m - 1);
    Outgoing sending = group.send_bytes((p + 1) % m, block((p - s + m) % m));
    group.receive_bytes((p - 1 + m) % m, block((p - s - 1 + m) % m));
    sending.wait();
  }
}

}  // namespace

void all_gather(Group& group, std::span<const float> mine, std::span<float> all) {
  LOCKSTEP_CHECK(all.size() == mine.size() * static_cast<std::size_t>(group.size()),
                 "room for {} floats, not {} times {}", all.size(), group.size(), mine.size());
  const Operation operation(group.transport(), "all-gather");
  const auto place = [&](int i) {
    return all.subspan(static_cast<std::size_t>(i) * mine.size(), mine.size());
  };
  std::copy(mine.begin(), mine.end(), place(group.index()).begin());
  pass_round(group, "blocks", [&](int i) { return std::as_writable_bytes(place(i)); });
}

ByteBlocks all_gather_bytes(Group& group, std::span<const std::byte> mine) {
  const Operation operation(group.transport(), "all-gather of varied sizes");
  const auto m = static_cast<std::size_t>(group.size()),
             me = static_cast<std::size_t>(group.index());
  std::vector<std::uint64_t> sizes(m);
  sizes[me] = mine.size();
  pass_round(group, "sizes", [&](int i) {
    return std::as_writable_bytes(std::span(&sizes[static_cast<std::size_t>(i)], 1));
  });
  std::vector<AlignedVector<std::byte>> blocks(m);
  for (std::size_t i = 0; i < m; ++i) blocks[i].resize(sizes[i]);
  std::copy(mine.begin(), mine.end(), blocks[me].begin());
  pass_round(group, "blocks",
             [&](int i) { return std::span<std::byte>(blocks[static_cast<std::size_t>(i)]); });
  return blocks;
}

std::vector<AlignedVector<float>> all_gather_varied(Group& group, std::span<const float> mine) {
  std::vector<AlignedVector<float>> vectors;
  for (const auto& block : all_gather_bytes(group, std::as_bytes(mine))) {
    vectors.emplace_back(block.size() / sizeof(float));
    if (!block.empty()) std::memcpy(vectors.back().data(), block.data(), block.size());
  }
  return vectors;
}

std::vector<std::string> all_gather_texts(Group& group, const std::string& mine) {
  std::vector<std::string> texts;
  for (const auto& block : all_gather_bytes(group, std::as_bytes(std::span(mine)))) {
    texts.emplace_back(reinterpret_cast<const char*>(block.data()), block.size());
  }
  return texts;
}

}  // namespace lockstep
