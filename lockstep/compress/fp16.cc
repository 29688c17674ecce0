// IEEE half precision: 5 bits of exponent, 10 of fraction. Exact to 1 in 2048 between 6e-5 and
// 65504, coarser below; what is larger is sent as 65504.
#include "lockstep/compress/sixteen_bits.h"

namespace lockstep {
namespace {

const Registration<Compressor> kFp16{
    "fp16", "IEEE half precision: 16 bits a value.", {}, [](const Options&) {
      return std::make_unique<SixteenBits>(Number::kHalf);
    }};

}  // namespace
}  // namespace lockstep
