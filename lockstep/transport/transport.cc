#include "lockstep/transport/transport.h"

#include <algorithm>
#include <array>
#include <exception>

#include "lockstep/base/aligned.h"
#include "lockstep/base/error.h"

namespace lockstep {

// Two buffers: while one piece is shown, the next one is already on its way.
void Transport::read(int from, Tag tag, std::size_t bytes, std::size_t piece, const Visit& visit) {
  LOCKSTEP_CHECK(piece > 0, "pieces of no bytes");
  const std::size_t largest = std::min(bytes, piece);
  std::array<AlignedVector<std::byte>, 2> buffers;
  std::array<Request, 2> requests;
  const auto post = [&](std::size_t offset) {
    const std::size_t slot = offset / piece % 2;
    if (buffers[slot].empty()) buffers[slot].resize(largest);
    const auto room = std::span(buffers[slot]).first(std::min(piece, bytes - offset));
    requests[slot] = irecv(from, tag, room);
  };
  if (bytes > 0) post(0);
  for (std::size_t offset = 0; offset < bytes; offset += piece) {
    if (offset + piece < bytes) post(offset + piece);
    const std::size_t slot = offset / piece % 2;
    const std::size_t expected = std::min(piece, bytes - offset);
    wait(requests[slot]);
    if (requests[slot].bytes() != expected) {
      throw CommError(
          "rank {} expected {} bytes from rank {} and got {}: the ranks are not in the "
          "same operation, or disagree about its size",
          rank(), expected, requests[slot].peer(), requests[slot].bytes());
    }
    visit(offset, std::span(buffers[slot]).first(expected));
  }
}

Operation::Operation(Transport& transport, const char* name)
    : transport_(transport), exceptions_(std::uncaught_exceptions()) {
  transport_.begin_operation(name);
}

Operation::~Operation() {
  if (std::uncaught_exceptions() == exceptions_) transport_.end_operation();
}

}  // namespace lockstep
