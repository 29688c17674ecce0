#include "lockstep/transport/mpi_control.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "lockstep/base/error.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

constexpr int kNewsTag = 1;
constexpr double kAnswerWithin = 0.3;   // seconds for other hosts to say what they do
constexpr double kDeliverWithin = 0.5;  // seconds for the bad news to leave

enum class Kind : int { kAsk, kAnswer, kFailure };

struct Head {
  Kind kind = Kind::kAsk;
  int from = 0;
  int exit_code = 0;
  double now = 0;  // on the sender's clock
};
struct Entry {
  int rank = 0;
  int lane = 0;
  StatusLine::Snapshot status;
};
static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<Entry>);

void append(std::vector<std::byte>& bytes, const void* data, std::size_t count) {
  const std::size_t before = bytes.size();
  bytes.resize(before + count);
  std::memcpy(bytes.data() + before, data, count);
}

std::vector<std::byte> letter(const Head& head) {
  std::vector<std::byte> bytes;
  append(bytes, &head, sizeof head);
  return bytes;
}

}  // namespace

// One under way. Its memory must last as long as MPI may read it, if need be for ever.
struct MpiControl::Letter {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

MpiControl::MpiControl(MpiSession& session, MPI_Comm comm, StatusBoard& board)
    : session_(session), comm_(comm), board_(board) {}

MpiControl::~MpiControl() {
  if (progress()) return;
  for (auto& kept : letters_) static_cast<void>(kept.release());
}

bool MpiControl::progress() {
  const std::lock_guard guard(mutex_);
  std::erase_if(letters_, [](const auto& gone) {
    int done = 0;
    return MPI_Test(&gone->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  });
  return letters_.empty();
}

void MpiControl::send(int process, const std::vector<std::byte>& bytes) {
  auto sent = std::make_unique<Letter>();
  sent->bytes = bytes;
  if (MPI_Isend(sent->bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, process, kNewsTag,
                comm_, &sent->request) != MPI_SUCCESS) {
    return;  // that host is lost already; the others must still hear
  }
  const std::lock_guard guard(mutex_);
  letters_.push_back(std::move(sent));
}

// To every process, as some may be computing and not look for long.
void MpiControl::send_to_other_hosts(const std::vector<std::byte>& bytes) {
  for (int p = 0; p < session_.processes(); ++p) {
    if (session_.host_of(p) != session_.host()) send(p, bytes);
  }
}

void MpiControl::look() {
  if (session_.hosts() == 1) return;
  progress();
  for (;;) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, kNewsTag, comm_, &there, &message, &status) != MPI_SUCCESS ||
        there == 0) {
      return;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    auto letter = std::make_unique<Letter>();
    letter->bytes.resize(static_cast<std::size_t>(count));
    MPI_Imrecv(letter->bytes.data(), count, MPI_BYTE, &message, &letter->request);
    // The sender may end while its message is on the way: then the rest never comes.
    const double began = wall_seconds();
    int done = 0;
    while (MPI_Test(&letter->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
      if (wall_seconds() - began > kAnswerWithin) {
        static_cast<void>(letter.release());
        return;
      }
      sched_yield();
    }
    read(letter->bytes);
  }
}

void MpiControl::read(const std::vector<std::byte>& bytes) {
  Head head;
  if (bytes.size() < sizeof head) return;  // not from a program like this one
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.from < 0 || head.from >= session_.processes()) return;
  const std::byte* rest = bytes.data() + sizeof head;
  const std::size_t count = bytes.size() - sizeof head;
  if (head.kind == Kind::kAsk) {
    answer(head.from);
  } else if (head.kind == Kind::kFailure) {
    session_.page().head().told.store(1);
    session_.page().note_exit_code(head.exit_code);
    board_.fail(std::string(reinterpret_cast<const char*>(rest), count));
  } else {
    const double shift = wall_seconds() - head.now;
    for (std::size_t i = 0; i < count / sizeof(Entry); ++i) {
      Entry entry;
      std::memcpy(&entry, rest + i * sizeof entry, sizeof entry);
      if (entry.rank < 0 || entry.rank >= board_.ranks() || entry.lane < 0) return;
      board_.line(entry.rank, entry.lane).overwrite(entry.status.received(shift));
    }
  }
}

void MpiControl::answer(int asker) {
  if (session_.page().process(asker).answered.exchange(1) != 0) return;  // a neighbour did
  auto bytes = letter({Kind::kAnswer, session_.process(), 0, wall_seconds()});
  for (int rank = 0; rank < board_.ranks(); ++rank) {
    if (session_.host_of(rank) != session_.host()) continue;
    for (int lane = 0; lane < kLanes; ++lane) {
      const Entry entry{rank, lane, board_.line(rank, lane).read()};
      if (entry.status.used) append(bytes, &entry, sizeof entry);
    }
  }
  send(asker, bytes);
}

void MpiControl::ask() {
  if (session_.hosts() == 1 || board_.failed()) return;
  const bool first = session_.page().head().asking.exchange(1) == 0;
  if (first) send_to_other_hosts(letter({Kind::kAsk, session_.process(), 0, wall_seconds()}));
  // A neighbour who comes later leaves it to the first, and looks on meanwhile.
  const auto heard_of_all = [&] {
    for (int rank = 0; rank < board_.ranks(); ++rank) {
      if (!board_.line(rank).read().used) return false;
    }
    return first;
  };
  const double began = wall_seconds();
  while (wall_seconds() - began < kAnswerWithin && !board_.failed() && !heard_of_all()) {
    look();
    sched_yield();
  }
}

void MpiControl::tell() {
  if (session_.hosts() == 1 || session_.page().head().told.exchange(1) != 0) return;
  auto bytes = letter({Kind::kFailure, session_.process(), session_.page().head().exit_code.load(),
                       wall_seconds()});
  const std::string reason = board_.reason();
  append(bytes, reason.data(), reason.size());
  send_to_other_hosts(bytes);
  const double began = wall_seconds();
  while (!progress() && wall_seconds() - began < kDeliverWithin) sched_yield();
}

}  // namespace lockstep
