// data/sentencepiece/model_file.h
//
// Reads a sentencepiece model file (tokenizer.model) as far as is needed to
// name its tokens and to cut texts for it. The library encodes and decodes, in
// a process of its own.
#ifndef SKERRY_DATA_SENTENCEPIECE_MODEL_FILE_H_
#define SKERRY_DATA_SENTENCEPIECE_MODEL_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::data {

// The numbers are those of sentencepiece_model.proto.
enum class PieceKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

enum class PieceAlgorithm : uint8_t {
  kUnigram = 1,
  kBpe = 2,
  kWord = 3,
  kCharacter = 4,
};

struct SentencePieceModel {
  struct Piece {
    std::string text;
    PieceKind kind = PieceKind::kNormal;
  };
  // By token.
  std::vector<Piece> pieces;
  PieceAlgorithm algorithm = PieceAlgorithm::kUnigram;
  bool byte_fallback = false;
  bool whitespace_is_suffix = false;
  std::string begin_piece = "<s>";
  std::string end_piece = "</s>";
  // How texts are normalized.
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

// Whether these may be the first bytes of such a file: a protobuf message that
// begins with a piece, that begins with its text.
bool LooksLikeSentencePiece(std::string_view bytes);

// Any bytes may be given. Errors: InvalidArgument with one line, when they are
// no such model or are cut off.
absl::StatusOr<SentencePieceModel> ParseSentencePieceModel(
    std::string_view bytes);

// The token of a control or user-defined piece that is written so.
std::optional<int32_t> FindSpecialPiece(const SentencePieceModel& model,
                                        std::string_view text);
std::optional<int32_t> UnknownPiece(const SentencePieceModel& model);
// These return the tokens that the model itself takes for the beginning and the
// end of a text.
std::optional<int32_t> BeginPiece(const SentencePieceModel& model);
std::optional<int32_t> EndPiece(const SentencePieceModel& model);

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_MODEL_FILE_H_
