// data/ngram_entropy.h
//
// How well the two bytes before a byte predict it: the yardstick a trained
// model has to beat.
#ifndef SKERRY_DATA_NGRAM_ENTROPY_H_
#define SKERRY_DATA_NGRAM_ENTROPY_H_

#include <string_view>

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
// Needs 64 MiB of memory. Errors: InvalidArgument when `training` is empty or
// above 4 GiB, or `held_out` is shorter than three bytes.
inline constexpr double kNgramPriorCount = 4;
absl::StatusOr<NgramEntropy> MeasureNgramEntropy(std::string_view training,
                                                 std::string_view held_out);

}  // namespace skerry::data

#endif  // SKERRY_DATA_NGRAM_ENTROPY_H_
