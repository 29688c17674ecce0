// A shard's rule without a world: messages in, answers out.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/sync/strategy.h"
#include "tests/optim/component.h"

namespace lockstep {

struct Reply {
  int worker = 0;
  ServerHeader header;
  std::vector<float> values;
};

// Hands every answer to a function.
class AnswerTo : public Answer {
 public:
  using Take = std::function<void(int worker, const ServerHeader&, std::span<const float>)>;
  explicit AnswerTo(Take take) : take_(std::move(take)) {}
  void operator()(int worker, ServerHeader header, std::span<const float> values) const override {
    take_(worker, header, values);
  }
  void to_all(const std::vector<int>& workers, const ServerHeader& header,
              std::span<const float> values) const override {
    for (const int worker : workers) take_(worker, header, values);
  }

 private:
  Take take_;
};

class RuleUnderTest {
 public:
  explicit RuleUnderTest(std::unique_ptr<ShardRule> rule) : rule_(std::move(rule)) {}

  // What the rule answers to this message, in the order of the answers.
  std::vector<Reply> send(const ServerHeader& header, const std::vector<float>& values = {}) {
    std::vector<Reply> replies;
    rule_->handle(
        header, values,
        AnswerTo([&](int worker, const ServerHeader& answer, std::span<const float> brought) {
          replies.push_back({worker, answer, {brought.begin(), brought.end()}});
        }));
    return replies;
  }
  void state(StateVisitor& visitor) { rule_->state(visitor); }

 private:
  std::unique_ptr<ShardRule> rule_;
};

// The rule of a strategy for a shard with these parameters, with plain SGD.
inline RuleUnderTest make_rule(const std::string& strategy, const Settings& settings, int workers,
                               const std::vector<float>& params) {
  ShardSetup setup{.shard = 0,
                   .workers = workers,
                   .params = params,
                   .layers = {{"all", 0, params.size(), {std::int64_t(params.size())}}},
                   .optimizer = make_component<Optimizer>("sgd", {{"momentum", "0"}})};
  setup.optimizer->prepare(setup.layers);
  return RuleUnderTest(
      make_component<SyncStrategy>(strategy, settings)->shard_rule(std::move(setup)));
}

}  // namespace lockstep
