#include "lockstep/overlap/lane.h"

#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kStop = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Lane::Lane(Transport& transport, Tag tag, std::size_t most, Setup setup)
    : transport_(transport),
      order_tag_(tag),
      done_tag_(tag + 1),
      orders_(most + 1),  // kStop too
      exceptions_(std::uncaught_exceptions()) {
  companion_ = transport.spawn(
      [this, setup = std::move(setup)](Transport& beside) { serve(beside, setup); });
}

Lane::~Lane() {
  // While an exception passes through the rank, its companion's end is the transport's matter.
  if (std::uncaught_exceptions() > exceptions_) return;
  try {
    while (!idle()) wait();
    give(kStop);
    companion_->join();
    for (Order& order : orders_) transport_.wait(order.request);
  } catch (...) {  // the run has failed, and says so at its end
  }
}

void Lane::give(std::uint32_t job) {
  LOCKSTEP_CHECK(given_ - done_ < orders_.size(), "{} jobs under way", given_ - done_);
  Order& order = orders_[given_++ % orders_.size()];
  transport_.wait(order.request);  // long over: that job is done
  order.job = job;
  order.request =
      transport_.isend(transport_.rank(), order_tag_, std::as_bytes(std::span(&order.job, 1)));
}

void Lane::wait() {
  LOCKSTEP_CHECK(!idle(), "nothing to wait for");
  Request done = transport_.irecv(transport_.rank(), done_tag_, {});
  transport_.wait(done);
  ++done_;
}

void Lane::serve(Transport& beside, const Setup& setup) {
  const Work work = setup(beside);
  std::vector<Request> done(orders_.size());
  for (std::size_t at = 0;; ++at) {
    std::uint32_t job = 0;
    Request order =
        beside.irecv(beside.rank(), order_tag_, std::as_writable_bytes(std::span(&job, 1)));
    beside.wait(order);
    if (job == kStop) break;
    work(job);
    Request& report = done[at % done.size()];
    beside.wait(report);  // long over: the rank has waited for that job
    report = beside.isend(beside.rank(), done_tag_, {});
  }
  for (Request& report : done) beside.wait(report);
}

}  // namespace lockstep
