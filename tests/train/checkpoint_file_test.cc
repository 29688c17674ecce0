#include "lockstep/train/checkpoint_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lockstep/base/error.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using CheckpointFile = FolderTest;

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// A file with the header given as text, its checksum right: only its content can be wrong.
std::vector<std::byte> file_with(const std::string& header, const std::string& payload,
                                 std::uint32_t version = 1, std::uint64_t length_off = 0) {
  const std::uint64_t length = header.size() + length_off;
  std::string text = "LOCKSTEP";
  text.append(reinterpret_cast<const char*>(&version), sizeof version);
  text.append(reinterpret_cast<const char*>(&length), sizeof length);
  text += header + payload;
  const Sha256Digest digest = sha256(text);
  text.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return bytes_of(text);
}

std::string header_with(const std::string& entries) {
  return R"({"step":5,"epoch":0.5,"workers":2,"config":"","entries":[)" + entries + "]}";
}

CheckpointIndex example() {
  CheckpointIndex index;
  index.meta = {123, 1.25, 2, "[train]\nseed = 1 # größe\n"};
  index.entries = {
      {"weights", StateKind::kFloats, 3, kEveryRank}, {"empty", StateKind::kFloats, 0, kEveryRank},
      {"sampler", StateKind::kBytes, 5, 0},           {"count", StateKind::kInteger, 1, 1},
      {"sampler", StateKind::kBytes, 0, 1},           {"rate", StateKind::kReal, 1, 1}};
  return index;
}
const std::string kPayload = "wwwwwwwwwwwwSSSSSiiiiiiiirrrrrrrr";

std::vector<std::byte> written(const std::string& path) {
  CheckpointWriter writer(path, example());
  writer.append(bytes_of(kPayload.substr(0, 12)));
  writer.append(bytes_of(kPayload.substr(12)));
  writer.commit();
  return read_file(path, 100'000);
}

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
  const std::string file = path("a");
  const auto bytes = written(file);
  const CheckpointContent content = parse_checkpoint(bytes, file);
  const CheckpointIndex expected = example();
  EXPECT_EQ(content.index.meta.step, 123);
  EXPECT_EQ(content.index.meta.epoch, 1.25);
  EXPECT_EQ(content.index.meta.workers, 2);
  EXPECT_EQ(content.index.meta.config, expected.meta.config);
  ASSERT_EQ(content.index.entries.size(), expected.entries.size());
  for (std::size_t i = 0; i < expected.entries.size(); ++i) {
    EXPECT_EQ(content.index.entries[i].name, expected.entries[i].name);
    EXPECT_EQ(content.index.entries[i].kind, expected.entries[i].kind);
    EXPECT_EQ(content.index.entries[i].count, expected.entries[i].count);
    EXPECT_EQ(content.index.entries[i].rank, expected.entries[i].rank);
  }
  const auto part = content.index.part(1);
  EXPECT_EQ(part.begin, 17u);
  EXPECT_EQ(part.size, 16u);
  const auto values = content.index.values(1, content.payload.subspan(part.begin, part.size));
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[2].name, "rate");
  EXPECT_EQ(std::memcmp(values[2].bytes.data(), "rrrrrrrr", 8), 0);
}

