// Communication beside backward on a simulated 10 Gbit/s cluster, with the layers of ResNet-50 on
// hosts as fast as a graphics card: what overlap hides.
#include "lockstep/train/ledgers.h"
#include "sim_helpers.h"
#include "tests/quadratic_model.h"
#include "tests/training.h"

namespace lockstep {
namespace {

struct Pace {
  double step = 0;    // seconds
  double hidden = 0;  // share of all communication
};

Pace pace_of(const std::string& overlap, const std::string& gflops) {
  Config config;
  config.set({"model.name=fake", "model.profile=resnet50", "model.gflops=" + gflops,
              "train.local_batch=16", "train.steps=2", "data.validation=0", "cluster.merge=1",
              "cluster.workers=4", "optim.momentum=0", "aggregate.algorithm=ring",
              "overlap.name=" + overlap});
  const Job job(config, {numbered_samples(256), nullptr}, 0);
  Pace pace;
  run_on("hosts = 4\nbandwidth = \"10Gbit/s\"\nlatency = \"20us\"\n", 4, [&](Transport& transport) {
    Learner learner(transport, job);
    learner.start();
    BatchSource source(job, transport.rank());
    Batch batch;
    double began = 0;
    for (std::int64_t step = 0; step < 2; ++step) {
      if (step == 1) began = transport.now();  // without what is measured before the first
      source.fill({true, step}, step, batch);
      learner.learn(step, step, batch, false);
    }
    const double seconds = transport.now() - began;
    const WorkerLedger ledger = learner.ledger();
    if (transport.rank() != 0) return;
    pace = {seconds,
            ledger.hidden / (ledger.hidden + ledger.waiting + ledger.communicating + 1e-12)};
  });
  return pace;
}

TEST(SimOverlap, MgWfbpHidesMostAndIsNeverMuchSlowerThanTheBest) {
  for (const char* gflops : {"1000", "4000"}) {  // slow and fast against the network
    const Pace none = pace_of("none", gflops), wfbp = pace_of("wfbp", gflops),
               fusion = pace_of("fusion", gflops), merged = pace_of("mg-wfbp", gflops);
    EXPECT_EQ(none.hidden, 0);
    EXPECT_LT(wfbp.step, none.step);
    EXPECT_LE(merged.step, 1.03 * std::min({none.step, wfbp.step, fusion.step})) << gflops;
    if (std::string(gflops) == "1000") {
      EXPECT_GE(merged.hidden, 0.8);
    }
  }
}

}  // namespace
}  // namespace lockstep
