// Averages among workers with compressed messages ([compress]). Changes are compressed as they are.
// Of models only the difference from what all members of the group knew last is: parameters
// themselves cannot be shortened without harm. Everything else goes as it is.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "lockstep/sync/agreed_models.h"
#include "lockstep/sync/compressed_mean.h"

namespace lockstep {

class CompressedAveraging : public WholeAveraging {
 public:
  // `model`: the parameters that all ranks start from; `ranks`: all of them.
  CompressedAveraging(const CompressionPlan& plan, const AllReduce& all_reduce,
                      std::span<const Layer> layers, std::span<const float> model,
                      std::vector<int> ranks, std::uint64_t seed, int rank);

  AverageCost cost(Group& group, std::size_t n) const override { return plain_.cost(group, n); }
  void know(Group& group, std::span<const float> model) override {
    agreed_.agree(group.ranks(), model);
  }
  void begin_step(double epoch) override { epoch_ = epoch; }
  void state(StateVisitor& visitor) override;
  std::string findings() const override;

 protected:
  AverageCost run(Group& group, std::span<float> values, Content content) override;

 private:
  using Ranks = AgreedModels::Ranks;

  CompressedMean& mean_of(const Ranks& members, Content content);
  AverageCost average_model(Group& group, std::span<float> values, Content content);

  const CompressionPlan& plan_;
  const AllReduce& all_reduce_;
  AllReduceAveraging plain_;
  std::vector<Layer> layers_;
  std::uint64_t seed_;
  int rank_, workers_;
  double epoch_ = 0;
  struct InOrder {  // without a copy of the ranks that are looked for
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      return std::tie(a.first, a.second) < std::tie(b.first, b.second);
    }
  };
  std::map<std::pair<Content, Ranks>, CompressedMean, InOrder> means_;
  AgreedModels agreed_;
};

}  // namespace lockstep
