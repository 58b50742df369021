#include "data/ngram_entropy.h"

#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

// Occurrences of `pattern` in `text`, those that overlap included.
double CountOf(const std::string& text, const std::string& pattern) {
  double count = 0;
  for (size_t at = text.find(pattern); at != std::string::npos;
       at = text.find(pattern, at + 1)) {
    ++count;
  }
  return count;
}

// The formulas of the header, by searching the text.
double P1(const std::string& text, const std::string& c) {
  return (CountOf(text, c) + 1) / (static_cast<double>(text.size()) + 256);
}
double P2(const std::string& text, const std::string& bc) {
  const std::string last = bc.substr(1);
  const double context =
      CountOf(text.substr(0, text.size() - 1), bc.substr(0, 1));
  return (CountOf(text, bc) + 4 * P1(text, last)) / (context + 4);
}
double P3(const std::string& text, const std::string& abc) {
  const double context =
      CountOf(text.substr(0, text.size() - 1), abc.substr(0, 2));
  return (CountOf(text, abc) + 4 * P2(text, abc.substr(1))) / (context + 4);
}

// In pieces, as long texts come.
absl::StatusOr<NgramEntropy> MeasureNgramEntropy(std::string_view training,
                                                 std::string_view held_out) {
  NgramMeter meter;
  for (size_t at = 0; at < training.size(); at += 7) {
    meter.Train(training.substr(at, 7));
  }
  for (size_t at = 0; at < held_out.size(); at += 3) {
    meter.HoldOut(held_out.substr(at, 3));
  }
  return meter.Measure();
}

std::string RandomText(Random& random, size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = "abc \xff"[random.Below(5)];
  return text;
}

TEST(NgramEntropyPropertyTest, AgreesWithSearchingTheText) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const std::string training = RandomText(random, 200);
    const std::string held_out = RandomText(random, 60) + "zz";
    double bigram = 0;
    double trigram = 0;
    for (size_t i = 2; i < held_out.size(); ++i) {
      bigram -= std::log(P2(training, held_out.substr(i - 1, 2)));
      trigram -= std::log(P3(training, held_out.substr(i - 2, 3)));
    }
    const double count = static_cast<double>(held_out.size() - 2);
    const auto measured = MeasureNgramEntropy(training, held_out);
    ASSERT_TRUE(measured.ok());
    EXPECT_NEAR(measured->bigram, bigram / count, 1e-9);
    EXPECT_NEAR(measured->trigram, trigram / count, 1e-9);
  }
}

// In "aabb" repeated, one byte of context leaves a coin toss and two decide.
TEST(NgramEntropyTest, EachContextGivesWhatItKnows) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "aabb";
  const auto measured = MeasureNgramEntropy(text, text.substr(0, 4000));
  ASSERT_TRUE(measured.ok());
  EXPECT_NEAR(measured->bigram, std::log(2.0), 1e-3);
  EXPECT_NEAR(measured->trigram, 0.0, 1e-3);
}

TEST(NgramEntropyTest, TooLittleTextIsAnError) {
  EXPECT_FALSE(MeasureNgramEntropy("", "abc").ok());
  EXPECT_FALSE(MeasureNgramEntropy("abc", "ab").ok());
}

}  // namespace
}  // namespace skerry::data
