#include "lockstep/model/fake_profiles.h"

#include <array>
#include <functional>
#include <map>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// Lists layers as torchvision and transformers name and order them, and follows the size of the
// image or the length of the text on its way through.
class Architecture {
 public:
  // Images are 224×224 with 3 channels.
  std::int64_t channels = 3, side = 224;
  // Texts have this many tokens.
  std::int64_t length = 1;

  void conv(const std::string& name, std::int64_t out, std::int64_t kernel, std::int64_t stride,
            std::int64_t padding, bool bias) {
    side = (side + 2 * padding - kernel) / stride + 1;
    const auto weights = out * channels * kernel * kernel;
    add(name + ".weight", {out, channels, kernel, kernel}, LayerKind::kWeight,
        2 * weights * side * side);
    if (bias) add(name + ".bias", {out}, LayerKind::kBias, out * side * side);
    channels = out;
  }
  void pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding = 0) {
    side = (side + 2 * padding - kernel) / stride + 1;
  }
  void batch_norm(const std::string& name) { norm(name, channels, side * side); }
  void layer_norm(const std::string& name, std::int64_t width) { norm(name, width, length); }
  // `more`: operations that have no weights of their own and end here, such as attention.
  void linear(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t more = 0) {
    add(name + ".weight", {out, in}, LayerKind::kWeight, 2 * in * out * length + more);
    add(name + ".bias", {out}, LayerKind::kBias, out * length);
  }
  void embedding(const std::string& name, std::int64_t rows, std::int64_t width) {
    add(name + ".weight", {rows, width}, LayerKind::kWeight, width * length);
  }

  std::vector<ProfiledLayer> layers;

 private:
  void norm(const std::string& name, std::int64_t width, std::int64_t positions) {
    add(name + ".weight", {width}, LayerKind::kNorm, 6 * width * positions);
    add(name + ".bias", {width}, LayerKind::kNorm, width * positions);
  }
  void add(std::string name, std::vector<std::int64_t> shape, LayerKind kind, std::int64_t flops) {
    std::size_t size = 1, offset = 0;
    for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
    if (!layers.empty()) offset = layers.back().layer.offset + layers.back().layer.size;
    layers.push_back(
        {{std::move(name), offset, size, std::move(shape), kind}, static_cast<double>(flops)});
  }
};

// Krizhevsky 2014 ("one weird trick"), as in torchvision.
void alexnet(Architecture& net) {
  net.conv("features.0", 64, 11, 4, 2, true);
  net.pool(3, 2);
  net.conv("features.3", 192, 5, 1, 2, true);
  net.pool(3, 2);
  net.conv("features.6", 384, 3, 1, 1, true);
  net.conv("features.8", 256, 3, 1, 1, true);
  net.conv("features.10", 256, 3, 1, 1, true);
  net.pool(3, 2);
  net.linear("classifier.1", net.channels * net.side * net.side, 4096);
  net.linear("classifier.4", 4096, 4096);
  net.linear("classifier.6", 4096, 1000);
}

// Simonyan & Zisserman 2014, configuration D.
void vgg16(Architecture& net) {
  int place = 0;
  for (const auto& [width, convolutions] :
       std::array<std::array<int, 2>, 5>{{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}}) {
    for (int i = 0; i < convolutions; ++i, place += 2) {
      net.conv("features." + std::to_string(place), width, 3, 1, 1, true);
    }
    net.pool(2, 2);
    ++place;
  }
  net.linear("classifier.0", net.channels * net.side * net.side, 4096);
  net.linear("classifier.3", 4096, 4096);
  net.linear("classifier.6", 4096, 1000);
}

