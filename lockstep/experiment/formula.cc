#include "lockstep/experiment/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr int kDeepest = 100;  // brackets in brackets

using Numbers = std::vector<double>;
struct Function {
  std::size_t least, most;  // arguments
  double (*apply)(const Numbers&);
};

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all{
      {"min", {1, 100, [](const Numbers& x) { return *std::ranges::min_element(x); }}},
      {"max", {1, 100, [](const Numbers& x) { return *std::ranges::max_element(x); }}},
      {"floor", {1, 1, [](const Numbers& x) { return std::floor(x[0]); }}},
      {"ceil", {1, 1, [](const Numbers& x) { return std::ceil(x[0]); }}},
      {"round", {1, 1, [](const Numbers& x) { return std::round(x[0]); }}},
      {"sqrt", {1, 1, [](const Numbers& x) { return std::sqrt(x[0]); }}},
      {"log2", {1, 1, [](const Numbers& x) { return std::log2(x[0]); }}}};
  return all;
}

// Reads and computes in one go, by recursive descent.
class Reader {
 public:
  Reader(std::string_view text, const FormulaNames& names) : text_(text), names_(names) {}

  FormulaValue read() {
    FormulaValue value = either();
    skip_blanks();
    if (at_ < text_.size()) fail("nothing more was expected");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ConfigError("formula \"{}\": {} at \"{}\"", text_, what,
                      at_ < text_.size() ? text_.substr(at_, 20) : "its end");
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool take(std::string_view symbol) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  static bool of_a_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && of_a_name(rest[word.size()])) return false;
    at_ += word.size();
    return true;
  }

  double number(const FormulaValue& value) const {
    if (passing_over_ > 0) return 0;
    if (const auto* found = std::get_if<double>(&value)) return *found;
    fail(fmt::format("the text '{}' is no number", std::get<std::string>(value)));
  }

  // A number and a text are compared as texts: labels are texts, whatever they look like.
  static bool equal(const FormulaValue& a, const FormulaValue& b) {
    return a.index() == b.index() ? a == b : to_text(a) == to_text(b);
  }
  static FormulaValue truth(bool value) { return value ? 1.0 : 0.0; }

  FormulaValue either() {
    FormulaValue value = both();
    while (take_word("or")) {
      const PassingOver rest(*this, is_true(value));
      const FormulaValue other = both();
      value = truth(is_true(value) || is_true(other));
    }
    return value;
  }

  FormulaValue both() {
    FormulaValue value = negated();
    while (take_word("and")) {
      const PassingOver rest(*this, !is_true(value));
      const FormulaValue other = negated();
      value = truth(is_true(value) && is_true(other));
    }
    return value;
  }

  FormulaValue negated() {
    if (!take_word("not")) return compared();
    const Deeper deeper(*this);
    return truth(!is_true(negated()));
  }

  FormulaValue compared() {
    const FormulaValue left = sum();
    if (take("==")) return truth(equal(left, sum()));
    if (take("!=")) return truth(!equal(left, sum()));
    if (take("<=")) return truth(number(left) <= number(sum()));
    if (take(">=")) return truth(number(left) >= number(sum()));
    if (take("<")) return truth(number(left) < number(sum()));
    if (take(">")) return truth(number(left) > number(sum()));
    return left;
  }

  FormulaValue sum() {
    FormulaValue value = product();
    for (;;) {
      if (take("+")) {
        value = number(value) + number(product());
      } else if (take("-")) {
        value = number(value) - number(product());
      } else {
        return value;
      }
    }
  }

  FormulaValue product() {
    FormulaValue value = signed_value();
    for (;;) {
      if (take("*")) {
        value = number(value) * number(signed_value());
      } else if (take("/")) {
        value = number(value) / divisor();
      } else if (take("%")) {
        value = std::fmod(number(value), divisor());
      } else {
        return value;
      }
    }
  }

  double divisor() {
    const double value = number(signed_value());
    if (passing_over_ > 0) return 1;
    if (value == 0) fail("division by 0");
    return value;
  }

  FormulaValue signed_value() {
    const Deeper deeper(*this);
    if (take("-")) return -number(signed_value());
    const FormulaValue base = primary();
    if (!take("^")) return base;
    return std::pow(number(base), number(signed_value()));
  }

  FormulaValue primary() {
    skip_blanks();
    if (take("(")) {
      const FormulaValue value = either();
      if (!take(")")) fail("a ) is missing");
      return value;
    }
    if (at_ >= text_.size()) fail("a value is missing");
    const char first = text_[at_];
    if (first == '\'' || first == '"') return quoted(first);
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return literal();
    if (of_a_name(first)) return named();
    fail("a value is missing");
  }

  FormulaValue quoted(char mark) {
    const auto end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) fail("a text has no end");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  FormulaValue literal() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number cannot be read");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  FormulaValue named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && of_a_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (!take("(")) return passing_over_ > 0 ? FormulaValue(0.0) : names_(name);
    const auto function = functions().find(name);
    if (function == functions().end()) {
      at_ = begin;
      fail("there is no function of this name; there are min, max, floor, ceil, round, sqrt, log2");
    }
    Numbers arguments;
    if (!take(")")) {
      do {
        arguments.push_back(number(either()));
      } while (take(","));
      if (!take(")")) fail("a ) is missing");
    }
    if (arguments.size() < function->second.least || arguments.size() > function->second.most) {
      fail(fmt::format("{} does not take {} values", name, arguments.size()));
    }
    return function->second.apply(arguments);
  }

  // Brackets and signs may be nested, but not so deep that the stack ends.
  class Deeper {
   public:
    explicit Deeper(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kDeepest) reader_.fail("it is nested too deeply");
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Reader& reader_;
  };

  // Once the left side of "and" or "or" has decided, the right side is read, but need not have a
  // value: a name in it may be of a component that is not chosen here.
  class PassingOver {
   public:
    PassingOver(Reader& reader, bool decided) : reader_(reader), decided_(decided) {
      if (decided_) ++reader_.passing_over_;
    }
    ~PassingOver() {
      if (decided_) --reader_.passing_over_;
    }
    PassingOver(const PassingOver&) = delete;
    PassingOver& operator=(const PassingOver&) = delete;

   private:
    Reader& reader_;
    bool decided_;
  };

  std::string_view text_;
  const FormulaNames& names_;
  std::size_t at_ = 0;
  int depth_ = 0, passing_over_ = 0;
};

}  // namespace

FormulaValue evaluate_formula(std::string_view formula, const FormulaNames& names) {
  FormulaValue value = Reader(formula, names).read();
  if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) {
    throw ConfigError("formula \"{}\" has no finite value here", formula);
  }
  return value;
}

bool is_true(const FormulaValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number != 0;
  return !std::get<std::string>(value).empty();
}

std::string to_text(const FormulaValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
  return fmt::format("{}", number);
}

FormulaValue formula_value(const std::string& text) {
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && std::isfinite(number)) return number;
  return text;
}

}  // namespace lockstep
