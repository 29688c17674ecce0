// Files for tests, and what can happen to them: cut off anywhere, any byte changed.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"

namespace lockstep {

// A folder that is gone when the test is over.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "lockstep-data-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline void put(const std::string& path, const FileBytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}
inline FileBytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

// What a DataError says, or "" if there was none; anything else fails the test.
inline std::string data_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const DataError& e) {
    return e.what();
  }
  return "";
}

// However the file is damaged, reading it succeeds or ends in a DataError that names it.
inline void expect_damage_is_harmless(const std::string& path, const FileBytes& whole,
                                      const std::function<void()>& read) {
  const auto check = [&](const FileBytes& damaged, std::size_t at) {
    put(path, damaged);
    const std::string error = data_error(read);
    if (!error.empty()) {
      EXPECT_NE(error.find(std::filesystem::path(path).filename().string()), std::string::npos)
          << "damaged at " << at << ": " << error;
    }
    return error;
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(check(FileBytes(whole.begin(), whole.begin() + static_cast<long>(size)), size), "")
        << "cut off after " << size << " of " << whole.size();
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      FileBytes damaged = whole;
      damaged[i] ^= static_cast<std::uint8_t>(flip);
      check(damaged, i);
    }
  }
  put(path, whole);
}

}  // namespace lockstep
