#include "lockstep/data/prefetch.h"

#include <algorithm>
#include <array>
#include <exception>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::int64_t kSlots = 2;

enum class Order : std::uint8_t { kMore, kStop };

}  // namespace

// Every message that one side sends the other receives, also at an early end: nothing may lie in a
// mailbox when the tags are used again.
class Prefetcher::Shared {
 public:
  Shared(Transport& transport, Tag tag, std::int64_t first, std::int64_t end, Fill fill)
      : transport_(transport),
        order_tag_(tag),
        ready_tag_(tag + 1),
        first_(first),
        count_(end - first),
        fill_(std::move(fill)),
        ordered_(std::min(count_, kSlots)),
        exceptions_(std::uncaught_exceptions()) {
    companion_ = transport.spawn([this](Transport& beside) { serve(beside); });
  }

  ~Shared() {
    // While an exception passes through the rank, its companion's end is the transport's matter.
    if (std::uncaught_exceptions() > exceptions_) return;
    try {
      finish();
    } catch (...) {  // the run has failed, and says so at its end
    }
  }

  Batch& next() {
    LOCKSTEP_CHECK(taken_ < count_, "{} batches asked for, {} made", taken_ + 1, count_);
    if (taken_ > 0 && ordered_ < count_) {
      give(Order::kMore);
      ++ordered_;
    }
    const double began = transport_.now();
    take();
    waited_ += transport_.now() - began;
    Slot& slot = slots_[static_cast<std::size_t>((taken_ - 1) % kSlots)];
    if (slot.error) {
      const std::exception_ptr error = slot.error;
      finish();
      std::rethrow_exception(error);
    }
    return slot.batch;
  }

  double waited() const { return waited_; }

 private:
  struct Slot {
    Batch batch;
    std::exception_ptr error;
  };

  void give(Order order) {
    transport_.wait(order_request_);  // long over: the companion has worked on it since
    order_ = order;
    order_request_ =
        transport_.isend(transport_.rank(), order_tag_, std::as_bytes(std::span(&order_, 1)));
  }

  void take() {
    Request ready = transport_.irecv(transport_.rank(), ready_tag_, {});
    transport_.wait(ready);
    ++taken_;
  }

  void finish() {
    if (!companion_) return;
    if (ordered_ < count_) give(Order::kStop);
    while (taken_ < ordered_) take();
    transport_.wait(order_request_);
    companion_->join();
    companion_.reset();
    count_ = taken_;
  }

  void serve(Transport& beside) {
    std::array<Request, kSlots> ready;
    std::exception_ptr error;
    const std::int64_t count = count_;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i >= kSlots && receive_order(beside) == Order::kStop) break;
      const auto at = static_cast<std::size_t>(i % kSlots);
      beside.wait(ready[at]);
      if (!error) {
        try {
          fill_(first_ + i, slots_[at].batch);
        } catch (...) {
          error = std::current_exception();
        }
      }
      slots_[at].error = error;
      ready[at] = beside.isend(beside.rank(), ready_tag_, {});
    }
    for (Request& request : ready) beside.wait(request);
  }

  Order receive_order(Transport& beside) const {
    Order order{};
    Request request =
        beside.irecv(beside.rank(), order_tag_, std::as_writable_bytes(std::span(&order, 1)));
    beside.wait(request);
    return order;
  }

  Transport& transport_;
  const Tag order_tag_, ready_tag_;
  const std::int64_t first_;
  std::int64_t count_;
  const Fill fill_;
  std::int64_t ordered_;    // batches the companion makes without another order
  std::int64_t taken_ = 0;  // of those, how many next() has seen
  double waited_ = 0;
  int exceptions_;
  Order order_ = Order::kMore;
  Request order_request_;
  std::array<Slot, kSlots> slots_;
  Task companion_;  // last: it is joined before what it uses is gone
};

Prefetcher::Prefetcher(Transport& transport, Tag tag, std::int64_t first, std::int64_t end,
                       Fill fill) {
  LOCKSTEP_CHECK(first <= end, "batches {} to {}", first, end);
  shared_ = std::make_unique<Shared>(transport, tag, first, end, std::move(fill));
}

Prefetcher::~Prefetcher() = default;

Batch& Prefetcher::next() {
  return shared_->next();
}

double Prefetcher::waited() const {
  return shared_->waited();
}

}  // namespace lockstep
