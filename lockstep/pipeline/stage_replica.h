// A model that lies on several ranks, seen from one of them: a replica whose passes run this rank's
// list of operations (schedule.h). Activations go to the next rank, their gradients come back, and
// with them what the last rank found: loss and hits.
//
//   micro-batch ─→ in ─ forward ─→ out ─→ next rank
//   previous rank ←─ gradient of in ─ backward ←─ gradient of out
//
// Messages are asked for as soon as there is room for them and sent without waiting, so they travel
// while other micro-batches are computed. Where a stage keeps what backward needs is a slot; there
// are as many as the schedule has micro-batches under way here. Recomputing (Chen et al.,
// arXiv:1604.06174) keeps only what came in and repeats forward before backward.
#pragma once

#include <map>

#include "lockstep/base/timeline.h"
#include "lockstep/model/replica.h"
#include "lockstep/model/stage.h"
#include "lockstep/pipeline/schedule.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class StageReplica : public Replica {
 public:
  struct Setup {
    Transport& transport;
    int stage = 0, stages = 1;
    int previous = -1, next = -1;  // ranks that hold the neighbouring stages
    int microbatches = 1;          // at most; a batch of fewer samples has fewer
    bool recompute = false;
    TimelineTrack* timeline = nullptr;
  };

  StageReplica(std::unique_ptr<Stage> stage, std::unique_ptr<PipelineSchedule> schedule,
               const Setup& setup);

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override;
  PassResult evaluate(const Batch& batch) override;

  std::span<float> params() override { return stage_->params(); }
  std::span<float> grads() override { return stage_->grads(); }
  std::span<float> buffers() override { return stage_->buffers(); }
  std::span<const Layer> layers() const override { return stage_->layers(); }
  SharedParameters shared_params() override { return stage_->shared_params(); }
  void use_params(SharedParameters params) override { stage_->use_params(std::move(params)); }
  void apply_update() override { stage_->apply_update(); }
  void state(StateVisitor& visitor) override { stage_->state(visitor); }
  double modelled_seconds() const override { return stage_->modelled_seconds(); }
  std::span<const double> backward_seconds() const override { return stage_->backward_seconds(); }
  bool keeps_time() const override { return true; }
  const PassTimes* pass_times() const override { return &times_; }
  void save(const std::string& path) override;
  std::vector<std::string> remarks() const override { return stage_->remarks(); }

 private:
  struct Sums {  // over the labels of micro-batches
    double loss = 0, labels = 0, correct = 0;
    static Sums of(const PassResult& result);
    void add(const Sums& other);
    void check() const;
    PassResult mean() const;
  };
  struct Slot {
    Batch micro;
    Sums sums;
    AlignedVector<float> in, out, in_gradient, out_gradient;  // gradients with the sums behind them
    Request in_arrives, out_leaves, in_gradient_leaves, out_gradient_arrives;
  };

  bool first() const { return setup_.previous < 0; }
  bool last() const { return setup_.next < 0; }
  const std::vector<PipelineOp>& operations(int microbatches);
  std::size_t samples_of(int microbatch) const;
  Slot& slot_of(int microbatch) { return slots_[std::size_t(microbatch) % slots_.size()]; }
  MicroBatch micro_of(int microbatch);

  void begin(const Batch& batch);
  void expect_in(int microbatch);
  void take(int microbatch);
  void hand_on(int microbatch);
  void expect_gradient(int microbatch);
  void take_gradient(int microbatch);
  void forward(int microbatch);
  void backward(int microbatch, const LayerReady& on_layer);
  void compute_again(int microbatch);
  void differentiate(int microbatch, const LayerReady& on_layer);
  void hand_back(int microbatch);
  void collect_sums();
  PassResult pass_without_samples(const LayerReady& on_layer);
  void await(Request& request);
  void arrive(Request& request, std::span<const float> whole);
  void count(double began, Activity activity, int microbatch, double PassTimes::*seconds);

  std::unique_ptr<Stage> stage_;
  std::unique_ptr<PipelineSchedule> schedule_;
  Setup setup_;
  Transport& transport_;
  std::map<int, std::vector<PipelineOp>> operations_;  // by the number of micro-batches
  std::vector<Slot> slots_;
  PassTimes times_;

  // Of the pass under way.
  bool training_ = false;
  const Batch* batch_ = nullptr;
  int microbatches_ = 0;
  float scale_ = 1;
  int in_stage_ = -1;  // recomputing: the micro-batch that the stage can take back
  Sums sums_;
  AlignedVector<float> kept_buffers_, unused_out_;  // while recomputing
  std::vector<std::size_t> order_;  // in which layers were finished, where a clock is simulated
};

}  // namespace lockstep
