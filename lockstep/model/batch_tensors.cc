#include "lockstep/model/batch_tensors.h"

#include <fmt/ranges.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// Torch has no tensors of const memory; models do not write to their input.
template <typename T>
torch::Tensor view(const AlignedVector<T>& values, c10::IntArrayRef shape, c10::IntArrayRef strides,
                   torch::Dtype type) {
  return torch::from_blob(const_cast<T*>(values.data()), shape, strides, type);
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

}  // namespace

torch::Tensor input_view(const Batch& batch) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(batch.size())};
  shape.insert(shape.end(), batch.shape.sample.begin(), batch.shape.sample.end());
  switch (batch.shape.kind) {
    case DataShape::Kind::kImage: {
      LOCKSTEP_CHECK(shape.size() == 4, "an image of {} dimensions", shape.size() - 1);
      const auto channels = shape[1], height = shape[2], width = shape[3];
      const std::vector<std::int64_t> strides{height * width * channels, 1, width * channels,
                                              channels};
      return view(batch.values, shape, strides, torch::kFloat);
    }
    case DataShape::Kind::kVector:
      return view(batch.values, shape, row_major(shape), torch::kFloat);
    case DataShape::Kind::kTokens:
      return view(batch.tokens, shape, row_major(shape), torch::kLong);
  }
  LOCKSTEP_CHECK(false, "a kind of data that models do not know");
  return {};
}

torch::Tensor label_view(const Batch& batch) {
  return view(batch.labels, {static_cast<std::int64_t>(batch.labels.size())}, {1}, torch::kLong);
}

Batch blank_batch(const DataShape& shape, std::size_t size) {
  Batch batch;
  batch.shape = shape;
  batch.ids.resize(size);
  if (shape.kind == DataShape::Kind::kTokens) {
    batch.tokens.resize(size * shape.values());
  } else {
    batch.values.resize(size * shape.values());
  }
  batch.labels.resize(size * shape.labels_per_sample());
  return batch;
}

std::string shape_text(c10::IntArrayRef shape) {
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "×"));
}

}  // namespace lockstep
