// What the ledger costs a step: looks at the clock, a few dozen nanoseconds each. (How many, so
// that the law can be tested; bench/ledger_cost says what that is of a step.)
#include <gtest/gtest.h>

#include "lockstep/transport/forwarding.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

class CountingClock : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  double now() const override {
    ++looks_;
    return inner_.now();
  }
  std::int64_t looks() const { return looks_; }

 private:
  mutable std::int64_t looks_ = 0;
};

TEST(LedgerCost, IsADozenLooksAtTheClockAStep) {
  for (const int count : ranks_under_test({2})) {
    const Job job = quadratic_job({workers(count), "train.epochs=4"});
    const auto world = world_under_test();
    world->run(count, [&](Transport& inner) {
      CountingClock transport(inner);
      Learner learner(transport, job);
      learner.start();
      BatchSource source(job, transport.rank());
      const std::int64_t before = transport.looks();
      std::int64_t own = 0;
      const std::int64_t done = train_until(learner, source, 0, job.plan().steps(), own);
      EXPECT_LE(transport.looks() - before, 16 * done);
      learner.finish(done);
    });
  }
}

}  // namespace
}  // namespace lockstep
