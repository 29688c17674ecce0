#include "lockstep/base/error.h"
#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

struct Case {
  const char *momentum, *dampening, *nesterov;
  double mu, damp;
  bool look_ahead;
};

TEST(Sgd, FollowsItsFormula) {
  const Case cases[] = {{"0", "0", "false", 0, 0, false},
                        {"0.9", "0", "false", 0.9, 0, false},
                        {"0.9", "0.3", "false", 0.9, 0.3, false},
                        {"0.8", "0", "true", 0.8, 0, true}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << "momentum " << c.momentum << " dampening " << c.dampening
                                    << " nesterov " << c.nesterov);
    auto sgd = make_optimizer(
        "sgd", {{"momentum", c.momentum}, {"dampening", c.dampening}, {"nesterov", c.nesterov}});
    std::map<std::size_t, double> v;
    expect_follows(
        *sgd,
        [&](const ReferenceLayer& r) {
          for (std::size_t i = 0; i < r.w.size(); ++i) {
            const double d = r.g[i] + r.rates.weight_decay * r.w[i];
            double& velocity = v[r.layer.offset + i];
            velocity = r.t == 1 ? d : c.mu * velocity + (1 - c.damp) * d;
            r.w[i] -= r.rates.lr * (c.look_ahead ? d + c.mu * velocity : velocity);
          }
        },
        0.1, 0.01);
  }
}

TEST(Sgd, KeepsNoMemoryWithoutMomentum) {
  const auto layers = test_layers();
  for (const char* momentum : {"0", "0.5"}) {
    auto sgd = make_optimizer("sgd", {{"momentum", momentum}});
    sgd->prepare(layers);
    MemoryState state;
    sgd->state(state);
    EXPECT_EQ(state.all_floats().size(), std::string(momentum) == "0" ? 0u : 1u);
  }
}

TEST(Sgd, RefusesNesterovWithoutMomentum) {
  EXPECT_THROW(make_optimizer("sgd", {{"momentum", "0"}, {"nesterov", "true"}}), ConfigError);
  EXPECT_THROW(make_optimizer("sgd", {{"dampening", "0.1"}, {"nesterov", "true"}}), ConfigError);
}

}  // namespace
}  // namespace lockstep
