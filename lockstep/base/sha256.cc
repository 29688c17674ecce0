#include "lockstep/base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "lockstep/base/error.h"

namespace lockstep {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  LOCKSTEP_CHECK(
      context_->evp && EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) == 1,
      "OpenSSL has no SHA-256");
}
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  LOCKSTEP_CHECK(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) == 1,
                 "OpenSSL refused {} bytes", bytes.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  LOCKSTEP_CHECK(EVP_DigestFinal_ex(context_->evp.get(), out, nullptr) == 1,
                 "OpenSSL gave no digest");
  return digest;
}

Sha256Digest sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

Sha256Digest sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

Sha256Digest sha256_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw DataError("cannot read {}: {}", path, std::strerror(errno));
  Sha256 hash;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  while (true) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get());
    hash.add(std::span(piece).first(got));
    if (got == piece.size()) continue;
    if (std::ferror(file.get()) != 0) {
      throw DataError("cannot read {}: {}", path, std::strerror(errno));
    }
    return hash.finish();
  }
}

std::string to_hex(const Sha256Digest& digest) {
  std::string text;
  for (const std::byte b : digest) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

}  // namespace lockstep
