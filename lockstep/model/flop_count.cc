#include "lockstep/model/flop_count.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <string_view>

namespace lockstep {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

thread_local double flops = 0;

// The interpreter of TorchScript shows its whole stack; the arguments are its end.
Arguments arguments_of(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  const auto inputs = function.inputs();
  if (!name) return {};
  const auto schema = c10::Dispatcher::singleton().findSchema(*name);
  if (!schema) return {};
  const std::size_t count = schema->schema().arguments().size();
  return inputs.size() < count ? Arguments{} : Arguments(inputs.end() - count, count);
}

double elements(const at::Tensor& tensor) {
  return static_cast<double>(tensor.numel());
}

// input, weight, bias, stride, padding, dilation, transposed, …
double convolution_flops(const Arguments& arguments) {
  const auto input = arguments[0].toTensor(), weight = arguments[1].toTensor();
  const auto stride = arguments[3].toIntVector(), padding = arguments[4].toIntVector();
  const auto dilation = arguments[5].toIntVector();
  const double places_of_weight = elements(weight) / static_cast<double>(weight.size(0));
  if (arguments[6].toBool()) return 2 * elements(input) * places_of_weight;
  double outputs = static_cast<double>(input.size(0) * weight.size(0));
  for (std::size_t i = 0; i < stride.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const auto reach = dilation[i] * (weight.size(axis) - 1) + 1;
    outputs *= static_cast<double>((input.size(axis) + 2 * padding[i] - reach) / stride[i] + 1);
  }
  return 2 * outputs * places_of_weight;
}

double product_flops(const c10::IValue& left, const c10::IValue& right) {
  return 2 * elements(left.toTensor()) * static_cast<double>(right.toTensor().size(-1));
}

// Operations are made of others: these do the arithmetic, and none contains another.
std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const bool convolution = name == "aten::_convolution";
  const bool product = name == "aten::mm" || name == "aten::bmm";
  const bool product_and_sum = name == "aten::addmm" || name == "aten::baddbmm";
  if (!convolution && !product && !product_and_sum) return nullptr;
  const auto arguments = arguments_of(function);
  if (arguments.empty()) return nullptr;
  if (convolution) flops += convolution_flops(arguments);
  if (product) flops += product_flops(arguments[0], arguments[1]);
  if (product_and_sum) flops += product_flops(arguments[1], arguments[2]);
  return nullptr;
}

}  // namespace

double count_flops(const std::function<void()>& body) {
  struct Listening {
    at::CallbackHandle handle =
        at::addThreadLocalCallback(at::RecordFunctionCallback(on_operation)
                                       .needsInputs(true)
                                       .scopes({at::RecordScope::FUNCTION}));
    ~Listening() { at::removeCallback(handle); }
  } listening;
  flops = 0;
  body();
  return flops;
}

}  // namespace lockstep
