#include "lockstep/train/exchange.h"

#include <cstdint>
#include <cstring>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {
namespace {

std::uint64_t broadcast_size(Group& group, std::uint64_t size, int root) {
  // Two floats carry the bits of one size; a broadcast only copies.
  float words[2];
  static_assert(sizeof words == sizeof size);
  std::memcpy(words, &size, sizeof size);
  broadcast(group, words, root);
  std::memcpy(&size, words, sizeof size);
  return size;
}

template <typename Content>
void broadcast_content(Group& group, Content& content, int root) {
  if (group.size() == 1) return;
  const std::uint64_t size = broadcast_size(group, content.size(), root);
  if (size == 0) {
    content.clear();
    return;
  }
  AlignedVector<float> words((size + sizeof(float) - 1) / sizeof(float));
  if (group.index() == root) std::memcpy(words.data(), content.data(), size);
  broadcast(group, words, root);
  content.resize(size);
  std::memcpy(content.data(), words.data(), size);
}

}  // namespace

std::vector<std::string> gather_texts(Group& group, const std::string& mine, int root) {
  const Operation operation(group.transport(), "gather of texts");
  group.step("to the root", 0, 1);
  const std::uint64_t size = mine.size();
  if (group.index() != root) {
    group.send_bytes(root, std::as_bytes(std::span(&size, 1))).wait();
    group.send_bytes(root, std::as_bytes(std::span(mine))).wait();
    return {};
  }
  std::vector<std::string> texts;
  for (int member = 0; member < group.size(); ++member) {
    if (member == root) {
      texts.push_back(mine);
      continue;
    }
    std::uint64_t theirs = 0;
    group.receive_bytes(member, std::as_writable_bytes(std::span(&theirs, 1)));
    texts.emplace_back(theirs, '\0');
    group.receive_bytes(member, std::as_writable_bytes(std::span(texts.back())));
  }
  return texts;
}

void broadcast_text(Group& group, std::string& text, int root) {
  broadcast_content(group, text, root);
}

void broadcast_bytes(Group& group, std::vector<std::byte>& bytes, int root) {
  broadcast_content(group, bytes, root);
}

bool any_member(Group& group, bool mine) {
  const Operation operation(group.transport(), "agreement");
  std::byte word{mine};
  tree_merge(group, {&word, 1}, [](std::span<std::byte> ours, std::span<const std::byte> theirs) {
    ours[0] |= theirs[0];
  });
  return word != std::byte{0};
}

}  // namespace lockstep
