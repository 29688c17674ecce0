#include "lockstep/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/data/npy_header.h"
#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// As np.save writes it; `dictionary` as it stands in the file.
FileBytes npy(const std::string& dictionary, const FileBytes& elements, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const std::size_t size = dictionary.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(size >> (8 * i) & 255);
  FileBytes bytes = bytes_of(text + dictionary + "\n");
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}
std::string dictionary(const std::string& type, const std::string& shape,
                       const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

TEST(Npy, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, -2.5F, 3, 4, 5, 6};
  for (const NpyShape& shape : {NpyShape{6}, NpyShape{2, 3}, NpyShape{1, 2, 1, 3}}) {
    write_npy(folder / "a.npy", values, shape);
    const NpyArray array = read_npy(folder / "a.npy");
    EXPECT_EQ(array.shape, shape);
    const auto& read = std::get<AlignedVector<float>>(array.values);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), values.begin(), values.end()));
    // NumPy itself wants elements at a multiple of 64.
    EXPECT_EQ(make_npy_header({"<f4", false, shape}).size() % 64, 0U);
  }
}

TEST(Npy, ReadsEveryVersionAndType) {
  const TemporaryFolder folder;
  for (const int version : {1, 2, 3}) {
    put(folder / "a.npy", npy(dictionary("|u1", "(2, 2)"), {1, 2, 3, 4}, version));
    EXPECT_THAT(std::get<AlignedVector<std::uint8_t>>(read_npy(folder / "a.npy").values),
                ElementsAre(1, 2, 3, 4));
  }
  put(folder / "a.npy", npy(dictionary("<i8", "(1,)"), {254, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_THAT(std::get<AlignedVector<std::int64_t>>(read_npy(folder / "a.npy").values),
              ElementsAre(-2));
  // Keys in another order, other blanks, no comma at the end.
  put(folder / "a.npy",
      npy("{ \"shape\" : (1 , 2),'fortran_order':False,'descr':'|u1'}   ", {8, 9}));
  EXPECT_EQ(read_npy(folder / "a.npy").shape, (NpyShape{1, 2}));
}

TEST(Npy, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto error_of = [&](const FileBytes& bytes) {
    put(folder / "a.npy", bytes);
    return data_error([&] { read_npy(folder / "a.npy"); });
  };
  EXPECT_THAT(error_of(bytes_of("PK\x03\x04 something else")), HasSubstr("not a .npy file"));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(1,)"), {1}, 4)), HasSubstr("version 4.0"));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(2, 1)", "True"), {1, 2})), HasSubstr("Fortran"));
  EXPECT_THAT(error_of(npy(dictionary("<f8", "(1,)"), FileBytes(8))),
              AllOf(HasSubstr("<f8"), HasSubstr("float32")));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(3,)"), {1, 2})),
              AllOf(HasSubstr("(3,)"), HasSubstr("needs 3 bytes"), HasSubstr("has 2")));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(1,)"), {1, 2})), HasSubstr("has 2"));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(-1,)"), {1})), HasSubstr("header"));
  EXPECT_THAT(error_of(npy(dictionary("|u1", "(99999999999999999999,)"), {1})),
              HasSubstr("header"));
  EXPECT_THAT(error_of(npy("{'descr': '|u1', 'shape': (1,)}", {1})), HasSubstr("header"));
  EXPECT_THAT(error_of(npy("{'descr': [('a', '<f4')], 'shape': (1,)}", {1})), HasSubstr("header"));
}

TEST(Npy, ShapesThatOverflowAreRefusedBeforeMemoryIs) {
  const TemporaryFolder folder;
  for (const char* shape :
       {"(4294967296, 4294967296)", "(9223372036854775807, 2)", "(1099511627776, 16777216, 0)",
        "(9223372036854775807,)", "(2147483648, 2147483648, 4)"}) {
    put(folder / "a.npy", npy(dictionary("<f4", shape), {1, 2, 3, 4}));
    EXPECT_THAT(data_error([&] { read_npy(folder / "a.npy"); }), HasSubstr("a.npy is damaged"))
        << shape;
  }
}

TEST(Npy, DamageIsHarmless) {
  const TemporaryFolder folder;
  for (const int version : {1, 2}) {
    expect_damage_is_harmless(folder / "a.npy",
                              npy(dictionary("|u1", "(2, 3)"), {1, 2, 3, 4, 5, 6}, version),
                              [&] { read_npy(folder / "a.npy"); });
  }
}

}  // namespace
}  // namespace lockstep
