#include "lockstep/transport/threads_transport.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

constexpr std::size_t kCopiedBytes = 8192;   // up to here a copy costs less than waiting
constexpr std::size_t kFirstEnvelopes = 16;  // of a transport, from its begin
constexpr std::size_t kKeptEnvelopes = 32;   // and at most

std::shared_ptr<Envelope> new_envelope() {
  auto envelope = std::make_shared<Envelope>();
  envelope->copy.reserve(kCopiedBytes);
  envelope->state = Envelope::kDone;  // with nothing: it may be used
  return envelope;
}

std::shared_ptr<void> zeroed(std::size_t bytes) {
  void* memory = ::operator new(bytes, std::align_val_t(128));
  std::memset(memory, 0, bytes);
  return {memory, [](void* m) { ::operator delete(m, std::align_val_t(128)); }};
}

class ThreadCompanion : public Companion {
 public:
  ThreadCompanion(ThreadsRun& run, int rank, int lane, std::function<void(Transport&)> body)
      : run_(run), rank_(rank), exceptions_(std::uncaught_exceptions()) {
    // Some counts are the process's: a companion must not set another one than its rank has.
    const int threads = applied_thread_budget();
    // At work from here on, whenever its thread may come to it.
    run.board.line(rank, lane).start(wall_seconds());
    thread_ = std::thread([&run, rank, lane, threads, body = std::move(body)] {
      if (threads > 0) apply_thread_budget(threads);
      try {
        ThreadsTransport transport(run, rank, lane);
        body(transport);
        run.board.line(rank, lane).finish();
      } catch (...) {
        run.record(rank, lane, std::current_exception());
      }
    });
  }
  ~ThreadCompanion() override {
    // When the rank itself is failing, the companion must not wait for it for ever.
    if (std::uncaught_exceptions() > exceptions_) {
      run_.board.fail(fmt::format("rank {} failed while its companion was at work", rank_));
    }
    if (thread_.joinable()) thread_.join();
  }
  void join() override {
    if (thread_.joinable()) thread_.join();
    if (run_.board.failed()) throw CommError("{}", run_.board.reason());
  }

 private:
  ThreadsRun& run_;
  int rank_;
  int exceptions_;
  std::thread thread_;
};

}  // namespace

ThreadsRun::ThreadsRun(int ranks, Patience how)
    : patience(how),
      board_memory(zeroed(StatusBoard::bytes(ranks))),
      board(board_memory.get(), ranks),
      boxes(static_cast<std::size_t>(ranks)),
      lanes(static_cast<std::size_t>(ranks)) {}

std::shared_ptr<void> ThreadsRun::space_memory(const std::vector<int>& ranks, int lane,
                                               int ordinal) {
  const std::lock_guard lock(mutex);
  auto& memory = spaces[{ranks, lane, ordinal}];
  if (!memory) memory = zeroed(SharedSpace::table_bytes(static_cast<int>(ranks.size())));
  return memory;
}

