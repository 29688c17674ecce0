#include "lockstep/model/torch_error.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kLongest = 300;  // bytes; some errors list whole tables

// "[enforce fail at file.cc:12] condition. what it means" → "what it means"
std::string without_source_line(const std::string& line) {
  if (!line.starts_with("[enforce fail at")) return line;
  const auto end = line.find("] . ");
  return end == std::string::npos ? line : line.substr(end + 4);
}

// Damaged files put anything into messages; cut only between characters of UTF-8.
std::string printable(std::string text) {
  if (text.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
  }
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

std::string short_reason(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  std::vector<std::string> lines;
  for (auto& line : split(text, '\n')) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return "torch gave no reason";
  // The interpreter of TorchScript ends with the reason, everybody else begins with it.
  const bool interpreter = text.find("TorchScript interpreter") != std::string::npos;
  return printable(without_source_line(interpreter ? lines.back() : lines.front()));
}

}  // namespace lockstep
