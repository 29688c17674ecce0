// Networks in stages held to the same networks in one piece: cut anywhere, any number of
// micro-batches.
#include "lockstep/model/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batches.h"
#include "lockstep/base/error.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/model/user_module.h"

namespace lockstep {
namespace {

using Choices = std::vector<std::pair<std::string, std::string>>;

std::shared_ptr<ModelKind> kind_of(const std::string& model, const Choices& choices) {
  auto& registry = Registry<ModelKind>::instance();
  Options options = registry.options(model);
  for (const auto& [name, value] : choices) options.set(name, value);
  return registry.make(model, options);
}

ModelSettings settings_for(const DataShape& data) {
  ModelSettings settings;
  settings.data = data;
  return settings;
}

Batch part_of(const Batch& batch, Range samples) {
  Batch part;
  part.shape = batch.shape;
  part.step = batch.step;
  const auto cut = [&](const auto& from, std::size_t each, auto& to) {
    if (from.empty()) return;
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(samples.begin * each);
    to.assign(begin, begin + static_cast<std::ptrdiff_t>(samples.size * each));
  };
  cut(batch.ids, 1, part.ids);
  cut(batch.values, batch.shape.values(), part.values);
  cut(batch.tokens, batch.shape.values(), part.tokens);
  cut(batch.labels, batch.shape.labels_per_sample(), part.labels);
  return part;
}

// All stages of a model in one place, without a pipeline: all micro-batches forward, then all back.
class Stages {
 public:
  Stages(const ModelKind& kind, const ModelSettings& settings,
         const std::vector<std::size_t>& ends) {
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      stages_.push_back(kind.make_stage(settings, {begin, end - begin}));
      begin = end;
    }
  }

  PassResult pass(const Batch& batch, int microbatches) {
    const auto labels = static_cast<double>(batch.labels.size());
    std::vector<Batch> parts;
    for (int i = 0; i < microbatches; ++i) {
      parts.push_back(part_of(batch, chunk(batch.size(), microbatches, i)));
    }
    for (auto& stage : stages_) stage->make_slots(parts.size());
    std::vector<std::vector<AlignedVector<float>>> between(parts.size());
    PassResult sum{0, batch.labels.size(), 0};
    const auto micro = [&](std::size_t i) {
      return MicroBatch{parts[i], i, static_cast<float>(1 / labels), i > 0};
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      between[i].resize(stages_.size() + 1);
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        between[i][s + 1].resize(parts[i].size() * stages_[s]->out_values());
        const PassResult found = stages_[s]->forward(micro(i), between[i][s], between[i][s + 1]);
        sum.loss += found.loss * static_cast<double>(found.labels) / labels;
        sum.correct += found.correct;
      }
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      AlignedVector<float> gradient;
      for (std::size_t s = stages_.size(); s-- > 0;) {
        AlignedVector<float> before(parts[i].size() * stages_[s]->in_values());
        stages_[s]->backward(micro(i), gradient, before, {});
        gradient = std::move(before);
      }
    }
    return sum;
  }

  PassResult evaluate(const Batch& batch) {
    AlignedVector<float> in;
    PassResult result;
    for (auto& stage : stages_) {
      AlignedVector<float> out(batch.size() * stage->out_values());
      result = stage->evaluate(batch, in, out);
      in = std::move(out);
    }
    return result;
  }

  std::vector<float> joined(std::span<float> (FlatModel::*part)()) {
    std::vector<float> all;
    for (auto& stage : stages_) {
      const auto values = ((*stage).*part)();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  void set_params(std::span<const float> whole) {
    for (auto& stage : stages_) {
      std::copy_n(whole.begin(), stage->params().size(), stage->params().begin());
      whole = whole.subspan(stage->params().size());
      stage->apply_update();
    }
  }

 private:
  std::vector<std::unique_ptr<Stage>> stages_;
};

void expect_close(const std::vector<float>& actual, std::span<const float> expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 2e-5 * largest) << what << ", value " << i;
  }
}

