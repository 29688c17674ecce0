#include "lockstep/transport/mpi_transport.h"

#include <sched.h>

#include <exception>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_companion.h"

namespace lockstep {
namespace {

constexpr std::size_t kPieceBytes = 256 << 10;
constexpr double kWithdrawWithin = 1;        // seconds for a matched message to come in
constexpr unsigned kTestsBetweenLooks = 64;  // unsuccessful tests between two looks at the rest

}  // namespace

class MpiTransport::Message : public Transfer {
 public:
  Message(MpiRun& run, int with, Tag under, std::size_t count, bool sending)
      : Transfer(with, under, count), sends(sending), run_(run) {}
  ~Message() override;

  MPI_Request request = MPI_REQUEST_NULL;
  const bool sends;

 private:
  MpiRun& run_;
};

// A receive can be cancelled unless its message is already coming in: then it is let in. MPI cannot
// take back a send: so it is waited for, unless the run is failing and nobody will want it.
MpiTransport::Message::~Message() {
  if (complete || request == MPI_REQUEST_NULL) return;
  if (!sends) MPI_Cancel(&request);
  const double limit = sends ? run_.patience().timeout : kWithdrawWithin;
  const double began = wall_seconds();
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (sends && (run_.board().failed() || std::uncaught_exceptions() > 0)) break;
    if (wall_seconds() - began > limit) break;
    sched_yield();
  }
  if (done == 0 && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

MpiTransport::MpiTransport(MpiRun& run, int lane)
    : run_(run), lane_(lane), waiter_(run.board(), run.rank(), lane, run.patience()) {
  waiter_.on_nap = [this] { run_.look(waiter_.line(), lane_); };
  // MPI moves messages only while somebody calls it, and a rank that waits at a meeting may have
  // some under way that another rank waits for.
  waiter_.progress = [this] {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run_.comm(), &there, MPI_STATUS_IGNORE);
  };
}

std::size_t MpiTransport::piece_bytes() const {
  return kPieceBytes;
}

Request MpiTransport::isend(int to, Tag tag, std::span<const std::byte> data) {
  return send_on(run_.comm(), to, tag, data);
}
Request MpiTransport::irecv(int from, Tag tag, std::span<std::byte> buffer) {
  return receive_on(run_.comm(), from, tag, buffer);
}

Request MpiTransport::send_on(MPI_Comm comm, int to, Tag tag, std::span<const std::byte> data) {
  LOCKSTEP_CHECK(to >= 0 && to < size(), "send to rank {} of {}", to, size());
  LOCKSTEP_CHECK(tag < kTagLimit, "tag {}", tag);
  LOCKSTEP_CHECK(data.size() <= kMessageLimit, "message of {} bytes", data.size());
  auto message = std::make_unique<Message>(run_, to, tag, data.size(), true);
  mpi_check(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, to,
                      static_cast<int>(tag), comm, &message->request),
            "MPI_Isend");
  return Request(std::move(message));
}

Request MpiTransport::receive_on(MPI_Comm comm, int from, Tag tag, std::span<std::byte> buffer) {
  LOCKSTEP_CHECK(from == kAnyRank || (from >= 0 && from < size()), "receive from rank {} of {}",
                 from, size());
  LOCKSTEP_CHECK(tag < kTagLimit, "tag {}", tag);
  LOCKSTEP_CHECK(buffer.size() <= kMessageLimit, "message of {} bytes", buffer.size());
  auto message = std::make_unique<Message>(run_, from, tag, buffer.size(), false);
  mpi_check(MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE,
                      from == kAnyRank ? MPI_ANY_SOURCE : from, static_cast<int>(tag), comm,
                      &message->request),
            "MPI_Irecv");
  return Request(std::move(message));
}

bool MpiTransport::arrived(Message& message) {
  if (message.complete) return true;  // MPI forgets who it was after telling once
  int done = 0;
  MPI_Status status;
  const int code = MPI_Test(&message.request, &done, &status);
  if (code == MPI_SUCCESS && done == 0) return false;
  message.complete = true;
  int count = 0;
  if (!message.sends) MPI_Get_count(&status, MPI_BYTE, &count);
  if (code != MPI_SUCCESS) {
    int kind = 0;
    MPI_Error_class(code, &kind);
    if (kind != MPI_ERR_TRUNCATE) mpi_check(code, "MPI_Test");
    waiter_.fail(fmt::format(
        "rank {} got {} bytes from rank {} but has room for {}: the ranks are not in the same "
        "operation, or disagree about its size",
        rank(), count, status.MPI_SOURCE, message.bytes));
  }
  if (!message.sends) {
    message.peer = status.MPI_SOURCE;
    message.bytes = static_cast<std::size_t>(count);
  }
  return true;
}

void MpiTransport::wait(Request& request) {
  if (!request.active()) return;
  auto& message = static_cast<Message&>(*request.transfer());
  waiter_.until([&] { return arrived(message); }, [&] { return message.peer; },
                message.sends ? "send" : "receive", nullptr);
}

bool MpiTransport::test(Request& request) {
  if (!request.active()) return true;
  auto& message = static_cast<Message&>(*request.transfer());
  if (arrived(message)) return true;
  waiter_.check();
  if (++tests_ % kTestsBetweenLooks != 0) return false;
  waiter_.on_nap();
  waiter_.asked_in_vain(message, message.sends ? "send" : "receive");
  return false;
}

Task MpiTransport::spawn(std::function<void(Transport&)> body) {
  return std::make_unique<MpiCompanion>(run_, std::move(body));
}

}  // namespace lockstep
