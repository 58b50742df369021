#include "data/ngram_entropy.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/check.h"

namespace skerry::data {
namespace {

constexpr size_t kBytes = 256;

}  // namespace

NgramMeter::NgramMeter()
    : one_(kBytes),
      two_(kBytes * kBytes),
      three_(static_cast<uint32_t*>(
          std::calloc(kBytes * kBytes * kBytes, sizeof(uint32_t)))),
      after_one_(kBytes),
      after_two_(kBytes * kBytes) {
  SKERRY_CHECK(three_ != nullptr);
}

void NgramMeter::Context::Push(size_t c) {
  a = b;
  b = c;
  ++bytes;
}

void NgramMeter::Train(std::string_view piece) {
  for (const char byte : piece) {
    const size_t c = static_cast<unsigned char>(byte);
    ++one_[c];
    if (trained_.bytes >= 1) {
      ++two_[trained_.b * kBytes + c];
      ++after_one_[trained_.b];
    }
    if (trained_.bytes >= 2) {
      const size_t ab = trained_.a * kBytes + trained_.b;
      ++three_[ab * kBytes + c];
      ++after_two_[ab];
    }
    trained_.Push(c);
  }
}

void NgramMeter::HoldOut(std::string_view piece) {
  for (const char byte : piece) {
    const size_t c = static_cast<unsigned char>(byte);
    if (held_out_.bytes >= 2) {
      sum_.bigram -= std::log(Bigram(held_out_.b, c));
      sum_.trigram -= std::log(Trigram(held_out_.a, held_out_.b, c));
    }
    held_out_.Push(c);
  }
}

double NgramMeter::Bigram(size_t b, size_t c) const {
  const double unigram =
      (one_[c] + 1.0) / (static_cast<double>(trained_.bytes) + kBytes);
  return (two_[b * kBytes + c] + kNgramPriorCount * unigram) /
         (after_one_[b] + kNgramPriorCount);
}

double NgramMeter::Trigram(size_t a, size_t b, size_t c) const {
  const size_t ab = a * kBytes + b;
  return (three_[ab * kBytes + c] + kNgramPriorCount * Bigram(b, c)) /
         (after_two_[ab] + kNgramPriorCount);
}

absl::StatusOr<NgramEntropy> NgramMeter::Measure() const {
  if (trained_.bytes == 0 || trained_.bytes > UINT32_MAX) {
    return absl::InvalidArgumentError(
        "n-gram entropy needs between 1 byte and 4 GiB of training text");
  }
  if (held_out_.bytes < 3) {
    return absl::InvalidArgumentError(
        "n-gram entropy needs at least 3 bytes of held-out text");
  }
  const double measured = static_cast<double>(held_out_.bytes - 2);
  return NgramEntropy{sum_.bigram / measured, sum_.trigram / measured};
}

}  // namespace skerry::data