struct Case {
  std::string name;
  DataShape data;
  std::shared_ptr<ModelKind> kind;
  bool exact = true;       // does a sample's gradient depend on nothing but the sample?
  bool same_start = true;  // do stages begin with the parameters of the whole?
};

std::vector<Case> cases() {
  const auto sequential = [] {
    return torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3).padding(1)),
                                 torch::nn::ReLU(), torch::nn::Flatten(),
                                 torch::nn::Linear(4 * 8 * 8, 6), torch::nn::Tanh(),
                                 torch::nn::Linear(6, 5));
  };
  return {
      {"mlp", vector_shape({7}, 5), kind_of("mlp", {{"widths", "9,8"}})},
      {"mlp with dropout", vector_shape({7}, 5),
       kind_of("mlp", {{"widths", "9,8"}, {"dropout", "0.3"}})},
      {"lenet", image_shape(1, 20, 5), kind_of("lenet", {})},
      {"resnet, group norm", image_shape(3, 12, 5),
       kind_of("resnet", {{"depth", "8"}, {"norm", "group"}})},
      {"resnet, batch norm", image_shape(3, 12, 5), kind_of("resnet", {{"depth", "8"}}), false},
      {"lstm on images", image_shape(3, 7, 5), kind_of("lstm", {{"hidden", "6"}, {"layers", "3"}})},
      {"lstm on text", text_shape(9, 8), kind_of("lstm", {{"hidden", "6"}, {"layers", "2"}})},
      {"a user's sequential", image_shape(3, 8, 5), model_from(sequential), true, false},
  };
}

TEST(Stages, UnitsMakeUpTheModel) {
  for (const Case& one : cases()) {
    const auto settings = settings_for(one.data);
    const auto units = one.kind->units(settings);
    ASSERT_GE(units.size(), 3u) << one.name;
    std::size_t params = 0, buffers = 0;
    for (const ModelUnit& unit : units) {
      EXPECT_GT(unit.params, 0u) << one.name;
      EXPECT_GT(unit.forward_seconds, 0) << one.name;
      EXPECT_GT(unit.out_values, 0u) << one.name;
      EXPECT_FALSE(unit.name.empty());
      params += unit.params;
      buffers += unit.buffers;
    }
    const auto whole = one.kind->make(settings);
    EXPECT_EQ(params, whole->params().size()) << one.name;
    EXPECT_EQ(buffers, whole->buffers().size()) << one.name;
  }
}

TEST(Stages, GradientsAreThoseOfTheWholeModelWhateverTheCut) {
  for (const Case& one : cases()) {
    const auto settings = settings_for(one.data);
    const Batch batch = random_batch(one.data, 7, 3);
    const auto whole = one.kind->make(settings);
    const PassResult expected = whole->forward_backward(batch, 1);
    const std::size_t units = one.kind->units(settings).size();
    for (std::size_t cut = 1; cut < units; ++cut) {
      Stages stages(*one.kind, settings, {cut, units});
      if (one.same_start) {
        EXPECT_TRUE(std::ranges::equal(stages.joined(&FlatModel::params), whole->params()));
      }
      stages.set_params(whole->params());
      for (const int microbatches : {1, 3}) {
        if (!one.exact && microbatches > 1) continue;  // statistics are those of a micro-batch
        const std::string what =
            fmt::format("{}, cut before unit {}, {} micro-batches", one.name, cut, microbatches);
        const PassResult found = stages.pass(batch, microbatches);
        EXPECT_NEAR(found.loss, expected.loss, 1e-5) << what;
        EXPECT_EQ(found.correct, expected.correct) << what;
        expect_close(stages.joined(&FlatModel::grads), whole->grads(), what);
      }
    }
  }
}

