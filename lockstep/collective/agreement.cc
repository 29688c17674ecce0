#include "lockstep/collective/agreement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {
namespace {

constexpr char kUnit = '\x1f';    // between key and value
constexpr char kRecord = '\x1e';  // behind a fact

// What stands before the first mark and what after it, which is nothing where there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

// "ranks 0, 2 say \"ring\"; rank 1 says \"tree\""
std::string who_says_what(const Group& group, const std::vector<std::string>& values) {
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ranks[values[i]].push_back(group.rank(static_cast<int>(i)));
  }
  std::vector<std::string> parts;
  for (const auto& [value, who] : ranks) {
    parts.push_back(fmt::format("rank{} {} {} {}", who.size() > 1 ? "s" : "", fmt::join(who, ", "),
                                who.size() > 1 ? "say" : "says", value));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Has everybody this hash? A few messages a member, however many there are.
bool all_have(Group& group, std::uint64_t hash) {
  const Operation operation(group.transport(), "agreement");
  struct Word {
    std::uint64_t hash;
    std::uint64_t same;
  };
  Word word{hash, 1};
  tree_merge(group, std::as_writable_bytes(std::span(&word, 1)),
             [](std::span<std::byte> mine, std::span<const std::byte> theirs) {
               Word a{}, b{};
               std::memcpy(&a, mine.data(), sizeof a);
               std::memcpy(&b, theirs.data(), sizeof b);
               a.same &= b.same & static_cast<std::uint64_t>(a.hash == b.hash);
               std::memcpy(mine.data(), &a, sizeof a);
             });
  return word.same != 0;
}

// Whoever throws ends the run for all. Those who have not heard everything yet would then only know
// that another rank has failed.
void let_all_hear(Group& group) {
  try {
    barrier(group);
  } catch (const CommError&) {  // somebody has heard and gone: all had come to the barrier then
  }
}

}  // namespace

void RunFacts::add(std::string_view key, std::string_view value) {
  facts_.emplace_back(std::string(key), std::string(value));
}

std::string RunFacts::text() const {
  std::string text;
  for (const auto& [key, value] : facts_) text += key + kUnit + value + kRecord;
  return text;
}

std::vector<std::pair<std::string, std::string>> RunFacts::parse(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> facts;
  while (!text.empty()) {
    const auto [fact, rest] = cut(text, kRecord);
    const auto [key, value] = cut(fact, kUnit);
    facts.emplace_back(key, value);
    text = rest;
  }
  return facts;
}

void require_agreement(Group& group, const RunFacts& facts) {
  const std::string mine = facts.text();
  if (all_have(group, stable_hash(mine))) return;

  std::vector<std::vector<std::pair<std::string, std::string>>> told;
  std::size_t longest = 0;
  for (const auto& text : all_gather_texts(group, mine)) {
    told.push_back(RunFacts::parse(text));
    longest = std::max(longest, told.back().size());
  }
  for (std::size_t i = 0; i < longest; ++i) {
    std::vector<std::string> values;
    std::string key;
    bool same_key = true;
    for (const auto& list : told) {
      if (i < list.size() && key.empty()) key = list[i].first;
      same_key = same_key && i < list.size() && list[i].first == key;
    }
    for (const auto& list : told) {
      if (i >= list.size())
        values.push_back("nothing");
      else if (same_key)
        values.push_back(fmt::format("\"{}\"", list[i].second));
      else
        values.push_back(fmt::format("{} = \"{}\"", list[i].first, list[i].second));
    }
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) {
      continue;
    }
    let_all_hear(group);
    throw ConfigError("the ranks disagree about the run, first about {}: {}",
                      same_key ? key : fmt::format("fact {}", i + 1), who_says_what(group, values));
  }
}

}  // namespace lockstep
