#include "lockstep/data/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

FileBytes gzip(const std::string& path, const FileBytes& bytes) {
  gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  return read_file(path);
}

TEST(Files, WhatIsWrittenIsReadAndNothingElseIsLeft) {
  const TemporaryFolder folder;
  write_file(folder / "a", {bytes_of("lock"), bytes_of("step")});
  EXPECT_EQ(read_file(folder / "a"), bytes_of("lockstep"));
  write_file(folder / "a", {});
  EXPECT_TRUE(read_file(folder / "a").empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, MissingOnesAndFoldersAreNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(data_error([&] { read_file(folder / "none"); }), HasSubstr("none"));
  EXPECT_THAT(data_error([&] { read_file(folder.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(data_error([&] { write_file(folder / "no/file", {}); }), HasSubstr("no/file"));
}

TEST(Files, GzipAndPlainReadTheSame) {
  const TemporaryFolder folder;
  const FileBytes bytes(3'000'000, 7);
  gzip(folder / "a.gz", bytes);
  write_file(folder / "a", {bytes});
  EXPECT_EQ(read_gzip_or_plain(folder / "a.gz", bytes.size()), bytes);
  EXPECT_EQ(read_gzip_or_plain(folder / "a", bytes.size()), bytes);
  // A file of a few kilobytes must not fill the memory.
  EXPECT_THAT(data_error([&] { read_gzip_or_plain(folder / "a.gz", bytes.size() - 1); }),
              HasSubstr("too large"));
}

TEST(Files, CutOffGzipIsNeverHalfUsed) {
  const TemporaryFolder folder;
  const FileBytes whole = gzip(folder / "a.gz", bytes_of("twenty-four characters!!"));
  for (std::size_t size = 3; size < whole.size(); ++size) {
    put(folder / "a.gz", FileBytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    EXPECT_NE(data_error([&] { read_gzip_or_plain(folder / "a.gz", 1000); }), "") << size;
  }
}

TEST(Files, Sha256IsTheStandardOne) {
  EXPECT_EQ(sha256(bytes_of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace lockstep
