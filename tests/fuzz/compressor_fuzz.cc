// libFuzzer on the decoder of one compressor, LOCKSTEP_FUZZ_COMPRESSOR: whatever bytes arrive, it
// adds numbers within its own layers or throws a CommError.
//
// Half of the inputs are messages as they are; the others are true messages with some bytes
// changed, which get further.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lockstep/compress/compression.h"
#include "lockstep/compress/model_stream.h"
#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

CompressionPlan make_plan() {
  Options own(compress_options(), "[compress]");
  own.set("plain_below", "200");
  const auto& registry = Registry<Compressor>::instance();
  return CompressionPlan(LOCKSTEP_FUZZ_COMPRESSOR, registry.options(LOCKSTEP_FUZZ_COMPRESSOR), own);
}

// Three bytes a change: where, and to what.
std::vector<std::byte> damaged(BytesView message, BytesView changes) {
  std::vector<std::byte> bytes(message.begin(), message.end());
  for (; changes.size() >= 3; changes = changes.subspan(3)) {
    const auto at =
        static_cast<std::size_t>(changes[0]) * 256 + static_cast<std::size_t>(changes[1]);
    bytes[at % bytes.size()] = changes[2];
  }
  if (!changes.empty())
    bytes.resize(bytes.size() - static_cast<std::size_t>(changes[0]) % bytes.size());
  return bytes;
}

void try_to_add(BytesView message, const Compressor& compressor, const Compression& compression) {
  // Guards on both sides of the layers: what lies between and behind them is not to change.
  Vector sum(kLength, 0.0f);
  const auto guarded = [&](const auto& action) {
    try {
      action();
    } catch (const CommError&) {
    }
    for (std::size_t i = 561; i < 600; ++i) {
      if (sum[i] != 0) std::abort();
    }
  };
  guarded([&] { compressor.add(message, 1, sum); });
  guarded([&] { compression.add(message, 1, sum); });
  guarded([&] { ModelStream::add(compression, message, sum); });
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const CompressionPlan plan = make_plan();
  static const auto compressor = [] {
    auto made = Registry<Compressor>::instance().make(LOCKSTEP_FUZZ_COMPRESSOR);
    made->prepare(some_layers());
    return made;
  }();
  static Compression compression(plan, some_layers(), 1, 0, Feedback::kPlanned);
  static const Bytes whole = message_of(*compressor, normal_vector(kLength, 1));
  static const Bytes wrapped = [] {
    Bytes message;
    compression.encode(normal_vector(kLength, 1), 0, message);
    return message;
  }();
  if (size == 0) return 0;
  const BytesView input = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      try_to_add(damaged(whole.view(), input), *compressor, compression);
      break;
    case 1:
      try_to_add(damaged(wrapped.view(), input), *compressor, compression);
      break;
    default:
      try_to_add(input, *compressor, compression);
  }
  return 0;
}
