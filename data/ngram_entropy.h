// data/ngram_entropy.h
//
// Measures how well the one or two bytes before a byte predict it. A trained
// model has to do better.
#ifndef SKERRY_DATA_NGRAM_ENTROPY_H_
#define SKERRY_DATA_NGRAM_ENTROPY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::data {

// Cross-entropies of held-out text in nats a byte. A bigram model sees one
// byte of context, a trigram model two; both are averaged over the bytes of
// the held-out text from its third on, so they compare on the same bytes.
struct NgramEntropy {
  double bigram = 0;
  double trigram = 0;
};

// Counts are taken on `training` and smoothed by interpolation with the next
// shorter context, weighted as kNgramPriorCount imagined bytes (a Dirichlet
// prior, MacKay and Peto 1995), down to a unigram model with one imagined
// byte of each value:
//   p1(c)     = (n(c) + 1) / (N + 256)
//   p2(c|b)   = (n(bc) + k p1(c)) / (n(b.) + k)
//   p3(c|ab)  = (n(abc) + k p2(c|b)) / (n(ab.) + k)
// where n(b.) counts b with a byte after it, and k = kNgramPriorCount.
//
// Both texts come in pieces of any size, the training text first.
inline constexpr double kNgramPriorCount = 4;
class NgramMeter {
 public:
  // Takes up to 64 MiB of memory: for a text of few different characters only a
  // little of it.
  NgramMeter();
  void Train(std::string_view piece);
  void HoldOut(std::string_view piece);
  // Errors: InvalidArgument when the training text is empty or above 4 GiB, or
  // the held-out text is shorter than three bytes.
  absl::StatusOr<NgramEntropy> Measure() const;

 private:
  // The two bytes before the next one, and how many there were.
  struct Context {
    size_t a = 0;
    size_t b = 0;
    uint64_t bytes = 0;
    void Push(size_t c);
  };
  double Bigram(size_t b, size_t c) const;
  double Trigram(size_t a, size_t b, size_t c) const;

  std::vector<uint32_t> one_;
  std::vector<uint32_t> two_;
  struct Free {
    void operator()(uint32_t* counts) const { std::free(counts); }
  };
  // Pages of zeros that nothing is counted in take no memory.
  std::unique_ptr<uint32_t[], Free> three_;
  std::vector<uint32_t> after_one_;
  std::vector<uint32_t> after_two_;
  Context trained_;
  Context held_out_;
  NgramEntropy sum_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_NGRAM_ENTROPY_H_
