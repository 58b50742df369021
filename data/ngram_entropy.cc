#include "data/ngram_entropy.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace skerry::data {
namespace {

constexpr size_t kBytes = 256;

size_t Byte(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

class Counts {
 public:
  explicit Counts(std::string_view text)
      : total_(static_cast<double>(text.size())),
        one_(kBytes),
        two_(kBytes * kBytes),
        three_(kBytes * kBytes * kBytes),
        after_one_(kBytes),
        after_two_(kBytes * kBytes) {
    for (size_t i = 0; i < text.size(); ++i) {
      const size_t c = Byte(text, i);
      ++one_[c];
      if (i < 1) continue;
      const size_t b = Byte(text, i - 1);
      ++two_[b * kBytes + c];
      ++after_one_[b];
      if (i < 2) continue;
      const size_t ab = Byte(text, i - 2) * kBytes + b;
      ++three_[ab * kBytes + c];
      ++after_two_[ab];
    }
  }

  double Bigram(size_t b, size_t c) const {
    const double unigram = (one_[c] + 1.0) / (total_ + kBytes);
    return (two_[b * kBytes + c] + kNgramPriorCount * unigram) /
           (after_one_[b] + kNgramPriorCount);
  }

  double Trigram(size_t a, size_t b, size_t c) const {
    const size_t ab = a * kBytes + b;
    return (three_[ab * kBytes + c] + kNgramPriorCount * Bigram(b, c)) /
           (after_two_[ab] + kNgramPriorCount);
  }

 private:
  double total_;
  std::vector<uint32_t> one_;
  std::vector<uint32_t> two_;
  std::vector<uint32_t> three_;
  std::vector<uint32_t> after_one_;
  std::vector<uint32_t> after_two_;
};

}  // namespace

absl::StatusOr<NgramEntropy> MeasureNgramEntropy(std::string_view training,
                                                 std::string_view held_out) {
  if (training.empty() || training.size() > UINT32_MAX) {
    return absl::InvalidArgumentError(
        "n-gram entropy needs between 1 byte and 4 GiB of training text");
  }
  if (held_out.size() < 3) {
    return absl::InvalidArgumentError(
        "n-gram entropy needs at least 3 bytes of held-out text");
  }
  const Counts counts(training);
  NgramEntropy sum;
  for (size_t i = 2; i < held_out.size(); ++i) {
    const size_t a = Byte(held_out, i - 2);
    const size_t b = Byte(held_out, i - 1);
    const size_t c = Byte(held_out, i);
    sum.bigram -= std::log(counts.Bigram(b, c));
    sum.trigram -= std::log(counts.Trigram(a, b, c));
  }
  const double measured = static_cast<double>(held_out.size() - 2);
  return NgramEntropy{sum.bigram / measured, sum.trigram / measured};
}

}  // namespace skerry::data
