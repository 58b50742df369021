#include "data/tokenizer/tokenizer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status.h"
#include "data/tokenizer/nfc.h"

namespace skerry::data {
namespace {

// Text repeats its short pieces.
constexpr size_t kRememberedBytesMax = 24;
constexpr size_t kRememberedPiecesMax = 1 << 17;

// Those that are looked for before the text is normalized.
std::vector<AddedToken> Early(const std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> early;
  for (const AddedToken& token : tokens) {
    if (!token.normalized) early.push_back(token);
  }
  return early;
}

// The others, as they are written in a normalized text.
std::vector<AddedToken> Late(const std::vector<AddedToken>& tokens,
                             bool normalizes) {
  std::vector<AddedToken> late;
  for (const AddedToken& token : tokens) {
    if (!token.normalized) continue;
    late.push_back(token);
    if (normalizes) late.back().content = ToNfc(token.content);
  }
  return late;
}

// Whether it could lie on both sides of what IsFirmEnd tells.
bool IsWide(const std::string& content) {
  const std::string_view text = content;
  return text.find(' ', 1) != text.npos ||
         text.substr(0, text.size() - 1).find('\n') != text.npos;
}

// Hands over what `finder` finds in `text`, and what lies between.
template <typename Between, typename Found>
void Walk(const AddedTokenFinder& finder, std::string_view text,
          Between between, Found found) {
  size_t at = 0;
  while (const auto match = finder.Next(text, at)) {
    if (match->begin > at) between(text.substr(at, match->begin - at));
    found(match->token);
    at = match->end;
  }
  if (at < text.size()) between(text.substr(at));
}

}  // namespace

absl::StatusOr<Tokenizer> Tokenizer::Create(Parts parts) {
  SKERRY_ASSIGN_OR_RETURN(BpeModel model,
                          BpeModel::Create(std::move(parts.model)));
  return Tokenizer(std::move(parts), std::move(model));
}

Tokenizer::Tokenizer(Parts parts, BpeModel model)
    : normalizes_(parts.normalizes),
      pattern_(parts.pattern),
      add_prefix_space_(parts.add_prefix_space),
      has_parts_(!parts.add_prefix_space),
      added_(std::move(parts.added)),
      early_(Early(added_)),
      late_(Late(added_, normalizes_)),
      model_(std::move(model)),
      token_bytes_(std::move(parts.token_bytes)),
      is_special_(token_bytes_.size()),
      prefix_(std::move(parts.prefix)),
      suffix_(std::move(parts.suffix)),
      notes_(std::move(parts.notes)) {
  for (const AddedToken& token : added_) {
    const auto index = static_cast<size_t>(token.token);
    SKERRY_CHECK(index < token_bytes_.size() &&
                 token_bytes_[index].has_value());
    is_special_[index] = token.special;
    if (IsWide(token.content)) has_parts_ = false;
  }
}

std::optional<int32_t> Tokenizer::FindAdded(std::string_view content) const {
  for (const AddedToken& token : added_) {
    if (token.content == content) return token.token;
  }
  return std::nullopt;
}

void Tokenizer::TakeSpecialsAsText() {
  std::vector<AddedToken> others;
  std::copy_if(added_.begin(), added_.end(), std::back_inserter(others),
               [](const AddedToken& token) { return !token.special; });
  early_ = AddedTokenFinder(Early(others));
  late_ = AddedTokenFinder(Late(others, normalizes_));
}

size_t Tokenizer::PartEnd(std::string_view text, size_t at) const {
  if (!has_parts_ || pattern_ == SplitPattern::kWhole) return text.size();
  while (at < text.size() && !IsFirmEnd(pattern_, text, at)) ++at;
  return std::min(at, text.size());
}

absl::StatusOr<std::string> Tokenizer::Decode(std::span<const int32_t> tokens,
                                              Specials specials) const {
  std::string text;
  for (const int32_t token : tokens) {
    const auto index = static_cast<size_t>(token);
    if (!IsToken(token)) {
      return absl::InvalidArgumentError(
          absl::StrCat(token, " is not a token of this tokenizer"));
    }
    if (specials == Specials::kLeaveOut && is_special_[index]) continue;
    text += *token_bytes_[index];
  }
  return text;
}

TextEncoder::TextEncoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

std::vector<int32_t> TextEncoder::Encode(std::string_view text) {
  std::vector<int32_t> tokens;
  Append(text, tokens);
  return tokens;
}

void TextEncoder::Append(std::string_view text, std::vector<int32_t>& tokens) {
  const auto found = [&](int32_t token) { tokens.push_back(token); };
  Walk(
      tokenizer_.early_, text,
      [&](std::string_view rest) { AppendRest(rest, tokens); }, found);
}

void TextEncoder::AppendRest(std::string_view text,
                             std::vector<int32_t>& tokens) {
  if (tokenizer_.normalizes_ && !IsNfc(text)) {
    normalized_ = ToNfc(text);
    text = normalized_;
  }
  Walk(
      tokenizer_.late_, text,
      [&](std::string_view plain) { AppendPlain(plain, tokens); },
      [&](int32_t token) { tokens.push_back(token); });
}

void TextEncoder::AppendPlain(std::string_view text,
                              std::vector<int32_t>& tokens) {
  if (!tokenizer_.add_prefix_space_ || text[0] == ' ') {
    AppendPieces(text, tokens);
    return;
  }
  spaced_.assign(" ").append(text);
  AppendPieces(spaced_, tokens);
}

void TextEncoder::AppendPieces(std::string_view text,
                               std::vector<int32_t>& tokens) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = PieceEnd(tokenizer_.pattern_, text, at);
    AppendPiece(text.substr(at, end - at), tokens);
    at = end;
  }
}

void TextEncoder::AppendPiece(std::string_view piece,
                              std::vector<int32_t>& tokens) {
  if (piece.size() > kRememberedBytesMax) {
    tokenizer_.model_.Encode(piece, scratch_, tokens);
    return;
  }
  const absl::string_view key(piece.data(), piece.size());
  const auto found = remembered_.find(key);
  if (found != remembered_.end()) {
    const auto first = remembered_tokens_.begin() + found->second.begin;
    tokens.insert(tokens.end(), first, first + found->second.count);
    return;
  }
  const size_t before = tokens.size();
  tokenizer_.model_.Encode(piece, scratch_, tokens);
  if (remembered_.size() == kRememberedPiecesMax) {
    remembered_.clear();
    remembered_tokens_.clear();
  }
  remembered_.emplace(
      key, Remembered{static_cast<uint32_t>(remembered_tokens_.size()),
                      static_cast<uint32_t>(tokens.size() - before)});
  remembered_tokens_.insert(remembered_tokens_.end(),
                            tokens.begin() + static_cast<ptrdiff_t>(before),
                            tokens.end());
}

}  // namespace skerry::data