void ThreadsRun::record(int rank, int lane, std::exception_ptr error) {
  std::string what = "unknown error";
  try {
    std::rethrow_exception(error);
  } catch (const CommError& e) {
    what = e.what();
    if (what == board.reason()) return;  // an echo: this rank gave up because another had failed
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  board.line(rank, lane).die(what.c_str());
  const std::string reason =
      fmt::format("rank {} failed: {}{}", rank, what, board.report(wall_seconds()));
  {
    const std::lock_guard lock(mutex);
    if (!first_error) {
      first_error = error;
      first_reason = reason;
    }
  }
  board.fail(reason);
}

int ThreadsRun::exit_code() {
  const std::lock_guard lock(mutex);
  try {
    if (first_error) std::rethrow_exception(first_error);
  } catch (const Error& e) {
    return e.exit_code();
  } catch (...) {
  }
  return CommError::kExitCode;
}

struct ThreadsTransport::Sending : Transfer {
  Sending(Mailbox& box, int to, std::shared_ptr<Envelope> message)
      : Transfer(to, message->tag, message->data.size()), envelope(std::move(message)), box_(box) {}
  ~Sending() override {
    if (!complete) box_.withdraw(envelope);
  }
  std::shared_ptr<Envelope> envelope;

 private:
  Mailbox& box_;
};

struct ThreadsTransport::Receiving : Transfer {
  Receiving(Mailbox& box, int from, Tag under, std::span<std::byte> room)
      : Transfer(from, under, room.size()), buffer(room), box_(box) {
    receive.from = from;
    receive.tag = under;
    box_.post(receive);
  }
  ~Receiving() override {
    if (!complete) box_.withdraw(receive);
  }
  std::span<std::byte> buffer;
  Waiting receive;

 private:
  Mailbox& box_;
};

ThreadsTransport::ThreadsTransport(ThreadsRun& run, int rank, int lane)
    : run_(run), rank_(rank), lane_(lane), waiter_(run.board, rank, lane, run.patience) {
  envelopes_.reserve(kKeptEnvelopes);
  for (std::size_t i = 0; i < kFirstEnvelopes; ++i) envelopes_.push_back(new_envelope());
}

std::shared_ptr<Envelope> ThreadsTransport::unused_envelope() {
  for (const auto& envelope : envelopes_) {
    // Done or taken back: the receiver touches it no more, but for giving back its share.
    if (envelope.use_count() == 1 &&
        envelope->state.load(std::memory_order_acquire) >= Envelope::kDone) {
      envelope->state.store(Envelope::kOpen, std::memory_order_relaxed);
      return envelope;
    }
  }
  auto envelope = new_envelope();
  envelope->state = Envelope::kOpen;
  if (envelopes_.size() < kKeptEnvelopes) envelopes_.push_back(envelope);
  return envelope;
}

Request ThreadsTransport::isend(int to, Tag tag, std::span<const std::byte> data) {
  LOCKSTEP_CHECK(to >= 0 && to < size() && tag < kTagLimit && data.size() <= kMessageLimit,
                 "send of {} bytes to rank {} under tag {}", data.size(), to, tag);
  auto envelope = unused_envelope();
  envelope->from = rank_;
  envelope->tag = tag;
  envelope->data = data;
  envelope->sender_bell = &run_.boxes[static_cast<std::size_t>(rank_)].bell;
  const bool copied = data.size() <= kCopiedBytes;
  if (copied) {
    envelope->copy.assign(data.begin(), data.end());
    envelope->data = envelope->copy;
  }
  Mailbox& box = run_.boxes[static_cast<std::size_t>(to)];
  auto sending = std::make_unique<Sending>(box, to, envelope);
  box.deliver(std::move(envelope));
  sending->complete = copied;
  return Request(std::move(sending));
}

Request ThreadsTransport::irecv(int from, Tag tag, std::span<std::byte> buffer) {
  LOCKSTEP_CHECK(from >= kAnyRank && from < size() && tag < kTagLimit,
                 "receive from rank {} under tag {}", from, tag);
  return Request(
      std::make_unique<Receiving>(run_.boxes[static_cast<std::size_t>(rank_)], from, tag, buffer));
}

void ThreadsTransport::await_match(Waiting& receive, const char* what) {
  waiter_.until([&] { return receive.matched.load(std::memory_order_acquire); },
                [&] { return receive.from; }, what,
                &run_.boxes[static_cast<std::size_t>(rank_)].bell);
}

void ThreadsTransport::open(const Waiting& receive, std::size_t room) {
  Envelope& envelope = *receive.envelope;
  Envelope::State expected = Envelope::kOpen;
  if (!envelope.state.compare_exchange_strong(expected, Envelope::kReading)) {
    waiter_.fail(fmt::format("rank {} took back the message that rank {} was about to read",
                             envelope.from, rank_));
  }
  if (envelope.data.size() > room) {
    const std::size_t bytes = envelope.data.size();
    release(envelope);
    waiter_.fail(
        fmt::format("rank {} sent {} bytes to rank {}, which expected at most {}: the ranks "
                    "are not in the same operation, or disagree about its size",
                    envelope.from, bytes, rank_, room));
  }
}

void ThreadsTransport::wait(Request& request) {
  if (!request.active()) return;
  Transfer* const transfer = request.transfer();
  if (auto* sending = dynamic_cast<Sending*>(transfer)) {
    const auto& state = sending->envelope->state;
    waiter_.until([&] { return state.load(std::memory_order_acquire) == Envelope::kDone; },
                  [&] { return sending->peer; }, "send",
                  &run_.boxes[static_cast<std::size_t>(rank_)].bell);
    sending->complete = true;
    return;
  }
  auto* receiving = dynamic_cast<Receiving*>(transfer);
  LOCKSTEP_CHECK(receiving != nullptr, "a request of another transport");
  await_match(receiving->receive, "receive");
  open(receiving->receive, receiving->buffer.size());
  Envelope& envelope = *receiving->receive.envelope;
  if (!envelope.data.empty()) {
    std::memcpy(receiving->buffer.data(), envelope.data.data(), envelope.data.size());
  }
  receiving->peer = envelope.from;
  receiving->bytes = envelope.data.size();
  receiving->complete = true;
  release(envelope);
}

bool ThreadsTransport::test(Request& request) {
  if (!request.active()) return true;
  waiter_.check();
  bool ready = false;
  const char* what = "receive";
  if (auto* sending = dynamic_cast<Sending*>(request.transfer())) {
    ready = sending->envelope->state.load(std::memory_order_acquire) == Envelope::kDone;
    what = "send";
  } else if (auto* receiving = dynamic_cast<Receiving*>(request.transfer())) {
    ready = receiving->receive.matched.load(std::memory_order_acquire);
  }
  if (ready) {
    wait(request);
  } else {
    waiter_.asked_in_vain(*request.transfer(), what);
  }
  return ready;
}

void ThreadsTransport::read(int from, Tag tag, std::size_t bytes, std::size_t piece,
                            const Visit& visit) {
  LOCKSTEP_CHECK(piece > 0, "pieces of no bytes");
  for (std::size_t offset = 0; offset < bytes; offset += piece) {
    const std::size_t expected = std::min(piece, bytes - offset);
    Receiving receiving(run_.boxes[static_cast<std::size_t>(rank_)], from, tag, {});
    await_match(receiving.receive, "receive");
    open(receiving.receive, expected);
    Envelope& envelope = *receiving.receive.envelope;
    if (envelope.data.size() != expected) {
      const std::size_t got = envelope.data.size();
      release(envelope);
      waiter_.fail(
          fmt::format("rank {} expected {} bytes from rank {} and got {}: the ranks are not "
                      "in the same operation, or disagree about its size",
                      rank_, expected, envelope.from, got));
    }
    visit(offset, envelope.data);
    receiving.complete = true;
    release(envelope);
  }
}

Task ThreadsTransport::spawn(std::function<void(Transport&)> body) {
  const int lane = ++run_.lanes[static_cast<std::size_t>(rank_)];
  return std::make_unique<ThreadCompanion>(run_, rank_, lane, std::move(body));
}

std::shared_ptr<SharedSpace> ThreadsTransport::shared_space(std::span<const int> ranks) {
  std::vector<int> members(ranks.begin(), ranks.end());
  const auto me = std::find(members.begin(), members.end(), rank_);
  LOCKSTEP_CHECK(me != members.end(), "rank {} is not among those that share", rank_);
  const int index = static_cast<int>(me - members.begin());
  auto memory = run_.space_memory(members, lane_, spaces_asked_[members]++);
  void* const table = memory.get();
  return std::make_shared<SharedSpace>(table, std::move(members), index, waiter_,
                                       std::move(memory));
}

}  // namespace lockstep
