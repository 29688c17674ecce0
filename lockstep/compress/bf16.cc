// bfloat16: the upper half of a float. A float's range, exact to 1 in 256.
#include "lockstep/compress/sixteen_bits.h"

namespace lockstep {
namespace {

const Registration<Compressor> kBf16{
    "bf16", "The upper 16 bits of a float, rounded.", {}, [](const Options&) {
      return std::make_unique<SixteenBits>(Number::kBrain);
    }};

}  // namespace
}  // namespace lockstep