TEST(Stages, AsManyAsThereAreUnits) {
  for (const Case& one : cases()) {
    const auto settings = settings_for(one.data);
    const Batch batch = random_batch(one.data, 5, 4);
    const auto whole = one.kind->make(settings);
    whole->forward_backward(batch, 1);
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i <= one.kind->units(settings).size(); ++i) ends.push_back(i);
    Stages stages(*one.kind, settings, ends);
    stages.set_params(whole->params());
    stages.pass(batch, 1);
    expect_close(stages.joined(&FlatModel::grads), whole->grads(), one.name);
    if (!whole->buffers().empty()) {
      expect_close(stages.joined(&FlatModel::buffers), whole->buffers(), one.name);
    }
    const PassResult expected = whole->evaluate(batch), found = stages.evaluate(batch);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5) << one.name;
    EXPECT_EQ(found.correct, expected.correct) << one.name;
  }
}

// Batch norm of micro-batches is that of workers computed as one large batch with parts.
TEST(Stages, BatchNormTakesStatisticsOfAMicroBatch) {
  const DataShape data = image_shape(3, 12, 5);
  const auto kind = kind_of("resnet", {{"depth", "8"}});
  const auto settings = settings_for(data);
  Batch batch = random_batch(data, 8, 5);
  Stages stages(*kind, settings, {3, kind->units(settings).size()});
  stages.pass(batch, 2);
  const auto whole = kind->make(settings);
  batch.parts = {4, 4};
  whole->forward_backward(batch, 1);
  expect_close(stages.joined(&FlatModel::grads), whole->grads(), "gradients");
}

TEST(Stages, SixteenBitNumbersRoundAsInTheWholeModel) {
  const DataShape data = vector_shape({7}, 5);
  auto settings = settings_for(data);
  settings.precision = "bf16";
  const auto kind = kind_of("mlp", {{"widths", "9,8"}});
  const Batch batch = random_batch(data, 6, 6);
  const auto whole = kind->make(settings);
  whole->forward_backward(batch, 1);
  Stages stages(*kind, settings, {2, 3});
  stages.pass(batch, 1);
  EXPECT_TRUE(std::ranges::equal(stages.joined(&FlatModel::grads), whole->grads()));
  EXPECT_THROW(kind_of("lstm", {})->make_stage(settings_for(data), {0, 1}),
               ConfigError);  // vectors
}

struct Backwards : torch::nn::SequentialImpl {  // a forward of its own
  torch::Tensor forward(torch::Tensor x) { return x.flip(0); }
};

TEST(Stages, SequentialsThatCannotBeCutSaySo) {
  const auto settings = settings_for(vector_shape({4}, 4));
  const auto tied = model_from([] {
    torch::nn::Linear one(4, 4);
    return torch::nn::Sequential(one, torch::nn::Tanh(), one);
  });
  EXPECT_THROW(tied->units(settings), ConfigError);
  const auto turned = model_from([] {
    return torch::nn::Sequential(torch::nn::Linear(4, 4),
                                 torch::nn::Flatten(torch::nn::FlattenOptions().start_dim(0)),
                                 torch::nn::Linear(8, 8));
  });
  EXPECT_THROW(turned->units(settings), ConfigError);
  const auto backwards = model_from([] { return std::make_shared<Backwards>(); });
  EXPECT_TRUE(backwards->units(settings).empty());
  const auto dropping = model_from([] {
    return torch::nn::Sequential(torch::nn::Linear(4, 4), torch::nn::Dropout(0.5),
                                 torch::nn::Linear(4, 4));
  });
  EXPECT_FALSE(dropping->make_stage(settings, {0, 1})->repeats());
  EXPECT_TRUE(dropping->make_stage(settings, {1, 1})->repeats());
}

TEST(Stages, ModelsThatCannotBeCutSaySo) {
  const auto kind = kind_of("fake", {});
  EXPECT_TRUE(kind->units(settings_for(vector_shape({4}, 3))).empty());
  EXPECT_THROW(kind->make_stage(settings_for(vector_shape({4}, 3)), {0, 1}), ConfigError);
}

}  // namespace
}  // namespace lockstep
