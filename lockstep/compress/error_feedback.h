// Error feedback (Seide et al. 2014, Karimireddy et al. 2019): what a compressor leaves out is not
// lost but added to what it gets next,
//
//   send C(g + e),   e ← (g + e) − C(g + e)
//
// so that everything is sent in the end, if late. A decorator for any lossy compressor.
#pragma once

#include <memory>

#include "lockstep/base/aligned.h"
#include "lockstep/compress/on_runs.h"

namespace lockstep {

class ErrorFeedback : public OnRuns, public Summands {
 public:
  explicit ErrorFeedback(std::unique_ptr<Compressor> inner) : inner_(std::move(inner)) {}

  void prepare(std::span<const Layer> layers) override;
  void encode(std::span<const float> values, const Moment& moment, Bytes& out) override;
  void add(BytesView message, float scale, std::span<float> sum) const override {
    inner_->add(message, scale, sum);
  }
  void clear_sent(BytesView message, std::span<float> values) const override {
    inner_->clear_sent(message, values);
  }
  void release(std::span<float> sum) override;
  std::span<const float> residual() const override { return residual_; }

  bool biased() const override { return false; }
  bool lossless() const override { return inner_->lossless(); }
  bool whole_layers() const override { return inner_->whole_layers(); }
  double expected_bytes(const Moment& moment) const override {
    return inner_->expected_bytes(moment);
  }
  Speed speed() const override;
  Summands* summands() override { return inner_->summands() != nullptr ? this : nullptr; }
  void state(StateVisitor& visitor) override;

  int rounds() const override { return inner_->summands()->rounds(); }
  Number number() const override { return inner_->summands()->number(); }
  std::span<float> summands(int round, std::span<const float> values, std::span<float> mean,
                            const Moment& moment) override;
  void finish(std::span<float> mean, std::span<float> rest) override;

 private:
  void take(std::span<const float> values);

  std::unique_ptr<Compressor> inner_;
  AlignedVector<float> residual_;
};

}  // namespace lockstep
