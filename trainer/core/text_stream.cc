#include "trainer/core/text_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace skerry::trainer {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
// A character has at most four bytes, so at most three are there before it is
// whole.
constexpr int kHeldMax = 3;
// Tokens that are decoded again for the next one's sake.
constexpr size_t kTokensMin = 8;
// A model may go on for ever with what has no text of its own.
constexpr size_t kTokensMax = 256;

// Where what is held back begins.
size_t HeldFrom(std::string_view text) {
  for (int i = 0; i < kHeldMax && text.ends_with(kReplacement); ++i) {
    text.remove_suffix(kReplacement.size());
  }
  return text.size();
}

}  // namespace

absl::StatusOr<TextStream> TextStream::After(std::span<const int32_t> prompt,
                                             data::TextCodec& codec) {
  TextStream stream;
  stream.whole_ = prompt.size();
  stream.from_ = prompt.size() - std::min(prompt.size(), kTokensMin);
  SKERRY_ASSIGN_OR_RETURN(stream.given_,
                          codec.Decode(prompt.subspan(stream.from_)));
  return stream;
}

absl::StatusOr<std::string> TextStream::Add(std::span<const int32_t> tokens,
                                            data::TextCodec& codec) {
  SKERRY_ASSIGN_OR_RETURN(const std::string all,
                          codec.Decode(tokens.subspan(from_)));
  const size_t begin = std::min(given_.size(), all.size());
  const size_t end = std::max(begin, HeldFrom(all));
  std::string added = all.substr(begin, end - begin);
  given_ += added;
  held_ = all.substr(end);
  if (!held_.empty()) return added;
  const size_t whole = std::exchange(whole_, tokens.size());
  if (tokens.size() - from_ < kTokensMin) return added;
  SKERRY_ASSIGN_OR_RETURN(std::string own, codec.Decode(tokens.subspan(whole)));
  // Behind nothing the codec would take the next token for a text's first.
  if (own.empty() && tokens.size() - from_ < kTokensMax) return added;
  from_ = whole;
  given_ = std::move(own);
  return added;
}

}  // namespace skerry::trainer
