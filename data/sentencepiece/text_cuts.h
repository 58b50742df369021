// data/sentencepiece/text_cuts.h
//
// Finds places where a text can be cut so that the library makes the same
// tokens of the parts as of the whole.
#ifndef SKERRY_DATA_SENTENCEPIECE_TEXT_CUTS_H_
#define SKERRY_DATA_SENTENCEPIECE_TEXT_CUTS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/sentencepiece/model_file.h"

namespace skerry::data {

// A cut lies before a space or a line feed. No rule of the normalizer may reach
// across it, and no piece may lie on both sides, so that the library's own
// search can be cut there. The library treats the beginning of a text
// specially: it adds a space or removes spaces. These effects on the parts are
// undone or used.
//
// One difference remains. A unigram model sums scores in fp32 over everything
// that is encoded at a time. If two encodings are nearly equally likely, a long
// whole and its parts may come out differently.
class TextCuts {
 public:
  explicit TextCuts(const SentencePieceModel& model);

  // The first cut at or after `at`; the text's end when there is none.
  // Requires: at >= 2.
  size_t Next(std::string_view text, size_t at) const;

  // How to encode a part that begins at a cut.
  struct Beginning {
    // Bytes of the part that the library is not given, because it makes that
    // space itself.
    size_t skipped = 0;
    // Whether its first token is the space that the library makes.
    bool drops_first = false;
  };
  // Requires: `part` begins at a cut.
  Beginning BeginningOf(std::string_view part) const;

 private:
  using ByteSet = std::bitset<256>;

  void AddRules(std::string_view charsmap);
  void AddRule(std::string_view text);
  void AddPiece(const SentencePieceModel::Piece& piece);
  void Conclude(const SentencePieceModel& model);
  // Tells whether a mark stands in a text before a place. Places ascend from
  // call to call.
  struct MarkSearch {
    size_t searched = 0;
    bool found = false;
    bool FindBefore(std::string_view text, size_t at);
  };
  bool IsCut(std::string_view text, size_t at, MarkSearch& marks) const;
  bool IsSpaceCut(std::string_view text, size_t at, MarkSearch& marks) const;
  bool IsFeedCut(std::string_view text, size_t at) const;

  // Bytes right before or after a space or a line feed inside a rule of the
  // normalizer.
  ByteSet before_space_, after_space_, before_feed_, after_feed_;
  // Last bytes of rules.
  ByteSet ends_rule_;
  // Bytes right before a line feed inside a piece.
  ByteSet piece_before_feed_;
  bool rules_have_feed_ = false;
  bool rules_keep_space_ = true;
  bool rules_write_mark_ = false;
  // Some rule makes a text that ends with more than one space.
  bool rules_end_wide_ = false;
  bool feed_becomes_space_ = false;
  // In no piece does the mark of a space stand behind anything but such marks.
  bool marks_lead_ = true;
  bool has_mark_piece_ = false;
  bool has_feed_piece_ = false;
  bool adds_space_ = true;
  bool trims_ = true;
  // Whether cuts before spaces, or before line feeds, exist at all.
  bool has_space_cuts_ = false;
  bool has_feed_cuts_ = false;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_TEXT_CUTS_H_
