// Shared memory for some ranks of a host. The first of them makes a window and offers it to the
// others; they open it and say whether they could; the first tells everybody the result. All of
// this is ordinary messages, so a rank that does not come is waited for no longer than elsewhere.
//
//   the window:  | table | staging of ranks[0] | staging of ranks[1] | …   each on a page of its
//   own
#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_transport.h"

namespace lockstep {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStagingBytes = std::size_t{1} << 20;
constexpr Tag kFirstTag = 16;  // on the control communicator; three for each lane

std::size_t table_room(int ranks) {
  return (SharedSpace::table_bytes(ranks) + kPage - 1) / kPage * kPage;
}

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

std::shared_ptr<SharedSpace> MpiTransport::shared_space(std::span<const int> ranks) {
  const auto mine = std::find(ranks.begin(), ranks.end(), rank());
  LOCKSTEP_CHECK(mine != ranks.end(), "rank {} asks for a space it is not part of", rank());
  for (const int other : ranks) {
    if (host_of(other) != host_of(rank())) return nullptr;
  }
  const int count = static_cast<int>(ranks.size());
  const int first = ranks.front();
  const Tag offer_tag = kFirstTag + 3 * static_cast<Tag>(lane_);
  const Tag opened_tag = offer_tag + 1, result_tag = offer_tag + 2;
  const auto send = [&](int to, Tag tag, auto& value) {
    Request request = send_on(run_.control(), to, tag, bytes_of(value));
    wait(request);
  };
  const auto receive = [&](int from, Tag tag, auto& value) {
    Request request = receive_on(run_.control(), from, tag, bytes_of(value));
    wait(request);
  };

  struct Offer {
    MpiWindow::Address address;
    int ranks = 0;
  };
  std::shared_ptr<MpiWindow> window;
  int opened = 1;
  if (rank() == first) {
    window = MpiWindow::create(table_room(count) + static_cast<std::size_t>(count) * kStagingBytes);
    Offer offer{window->address(), count};
    for (const int other : ranks.subspan(1)) send(other, offer_tag, offer);
    for (const int other : ranks.subspan(1)) {
      int there = 0;
      receive(other, opened_tag, there);
      opened = std::min(opened, there);
    }
    for (const int other : ranks.subspan(1)) send(other, result_tag, opened);
  } else {
    Offer offer;
    receive(first, offer_tag, offer);
    if (offer.ranks != count) {
      waiter_.fail(fmt::format("rank {} wants shared memory with {} ranks and rank {} with {}",
                               rank(), count, first, offer.ranks));
    }
    window = MpiWindow::open(offer.address);
    int there = window ? 1 : 0;
    send(first, opened_tag, there);
    receive(first, result_tag, opened);
  }
  if (opened == 0) return nullptr;
  window->seal();

  std::vector<std::span<std::byte>> staging;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    staging.emplace_back(window->data() + table_room(count) + i * kStagingBytes, kStagingBytes);
  }
  void* const table = window->data();
  return std::make_shared<SharedSpace>(table, std::vector(ranks.begin(), ranks.end()),
                                       static_cast<int>(mine - ranks.begin()), waiter_,
                                       std::move(window), std::move(staging));
}

}  // namespace lockstep
