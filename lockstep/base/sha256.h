// SHA-256: does a file hold what it should? (FIPS 180-4; the work is OpenSSL's.)
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

using Sha256Digest = std::array<std::byte, 32>;

// For bytes that come piece by piece; call finish once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::byte> bytes);
  Sha256Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Sha256Digest sha256(std::span<const std::byte> bytes);
Sha256Digest sha256(std::string_view text);
// Of a file's content, read in pieces; DataError if it cannot be read.
Sha256Digest sha256_of_file(const std::string& path);

std::string to_hex(const Sha256Digest& digest);  // 64 small letters and digits

}  // namespace lockstep
