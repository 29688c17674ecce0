// Any text as sequences of characters (bytes): a window of `length` characters, of which each is to
// predict the next. The vocabulary is the bytes that occur, in order of their value.
#include <array>
#include <limits>

#include "lockstep/data/dataset.h"
#include "lockstep/data/files.h"

namespace lockstep {
namespace {

class Text : public DatasetSource {
 public:
  explicit Text(const Options& options)
      : file_(options.text("file")),
        length_(static_cast<std::size_t>(options.integer("length"))),
        stride_(static_cast<std::size_t>(options.integer("stride"))),
        test_(options.real("test")) {
    if (stride_ == 0) stride_ = length_;
  }

  std::shared_ptr<const Dataset> load() const override {
    if (file_.empty()) {
      throw ConfigError("data set \"text\" needs the option file, such as file=book.txt");
    }
    const FileBytes text = read_file(file_);
    if (text.size() < length_ + 1) {
      throw DataError("{} has {} characters; a sample of length {} needs {}", file_, text.size(),
                      length_, length_ + 1);
    }
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "text";
    dataset->stride = stride_;
    dataset->samples = (text.size() - length_ - 1) / stride_ + 1;
    if (dataset->samples > std::numeric_limits<SampleId>::max()) {
      throw DataError("{} gives {} samples, more than can be numbered; use a larger stride", file_,
                      dataset->samples);
    }
    const auto test = static_cast<std::size_t>(test_ * static_cast<double>(dataset->samples));
    dataset->first_test = dataset->samples - test;

    std::array<bool, 256> occurs{};
    for (const auto byte : text) occurs[byte] = true;
    std::array<std::uint8_t, 256> number{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (!occurs[byte]) continue;
      number[byte] = static_cast<std::uint8_t>(dataset->class_names.size());
      dataset->class_names.emplace_back(1, static_cast<char>(byte));
    }
    const auto vocabulary = static_cast<std::int64_t>(dataset->class_names.size());
    dataset->shape = {
        DataShape::Kind::kTokens, {static_cast<std::int64_t>(length_)}, vocabulary, vocabulary};
    AlignedVector<std::uint8_t> tokens(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) tokens[i] = number[text[i]];
    dataset->values = std::move(tokens);
    return dataset;
  }

 private:
  std::string file_;
  std::size_t length_, stride_;
  double test_;
};

OptionSet text_options() {
  OptionSet options;
  options.text("file", "", "the text, in any encoding: a character is a byte");
  options.integer("length", 64, "characters of a sample").at_least(1).at_most(1 << 20);
  options.integer("stride", 0, "characters from a sample to the next; 0 takes the length")
      .at_least(0)
      .at_most(1 << 20);
  options.real("test", 0.1, "share of the samples, at the end, that are the test set")
      .at_least(0)
      .at_most(0.9);
  return options;
}

const Registration<DatasetSource> kText{
    "text", "Your own text as sequences of characters.", text_options(),
    [](const Options& options) { return std::make_unique<Text>(options); }};

}  // namespace
}  // namespace lockstep
