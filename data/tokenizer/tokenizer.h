// data/tokenizer/tokenizer.h
//
// Byte-level byte-pair tokenizers of the kinds that GPT-2, Llama 3 and Qwen 2
// have: text to tokens and back. Every text has tokens, and decoding them gives
// its bytes again, or those of its normal form where the tokenizer has one.
#ifndef SKERRY_DATA_TOKENIZER_TOKENIZER_H_
#define SKERRY_DATA_TOKENIZER_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/added_tokens.h"
#include "data/tokenizer/bpe_model.h"
#include "data/tokenizer/split_pattern.h"

namespace skerry::data {

class Tokenizer {
 public:
  struct Parts {
    // Text between added tokens is brought into Normalization Form C first.
    bool normalizes = false;
    SplitPattern pattern = SplitPattern::kGpt2;
    // A space goes before text that does not begin with one: the whole, and
    // what follows an added token.
    bool add_prefix_space = false;
    std::vector<AddedToken> added;
    BpeModel::Parts model;
    // By token; none where a number is no token.
    std::vector<std::optional<std::string>> token_bytes;
    // What a whole text's tokens stand between.
    std::vector<int32_t> prefix;
    std::vector<int32_t> suffix;
    // What a user should know of how the file was read; a line each.
    std::vector<std::string> notes;
  };
  // Errors: those of BpeModel::Create. Requires: every token that is named has
  // bytes.
  static absl::StatusOr<Tokenizer> Create(Parts parts);

  // One more than the largest token.
  int vocab_size() const { return static_cast<int>(token_bytes_.size()); }
  // False for a number that no token has, inside the vocabulary or not.
  bool IsToken(int32_t token) const {
    return token >= 0 && token < vocab_size() &&
           token_bytes_[static_cast<size_t>(token)].has_value();
  }
  const std::vector<AddedToken>& added() const { return added_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::span<const int32_t> prefix() const { return prefix_; }
  std::span<const int32_t> suffix() const { return suffix_; }
  // The added token that is written so.
  std::optional<int32_t> FindAdded(std::string_view content) const;

  // From now on a text that is written like a special token is text.
  void TakeSpecialsAsText();

  // Whether it is an added token that stands for no text. Requires: it lies in
  // [0, vocab_size()).
  bool IsSpecial(int32_t token) const {
    return is_special_[static_cast<size_t>(token)];
  }

  // The first place from `at` on where `text` can be cut and encoded apart;
  // its end when there is none.
  size_t PartEnd(std::string_view text, size_t at) const;

  enum class Specials { kKeep, kLeaveOut };
  // The text of `tokens`, which may end inside a character. Errors:
  // InvalidArgument when one is no token.
  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens,
                                     Specials specials) const;

 private:
  friend class TextEncoder;
  Tokenizer(Parts parts, BpeModel model);

  bool normalizes_;
  SplitPattern pattern_;
  bool add_prefix_space_;
  bool has_parts_;
  std::vector<AddedToken> added_;
  AddedTokenFinder early_;
  AddedTokenFinder late_;
  BpeModel model_;
  std::vector<std::optional<std::string>> token_bytes_;
  std::vector<bool> is_special_;
  std::vector<int32_t> prefix_;
  std::vector<int32_t> suffix_;
  std::vector<std::string> notes_;
};

// Encodes texts one after another, and remembers pieces it has met. One thread
// uses it at a time; several may share the tokenizer, which outlives it.
class TextEncoder {
 public:
  explicit TextEncoder(const Tokenizer& tokenizer);

  // Appends the tokens of `text`, without prefix and suffix. Requires: shorter
  // than 4 GiB.
  void Append(std::string_view text, std::vector<int32_t>& tokens);
  std::vector<int32_t> Encode(std::string_view text);

 private:
  struct Remembered {
    uint32_t begin = 0;
    uint32_t count = 0;
  };

  // What lies between the added tokens that are looked for first.
  void AppendRest(std::string_view text, std::vector<int32_t>& tokens);
  void AppendPlain(std::string_view text, std::vector<int32_t>& tokens);
  void AppendPieces(std::string_view text, std::vector<int32_t>& tokens);
  void AppendPiece(std::string_view piece, std::vector<int32_t>& tokens);

  const Tokenizer& tokenizer_;
  BpeModel::Scratch scratch_;
  absl::flat_hash_map<std::string, Remembered> remembered_;
  // What `remembered_` points into.
  std::vector<int32_t> remembered_tokens_;
  std::string spaced_;
  std::string normalized_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_TOKENIZER_H_
