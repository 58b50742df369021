// data/tokenizer/added_tokens.h
//
// Tokens that are found in a text as they are written, before anything else is
// done with it.
#ifndef SKERRY_DATA_TOKENIZER_ADDED_TOKENS_H_
#define SKERRY_DATA_TOKENIZER_ADDED_TOKENS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace skerry::data {

struct AddedToken {
  std::string content;
  int32_t token = 0;
  // Left out of decoded text on request.
  bool special = false;
  // Looked for only in what the others leave.
  bool normalized = false;
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

class AddedTokenFinder {
 public:
  struct Match {
    size_t begin = 0;
    size_t end = 0;
    int32_t token = 0;
    friend bool operator==(const Match&, const Match&) = default;
  };

  AddedTokenFinder() = default;
  // Requires: contents are not empty.
  explicit AddedTokenFinder(const std::vector<AddedToken>& tokens);

  // The first match at or after `from`, the longest of those that begin there.
  std::optional<Match> Next(std::string_view text, size_t from) const;

 private:
  absl::flat_hash_map<std::string, int32_t> tokens_;
  // By first byte, the lengths of the contents that begin with it, descending
  // and without repeats.
  std::array<std::vector<size_t>, 256> lengths_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_ADDED_TOKENS_H_
