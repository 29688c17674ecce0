// Small text helpers that several folders need: sizes as people write them, near misses, tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// "4K", "1.5M", "128M", "2G" (powers of 1024) or a plain number. `what` names it in the error.
std::size_t parse_size(std::string_view text, std::string_view what);
std::string format_size(std::size_t bytes);
// 1.2 us, 3.4 ms, 5.6 s
std::string format_seconds(double seconds);

std::int64_t parse_integer(std::string_view text, std::string_view what);
double parse_real(std::string_view text, std::string_view what);

// Pieces between separators, blanks trimmed; empty text gives no pieces.
std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);

// The candidate that differs by the fewest keystrokes, or "" if none is near.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);
// `unknown <what> "<name>"; did you mean "x"? Valid: a, b, c`
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> candidates);

// Columns padded to their widest cell; the first is left-aligned, the others right-aligned.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// FNV-1a: a stable 64-bit hash, the same on every machine and run.
std::uint64_t stable_hash(std::string_view text);

}  // namespace lockstep
