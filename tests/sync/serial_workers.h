// The workers of a job on the noisy quadratic, one after the other in one thread: what a strategy's
// formula is written out on.
#pragma once

#include <memory>
#include <vector>

#include "tests/sync/strategy_runs.h"

namespace lockstep {

class SerialWorkers {
 public:
  explicit SerialWorkers(const Job& job) : job_(job) {
    for (int worker = 0; worker < job.placement().workers; ++worker) {
      replicas_.push_back(std::make_unique<QuadraticReplica>());
      optimizers_.push_back(job.make_optimizer());
      optimizers_.back()->prepare(replicas_.back()->layers());
      sources_.emplace_back(job, worker);
    }
  }

  std::size_t size() const { return replicas_.size(); }
  std::span<float> params(std::size_t worker) { return replicas_[worker]->params(); }
  Optimizer& optimizer(std::size_t worker) { return *optimizers_[worker]; }

  // A step of every worker, without the others.
  void learn(std::int64_t step) {
    Batch batch;
    const auto samples = static_cast<double>(job_.samples_in(step));
    for (std::size_t i = 0; i < size(); ++i) {
      sources_[i].fill(step, batch);
      const double own = static_cast<double>(batch.size()) * static_cast<double>(size());
      Replica& replica = *replicas_[i];
      replica.forward_backward(batch, static_cast<float>(own / samples));
      optimizers_[i]->update(step, job_.rates(step), replica.params(), replica.grads(), 0,
                             replica.layers().size());
    }
  }

  // Element by element: what `of` makes of the workers' values.
  template <typename Of>
  Weights each(const Of& of) {
    Weights values;
    for (std::size_t i = 0; i < QuadraticReplica::kSize; ++i) {
      values.push_back(static_cast<float>(of(i)));
    }
    return values;
  }
  double sum(std::size_t element) {
    double sum = 0;
    for (std::size_t worker = 0; worker < size(); ++worker) sum += params(worker)[element];
    return sum;
  }

 private:
  const Job& job_;
  std::vector<std::unique_ptr<QuadraticReplica>> replicas_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;
  std::vector<BatchSource> sources_;
};

inline Weights first_weights() {
  QuadraticReplica replica;
  return {replica.params().begin(), replica.params().end()};
}

// What every worker holds after the last step, before finish(). Empty: it is in another process.
inline std::vector<Weights> own_weights(World& world, const Job& job) {
  std::vector<Weights> all(static_cast<std::size_t>(job.placement().workers));
  train_all(world, job, [&](int rank, Learner& learner) {
    const auto params = learner.replica().params();
    all[static_cast<std::size_t>(rank)].assign(params.begin(), params.end());
  });
  return all;
}

// Do workers learn as if there were no others?
inline void expect_alone(World& world, const Job& job) {
  SerialWorkers alone(job);
  for (std::int64_t step = 0; step < job.plan().steps(); ++step) alone.learn(step);
  const auto own = own_weights(world, job);
  for (std::size_t worker = 0; worker < own.size(); ++worker) {
    if (own[worker].empty()) continue;
    const auto params = alone.params(worker);
    EXPECT_EQ(own[worker], Weights(params.begin(), params.end())) << worker;
  }
}

// Do workers hold what the formula has left in `reference`?
inline void expect_near_all(World& world, const Job& job, SerialWorkers& reference) {
  const auto own = own_weights(world, job);
  for (std::size_t worker = 0; worker < own.size(); ++worker) {
    if (own[worker].empty()) continue;
    const auto params = reference.params(worker);
    expect_near(own[worker], Weights(params.begin(), params.end()), 1e-4);
  }
}

}  // namespace lockstep
