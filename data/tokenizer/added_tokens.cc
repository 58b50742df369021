#include "data/tokenizer/added_tokens.h"

#include <algorithm>
#include <functional>

#include "absl/strings/string_view.h"
#include "base/check.h"

namespace skerry::data {

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& added : tokens) {
    SKERRY_CHECK(!added.content.empty());
    tokens_[added.content] = added.token;
    lengths_[static_cast<uint8_t>(added.content[0])].push_back(
        added.content.size());
  }
  for (std::vector<size_t>& lengths : lengths_) {
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  }
}

std::optional<AddedTokenFinder::Match> AddedTokenFinder::Next(
    std::string_view text, size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (size_t at = from; at < text.size(); ++at) {
    for (const size_t length : lengths_[static_cast<uint8_t>(text[at])]) {
      if (length > text.size() - at) continue;
      const auto found =
          tokens_.find(absl::string_view(text.data() + at, length));
      if (found != tokens_.end()) {
        return Match{at, at + length, found->second};
      }
    }
  }
  return std::nullopt;
}

}  // namespace skerry::data
