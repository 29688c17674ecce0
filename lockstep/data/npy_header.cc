#include "lockstep/data/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDimensions = 32;  // NumPy's own limit

// The dictionary is a Python literal with three known keys: {'descr': '<f4', 'fortran_order':
// False, 'shape': (2, 3), }. This reads exactly that, in any order of keys.
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    bool type = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !type) {
        type = true;
        header.type = quoted();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = tuple();
      } else {
        damaged();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    blanks();
    if (at_ != text_.size() || !type || !order || !shape) damaged();
    return header;
  }

 private:
  [[noreturn]] void damaged() const {
    throw DataError("{} is damaged: its header is not that of a .npy file of plain elements",
                    name_);
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) damaged();
  }
  std::string quoted() {
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const auto end = text_.find(quote, at_);
    if (end == std::string_view::npos) damaged();
    const std::string text(text_.substr(at_, end - at_));
    for (const char c : text) {
      if (c < ' ' || c > '~') damaged();
    }
    at_ = end + 1;
    return text;
  }
  bool boolean() {
    blanks();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return value;
    }
    damaged();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!take(')')) {
      blanks();
      std::int64_t extent = 0;
      const char* end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc{} || extent < 0 || extents.size() == kMostDimensions) damaged();
      at_ = static_cast<std::size_t>(stop - text_.data());
      extents.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t npy_elements_begin(std::string_view prelude, const std::string& name) {
  if (!prelude.starts_with(kMagic)) throw DataError("{} is not a .npy file", name);
  const auto byte = [&](std::size_t i) -> std::size_t {
    if (i >= prelude.size()) throw DataError("{} is truncated within its header", name);
    return static_cast<unsigned char>(prelude[i]);
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw DataError("{} has version {}.{} of the .npy format; 1 to 3 can be read", name, version,
                    byte(7));
  }
  if (version == 1) return 10 + byte(8) + (byte(9) << 8);
  return 12 + byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
}

NpyHeader parse_npy_header(std::string_view begin, const std::string& name) {
  const bool first = begin.size() > 6 && begin[6] == 1;  // version 1 has the shorter size
  return Dictionary(begin.substr(first ? 10 : 12), name).read();
}

std::string make_npy_header(const NpyHeader& header) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.type,
                  header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "),
                  header.shape.size() == 1 ? "," : "");
  dictionary.resize((10 + dictionary.size() + 1 + 63) / 64 * 64 - 11, ' ');
  dictionary += '\n';
  LOCKSTEP_CHECK(dictionary.size() < 65536, "a shape of {} numbers", header.shape.size());
  std::string begin(kMagic);
  for (const std::size_t byte :
       {std::size_t{1}, std::size_t{0}, dictionary.size() & 255, dictionary.size() >> 8}) {
    begin += static_cast<char>(byte);
  }
  return begin + dictionary;
}

}  // namespace lockstep
