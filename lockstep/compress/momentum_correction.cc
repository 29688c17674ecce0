#include "lockstep/compress/momentum_correction.h"

#include "lockstep/base/aligned.h"
#include "lockstep/compress/error_feedback.h"

namespace lockstep {
namespace {

class MomentumCorrection : public OnRuns {
 public:
  MomentumCorrection(double momentum, bool masking, std::unique_ptr<Compressor> inner)
      : momentum_(static_cast<float>(momentum)), masking_(masking), inner_(std::move(inner)) {}

  void prepare(std::span<const Layer> layers) override {
    OnRuns::prepare(layers);
    inner_.prepare(layers);
    velocity_.assign(end(), 0.0f);
  }
  void encode(std::span<const float> values, const Moment& moment, Bytes& out) override {
    for (const Range& run : runs()) {
      for (std::size_t i = run.begin; i < run.end(); ++i) {
        velocity_[i] = momentum_ * velocity_[i] + values[i];
      }
    }
    const std::size_t begin = out.size();
    inner_.encode(velocity_, moment, out);
    if (masking_) inner_.clear_sent(out.view().subspan(begin), velocity_);
  }
  void add(BytesView message, float scale, std::span<float> sum) const override {
    inner_.add(message, scale, sum);
  }
  void release(std::span<float> sum) override { inner_.release(sum); }
  std::span<const float> residual() const override { return inner_.residual(); }

  bool biased() const override { return false; }  // its errors are fed back already
  double expected_bytes(const Moment& moment) const override {
    return inner_.expected_bytes(moment);
  }
  Speed speed() const override { return inner_.speed(); }
  void state(StateVisitor& visitor) override {
    visitor.floats("velocity", velocity_);
    inner_.state(visitor);
  }

 private:
  float momentum_;
  bool masking_;
  ErrorFeedback inner_;
  AlignedVector<float> velocity_;
};

}  // namespace

void add_momentum_correction(OptionSet& options) {
  options
      .real("momentum", 0,
            "of the momentum correction (Deep Gradient Compression); the optimizer's must be 0")
      .at_least(0)
      .at_most(0.9999);
  options.flag("masking", true, "values that were sent lose their corrected momentum");
}

std::unique_ptr<Compressor> with_momentum_correction(const Options& options,
                                                     std::unique_ptr<Compressor> inner) {
  return std::make_unique<MomentumCorrection>(options.real("momentum"), options.flag("masking"),
                                              std::move(inner));
}

}  // namespace lockstep
