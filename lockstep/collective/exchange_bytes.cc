// Everybody to everybody, each pair a message of its own: its size, and right behind it the bytes.
#include <boost/container/small_vector.hpp>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {

void exchange_bytes(Group& group, std::span<const std::span<const std::byte>> to, std::size_t most,
                    ByteBlocks& from) {
  const int m = group.size(), me = group.index();
  LOCKSTEP_CHECK(static_cast<int>(to.size()) == m, "messages for {} of {}", to.size(), m);
  const Operation operation(group.transport(), "exchange of bytes");
  boost::container::small_vector<std::uint64_t, 16> sizes;
  for (const auto& bytes : to) sizes.push_back(bytes.size());
  group.step("everybody to everybody", 0, 1);
  Outgoing sending;
  // Starting behind oneself spreads the first messages over all members.
  for (int k = 1; k < m; ++k) {
    const auto i = static_cast<std::size_t>((me + k) % m);
    sending.join(group.send_bytes(static_cast<int>(i), std::as_bytes(std::span(&sizes[i], 1))));
    sending.join(group.send_bytes(static_cast<int>(i), to[i]));
  }
  from.resize(static_cast<std::size_t>(m));
  for (int k = 1; k < m; ++k) {
    const int i = (me - k + m) % m;
    std::uint64_t size = 0;
    group.receive_bytes(i, std::as_writable_bytes(std::span(&size, 1)));
    if (size > most) throw CommError("rank {} announced {} bytes", group.rank(i), size);
    auto& bytes = from[static_cast<std::size_t>(i)];
    if (size > bytes.capacity()) bytes.reserve(size + size / 4);  // the next may be a little longer
    bytes.resize(size);
    group.receive_bytes(i, bytes);
  }
  sending.wait();
}

}  // namespace lockstep
