// data/tokenizer/bpe_trainer.h
//
// Learns a byte-level byte-pair encoding from text: again and again, the most
// frequent pair of neighbouring tokens becomes a token. The result equals that
// of the `tokenizers` package's BpeTrainer on the same texts.
#ifndef SKERRY_DATA_TOKENIZER_BPE_TRAINER_H_
#define SKERRY_DATA_TOKENIZER_BPE_TRAINER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/split_pattern.h"

namespace skerry::data {

// How often each piece of some texts occurs.
class PieceCounter {
 public:
  explicit PieceCounter(SplitPattern pattern) : pattern_(pattern) {}
  void Add(std::string_view text);
  SplitPattern pattern() const { return pattern_; }
  const absl::flat_hash_map<std::string, uint64_t>& counts() const {
    return counts_;
  }

 private:
  SplitPattern pattern_;
  absl::flat_hash_map<std::string, uint64_t> counts_;
};

struct BpeTrainingOptions {
  // Special tokens, bytes and merges; fewer when the texts have no more pairs.
  int vocab_size = 0;
  // Pairs that are seen less often are not joined.
  uint64_t min_frequency = 0;
  // Get the first numbers, in this order.
  std::vector<std::string> specials;
};

struct LearnedBpe {
  SplitPattern pattern = SplitPattern::kGpt2;
  std::vector<std::string> specials;
  // By number: the special tokens, then bytes and merged bytes as
  // tokenizer.json writes them.
  std::vector<std::string> tokens;
  // Numbers of what is joined, the first first.
  std::vector<std::pair<int32_t, int32_t>> merges;
};

// Errors: InvalidArgument when the vocabulary has no room for bytes and special
// tokens, or is too large, or a special token is empty, there twice, or the
// name of a byte.
absl::StatusOr<LearnedBpe> TrainBpe(const PieceCounter& pieces,
                                    const BpeTrainingOptions& options);

// Returns the text of its tokenizer.json. With Llama 3's pattern a whole piece
// that is a token is taken as that token whatever the merges say, as there.
std::string TokenizerJson(const LearnedBpe& learned);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_BPE_TRAINER_H_
