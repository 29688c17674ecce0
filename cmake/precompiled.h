// What nearly every file includes, parsed once a build: most of a small file's compilation is
// reading these. Headers that instantiate much (nlohmann/json.hpp, CLI/CLI.hpp) do not belong here:
// every file would instantiate them again. Files still include what they use;
// -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON checks that.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
