#include "data/sentencepiece/text_cuts.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace skerry::data {
namespace {

// What stands for a space in pieces: U+2581.
constexpr std::string_view kMark = "\xe2\x96\x81";
constexpr uint8_t kMarkEnd = 0x81;

uint8_t ByteAt(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]);
}

// Rules of a normalizer as sentencepiece compiles them: the size of a double
// array, the array (Darts), and the texts that its values point to, each ended
// by a zero.
class RuleArray {
 public:
  explicit RuleArray(std::string_view charsmap) {
    uint32_t bytes = 0;
    if (charsmap.size() < sizeof(bytes)) return;
    std::memcpy(&bytes, charsmap.data(), sizeof(bytes));
    charsmap.remove_prefix(sizeof(bytes));
    if (bytes > charsmap.size()) return;
    units_ = charsmap.substr(0, bytes);
    texts_ = charsmap.substr(bytes);
  }

  size_t size() const { return units_.size() / sizeof(uint32_t); }
  std::string_view texts() const { return texts_; }
  // None where the place holds a value or nothing.
  std::optional<uint8_t> Label(size_t at) const {
    const uint32_t unit = Unit(at);
    const uint32_t label = unit & 0xff;
    if (unit >> 31 != 0 || label == 0) return std::nullopt;
    return static_cast<uint8_t>(label);
  }
  bool EndsRule(size_t at) const { return (Unit(at) >> 8 & 1) != 0; }
  // Where the rules go on with `byte` that have come to `at`.
  std::optional<size_t> Child(size_t at, uint8_t byte) const {
    const size_t child = First(at) ^ byte;
    if (child >= size() || Label(child) != byte) return std::nullopt;
    return child;
  }
  // What becomes of the rule that ends at `at`.
  std::string_view Text(size_t at) const {
    const size_t leaf = First(at);
    if (leaf >= size()) return {};
    const size_t begin = Unit(leaf) & 0x7fffffff;
    if (begin >= texts_.size()) return {};
    const std::string_view text = texts_.substr(begin);
    return text.substr(0, text.find('\0'));
  }

 private:
  uint32_t Unit(size_t at) const {
    uint32_t unit = 0;
    std::memcpy(&unit, units_.data() + at * sizeof(unit), sizeof(unit));
    return unit;
  }
  size_t First(size_t at) const {
    const uint32_t unit = Unit(at);
    return at ^ (size_t{unit >> 10} << ((unit & 0x200) >> 6));
  }

  std::string_view units_;
  std::string_view texts_;
};

}  // namespace

TextCuts::TextCuts(const SentencePieceModel& model)
    : adds_space_(model.add_dummy_prefix),
      trims_(model.remove_extra_whitespaces) {
  AddRules(model.charsmap);
  for (const SentencePieceModel::Piece& piece : model.pieces) AddPiece(piece);
  Conclude(model);
}

// Looks at every place of the array, whether or not a rule comes to it: that
// takes one pass, and what it finds too much forbids a cut too many.
void TextCuts::AddRules(std::string_view charsmap) {
  const RuleArray rules(charsmap);
  const auto make = [&](std::string_view part) {
    return rules.texts().find(part) != std::string_view::npos;
  };
  rules_write_mark_ = make(kMark);
  rules_end_wide_ = make(std::string_view("  \0", 3));
  for (size_t at = 1; at < rules.size(); ++at) {
    const std::optional<uint8_t> label = rules.Label(at);
    if (!label.has_value()) continue;
    if (rules.EndsRule(at)) ends_rule_.set(*label);
    if (rules.Child(at, ' ').has_value()) before_space_.set(*label);
    if (rules.Child(at, '\n').has_value()) before_feed_.set(*label);
    rules_have_feed_ = rules_have_feed_ || *label == '\n';
    if (*label != ' ' && *label != '\n') continue;
    for (unsigned byte = 1; byte < 256; ++byte) {
      if (!rules.Child(at, static_cast<uint8_t>(byte)).has_value()) continue;
      (*label == ' ' ? after_space_ : after_feed_).set(byte);
    }
  }
  if (rules.size() == 0) return;
  const auto alone = [&](uint8_t byte) -> std::optional<std::string_view> {
    const std::optional<size_t> at = rules.Child(0, byte);
    if (!at.has_value() || !rules.EndsRule(*at)) return std::nullopt;
    return rules.Text(*at);
  };
  rules_keep_space_ = alone(' ').value_or(" ") == " ";
  feed_becomes_space_ = alone('\n') == " ";
}