// He et al. 2015 with bottlenecks; strides stand in the 3×3 convolutions, as in torchvision.
void resnet(Architecture& net, const std::array<int, 4>& blocks) {
  net.conv("conv1", 64, 7, 2, 3, false);
  net.batch_norm("bn1");
  net.pool(3, 2, 1);
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = 64 << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = fmt::format("layer{}.{}", stage + 1, block);
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      const auto channels = net.channels, side = net.side;
      net.conv(name + ".conv1", width, 1, 1, 0, false);
      net.batch_norm(name + ".bn1");
      net.conv(name + ".conv2", width, 3, stride, 1, false);
      net.batch_norm(name + ".bn2");
      net.conv(name + ".conv3", 4 * width, 1, 1, 0, false);
      net.batch_norm(name + ".bn3");
      if (block > 0) continue;
      net.channels = channels;
      net.side = side;
      net.conv(name + ".downsample.0", 4 * width, 1, stride, 0, false);
      net.batch_norm(name + ".downsample.1");
    }
  }
  net.linear("fc", net.channels, 1000);
}

constexpr std::int64_t kWidth = 768, kBlocks = 12;

// Scores of all pairs of positions, and the values weighted by them.
std::int64_t attention(const Architecture& net) {
  return 4 * net.length * net.length * kWidth;
}

// Devlin et al. 2018, on sequences of 128 tokens as in most of its pre-training.
void bert_base(Architecture& net) {
  net.length = 128;
  net.embedding("embeddings.word_embeddings", 30522, kWidth);
  net.embedding("embeddings.position_embeddings", 512, kWidth);
  net.embedding("embeddings.token_type_embeddings", 2, kWidth);
  net.layer_norm("embeddings.LayerNorm", kWidth);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    const std::string name = fmt::format("encoder.layer.{}.", i);
    net.linear(name + "attention.self.query", kWidth, kWidth);
    net.linear(name + "attention.self.key", kWidth, kWidth);
    net.linear(name + "attention.self.value", kWidth, kWidth);
    net.linear(name + "attention.output.dense", kWidth, kWidth, attention(net));
    net.layer_norm(name + "attention.output.LayerNorm", kWidth);
    net.linear(name + "intermediate.dense", kWidth, 4 * kWidth);
    net.linear(name + "output.dense", 4 * kWidth, kWidth);
    net.layer_norm(name + "output.LayerNorm", kWidth);
  }
  net.length = 1;  // the pooler sees the first position only
  net.linear("pooler.dense", kWidth, kWidth);
}

// Radford et al. 2019, the small one, on its whole context. The output layer's weights are the
// embedding's.
void gpt2(Architecture& net) {
  net.length = 1024;
  net.embedding("wte", 50257, kWidth);
  net.layers.back().forward_flops += 2.0 * 50257 * kWidth * static_cast<double>(net.length);
  net.embedding("wpe", 1024, kWidth);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    const std::string name = fmt::format("h.{}.", i);
    net.layer_norm(name + "ln_1", kWidth);
    net.linear(name + "attn.c_attn", kWidth, 3 * kWidth);
    net.linear(name + "attn.c_proj", kWidth, kWidth, attention(net));
    net.layer_norm(name + "ln_2", kWidth);
    net.linear(name + "mlp.c_fc", kWidth, 4 * kWidth);
    net.linear(name + "mlp.c_proj", 4 * kWidth, kWidth);
  }
  net.layer_norm("ln_f", kWidth);
}

const std::map<std::string, std::function<void(Architecture&)>>& architectures() {
  static const std::map<std::string, std::function<void(Architecture&)>> all{
      {"alexnet", alexnet},
      {"vgg16", vgg16},
      {"resnet50",
       [](Architecture& net) {
         resnet(net, {3, 4, 6, 3});
       }},
      {"resnet152",
       [](Architecture& net) {
         resnet(net, {3, 8, 36, 3});
       }},
      {"bert-base", bert_base},
      {"gpt2", gpt2},
  };
  return all;
}

}  // namespace

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& [name, build] : architectures()) names.push_back(name);
  return names;
}

std::vector<ProfiledLayer> profile(const std::string& name) {
  const auto found = architectures().find(name);
  LOCKSTEP_CHECK(found != architectures().end(), "there is no profile {}", name);
  Architecture net;
  found->second(net);
  return std::move(net.layers);
}

}  // namespace lockstep
