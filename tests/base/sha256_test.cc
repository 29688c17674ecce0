#include "lockstep/base/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// The examples of FIPS 180-4 and of NIST's test vectors.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  const std::string text(10'000, 'x');
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  Sha256 hash;
  for (std::size_t at = 0; at < bytes.size(); at += 1000) hash.add(bytes.subspan(at, 1000));
  EXPECT_EQ(hash.finish(), sha256(text));
}

TEST(Sha256, AFileHasTheDigestOfItsContent) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("lockstep_sha256_" + std::to_string(getpid()));
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 200'000u}) {
    const std::string text(size, 'y');
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(sha256_of_file(path.string()), sha256(text)) << size;
  }
  std::filesystem::remove(path);
  EXPECT_THAT([&] { sha256_of_file(path.string()); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr(path.string())));
  EXPECT_THROW(sha256_of_file(testing::TempDir()), DataError);
}

}  // namespace
}  // namespace lockstep