TEST_F(CheckpointFile, EveryCutIsNoticedAndTheFileNamed) {
  const auto bytes = written(path("a"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A copy of its own size, so that a sanitizer sees a read beyond it.
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_THAT([&] { parse_checkpoint(cut, "x.ckpt"); },
                ThrowsMessage<DataError>(HasSubstr("x.ckpt")))
        << size;
  }
}

TEST_F(CheckpointFile, EveryChangedByteIsNoticed) {
  auto bytes = written(path("a"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const std::byte change : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      bytes[at] ^= change;
      ASSERT_THROW(parse_checkpoint(bytes, "x.ckpt"), DataError) << at;
      bytes[at] ^= change;
    }
  }
}

// With its checksum made right again, a change gets as far as the header: still an error or a
// checkpoint, never a crash or an allocation of what the file only claims to hold.
TEST_F(CheckpointFile, AForgedFileDoesNoHarm) {
  auto bytes = written(path("a"));
  const auto body = std::span(bytes).first(bytes.size() - sizeof(Sha256Digest));
  for (std::size_t at = 0; at < body.size(); ++at) {
    for (const std::byte change : {std::byte{1}, std::byte{0x10}, std::byte{0x80}}) {
      body[at] ^= change;
      const Sha256Digest digest = sha256(body);
      std::memcpy(bytes.data() + body.size(), digest.data(), digest.size());
      try {
        const auto content = parse_checkpoint(bytes, "x.ckpt");
        for (int rank = kEveryRank; rank < content.index.meta.workers && rank < 4; ++rank) {
          const auto part = content.index.part(rank);
          content.index.values(rank, content.payload.subspan(part.begin, part.size));
        }
      } catch (const DataError&) {
      }
      body[at] ^= change;
    }
  }
}

TEST_F(CheckpointFile, SaysWhatIsWrong) {
  const auto says = [](const std::vector<std::byte>& bytes, const std::string& reason) {
    EXPECT_THAT([&] { parse_checkpoint(bytes, "x.ckpt"); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("x.ckpt"), HasSubstr(reason))));
  };
  const std::string good = R"({"name":"a","kind":"floats","count":1,"rank":"all","offset":0})";
  EXPECT_NO_THROW(parse_checkpoint(file_with(header_with(good), "1234"), "x.ckpt"));
  says(bytes_of("PK\3\4 something else"), "is not a checkpoint");
  says(file_with(header_with(good), "1234", 2), "version 2");
  says(file_with(header_with(good), "1234", 1, 5), "longer than the file");
  says(file_with(header_with(good), "1234", 1, std::uint64_t{1} << 63), "longer than the file");
  says(file_with("{\"step\":", ""), "not a JSON object");
  says(file_with(std::string(100'000, '['), ""), "not a JSON object");
  says(file_with("{\"step\":-1}", ""), "\"step\"");
  says(file_with("{\"step\":1}", ""), "\"epoch\"");
  says(file_with(header_with(good), "12345"), "belong to no value");
  says(file_with(header_with(good), "123"), "\"a\" is not where it should be");
  says(file_with(header_with(good + "," + good), "12341234"), "not where");
  const auto entry = [](const std::string& kind, const std::string& count, const std::string& rank,
                        const std::string& offset) {
    return R"({"name":"a","kind":")" + kind + R"(","count":)" + count + R"(,"rank":)" + rank +
           R"(,"offset":)" + offset + "}";
  };
  says(file_with(header_with(entry("floats", "4611686018427387905", "0", "0")), "1234"),
       "\"count\"");
  says(file_with(header_with(entry("bytes", "18446744073709551615", "0", "0")), "1234"),
       "not where");
  says(file_with(header_with(entry("bytes", "4", "2", "0")), "1234"), "\"rank\"");
  says(file_with(header_with(entry("bytes", "4", "-1", "0")), "1234"), "\"rank\"");
  says(file_with(header_with(entry("bytes", "4", "0", "1")), "1234"), "not where");
  says(file_with(header_with(entry("doubles", "4", "0", "0")), "1234"), "kind");
  says(file_with(header_with(entry("real", "2", "0", "0")), std::string(16, 'x')), "several");
  says(file_with(header_with(entry("bytes", "2", "0", "0") + "," + entry("bytes", "2", "0", "2")),
                 "1234"),
       "two values \"a\"");
}

TEST_F(CheckpointFile, AnUnfinishedOneIsNotThere) {
  const std::string file = path("a");
  {
    CheckpointWriter writer(file, example());
    writer.append(bytes_of(kPayload.substr(0, 12)));
    EXPECT_THROW(writer.commit(), InternalError);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace lockstep
