// Formulas of sweep files: "effective_batch / cluster.workers", or what excludes a cell,
// "sync.name == 'local' and cluster.workers > 8". Numbers and texts; true is 1, false is 0.
//
//   + - * / %   ^ (power)   == != < <= > >=   and or not   ( )
//   min max floor ceil round sqrt log2
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace lockstep {

using FormulaValue = std::variant<double, std::string>;
// The value of a name, which may have dots; a ConfigError if there is none.
using FormulaNames = std::function<FormulaValue(const std::string& name)>;

// A ConfigError that shows the formula and where it is wrong.
FormulaValue evaluate_formula(std::string_view formula, const FormulaNames& names);

// Is it neither 0 nor ""?
bool is_true(const FormulaValue& value);
// A whole number without a point: what a setting takes.
std::string to_text(const FormulaValue& value);
// A number if the text is one; "true" and "false" are 1 and 0.
FormulaValue formula_value(const std::string& text);

}  // namespace lockstep