// A text that the normalizer takes as it is.
void TextCuts::AddRule(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    const uint8_t left = ByteAt(text, i - 1);
    const uint8_t right = ByteAt(text, i);
    if (right == ' ') before_space_.set(left);
    if (right == '\n') before_feed_.set(left);
    if (left == ' ') after_space_.set(right);
    if (left == '\n') after_feed_.set(right);
  }
  if (!text.empty()) ends_rule_.set(ByteAt(text, text.size() - 1));
}

void TextCuts::AddPiece(const SentencePieceModel::Piece& piece) {
  const std::string_view text = piece.text;
  if (piece.kind == PieceKind::kUserDefined) {
    AddRule(text);
    // The normalizer finds it before the rule.
    if (text == "\n") feed_becomes_space_ = false;
  }
  // The others are never found in a text.
  const bool is_in_texts = piece.kind == PieceKind::kNormal ||
                           piece.kind == PieceKind::kUserDefined ||
                           piece.kind == PieceKind::kUnused;
  if (!is_in_texts) return;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\n') piece_before_feed_.set(ByteAt(text, i - 1));
    if (text.substr(i, kMark.size()) == kMark &&
        !text.substr(0, i).ends_with(kMark)) {
      marks_lead_ = false;
    }
  }
  if (piece.kind == PieceKind::kUnused) return;
  has_mark_piece_ = has_mark_piece_ || text == kMark;
  has_feed_piece_ = has_feed_piece_ || text == "\n";
}

void TextCuts::Conclude(const SentencePieceModel& model) {
  // A model of words joins unknown ones that follow one another.
  const bool falls_apart = model.algorithm != PieceAlgorithm::kWord &&
                           !model.whitespace_is_suffix &&
                           model.escape_whitespaces && !rules_write_mark_;
  has_space_cuts_ = falls_apart && marks_lead_ && has_mark_piece_ &&
                    rules_keep_space_ && (adds_space_ || !trims_);
  // Unknown characters that follow one another are one token, so what is after
  // the cut has to be known.
  const bool is_feed_known = has_feed_piece_ || model.byte_fallback;
  const bool is_space_apart =
      !adds_space_ || (has_mark_piece_ && !piece_before_feed_.test(kMarkEnd));
  has_feed_cuts_ = falls_apart && is_feed_known && is_space_apart &&
                   !feed_becomes_space_ && !rules_have_feed_;
}

size_t TextCuts::Next(std::string_view text, size_t at) const {
  if (!has_space_cuts_ && !has_feed_cuts_) return text.size();
  MarkSearch marks;
  while (at < text.size() && !IsCut(text, at, marks)) ++at;
  return std::min(at, text.size());
}

bool TextCuts::MarkSearch::FindBefore(std::string_view text, size_t at) {
  // A mark may lie across where the search before this ended.
  const size_t begin = searched - std::min(searched, kMark.size() - 1);
  found = found ||
          text.substr(begin, at - begin).find(kMark) != std::string_view::npos;
  searched = at;
  return found;
}

bool TextCuts::IsCut(std::string_view text, size_t at,
                     MarkSearch& marks) const {
  const bool is_feed = text[at] == '\n';
  if (!is_feed && text[at] != ' ') return false;
  // The library would take it for a space that it can leave out.
  if (text.substr(0, at).ends_with(kMark)) return false;
  if (is_feed && !feed_becomes_space_) return IsFeedCut(text, at);
  return IsSpaceCut(text, at, marks);
}

// The space becomes a mark. Where spaces are trimmed, those before it are left
// out, here and in the whole; but here with any marks that are written before
// them, and in the whole without those that one rule writes together. Elsewhere
// there must be none before it.
bool TextCuts::IsSpaceCut(std::string_view text, size_t at,
                          MarkSearch& marks) const {
  if (!has_space_cuts_ || at + 1 >= text.size()) return false;
  const uint8_t before = ByteAt(text, at - 1);
  const uint8_t after = ByteAt(text, at + 1);
  const bool is_feed = text[at] == '\n';
  if ((is_feed ? before_feed_ : before_space_).test(before) ||
      (is_feed ? after_feed_ : after_space_).test(after)) {
    return false;
  }
  if (before != ' ' && !ends_rule_.test(before)) return true;
  return trims_ && !rules_end_wide_ && !marks.FindBefore(text, at);
}

// The line feed stays one, and what is before it is what it was.
bool TextCuts::IsFeedCut(std::string_view text, size_t at) const {
  const uint8_t before = ByteAt(text, at - 1);
  return has_feed_cuts_ && before != ' ' && !before_feed_.test(before) &&
         !ends_rule_.test(before) && !piece_before_feed_.test(before);
}

TextCuts::Beginning TextCuts::BeginningOf(std::string_view part) const {
  if (!adds_space_) return {};
  if (part[0] == '\n' && !feed_becomes_space_) return {.drops_first = true};
  return {.skipped = 1};
}

}  // namespace skerry::data
