#include "lockstep/transport/sub_transport.h"

#include <vector>

#include "lockstep/base/error.h"

namespace lockstep {

SubTransport::SubTransport(Transport& whole, int first, int size)
    : ForwardingTransport(whole), first_(first), size_(size) {
  LOCKSTEP_CHECK(first >= 0 && first + size <= whole.size() && rank() >= 0 && rank() < size,
                 "rank {} is not among {} ranks from {} on", whole.rank(), size, first);
}

// What completes at once is never waited for.
Request SubTransport::isend(int to, Tag tag, std::span<const std::byte> data) {
  LOCKSTEP_CHECK(to >= 0 && to < size_, "send to rank {} of {}", to, size_);
  Request request = inner_.isend(to + first_, tag, data);
  if (!request.active()) renumber(request);
  return request;
}

Request SubTransport::irecv(int from, Tag tag, std::span<std::byte> buffer) {
  LOCKSTEP_CHECK(from >= kAnyRank && from < size_, "receive from rank {} of {}", from, size_);
  Request request = inner_.irecv(from == kAnyRank ? kAnyRank : from + first_, tag, buffer);
  if (!request.active()) renumber(request);
  return request;
}

void SubTransport::wait(Request& request) {
  if (!request.active()) return;
  inner_.wait(request);
  renumber(request);
}

bool SubTransport::test(Request& request) {
  if (!request.active()) return true;
  if (!inner_.test(request)) return false;
  renumber(request);
  return true;
}

void SubTransport::renumber(Request& request) const {
  if (request.transfer() != nullptr) request.transfer()->peer -= first_;
}

Task SubTransport::spawn(std::function<void(Transport&)> body) {
  return inner_.spawn([first = first_, size = size_, body = std::move(body)](Transport& beside) {
    SubTransport inner(beside, first, size);
    body(inner);
  });
}

std::shared_ptr<SharedSpace> SubTransport::shared_space(std::span<const int> ranks) {
  std::vector<int> members(ranks.begin(), ranks.end());
  for (int& rank : members) rank += first_;
  return inner_.shared_space(members);
}

}  // namespace lockstep
