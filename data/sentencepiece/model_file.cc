#include "data/sentencepiece/model_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::data {
namespace {

// As of tokenizer.json.
constexpr size_t kPiecesMax = size_t{1} << 22;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "is no whole model of sentencepiece: ", what, "; get the file anew"));
}

// One field of a protobuf message.
struct Field {
  uint32_t number = 0;
  // The type on the wire: 0 has a value, 2 has bytes, others have neither.
  uint32_t type = 0;
  uint64_t value = 0;
  std::string_view bytes;
};

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view message) : left_(message) {}

  bool is_at_end() const { return left_.empty(); }

  absl::StatusOr<Field> Next() {
    SKERRY_ASSIGN_OR_RETURN(const uint64_t tag, Varint());
    Field field{.number = static_cast<uint32_t>(tag >> 3),
                .type = static_cast<uint32_t>(tag & 7),
                .bytes = {}};
    if (tag >> 32 != 0 || field.number == 0) return Bad("it has no fields");
    switch (field.type) {
      case 0: {
        SKERRY_ASSIGN_OR_RETURN(field.value, Varint());
        return field;
      }
      case 1:
        return Take(8, field);
      case 2: {
        SKERRY_ASSIGN_OR_RETURN(const uint64_t size, Varint());
        return Take(size, field);
      }
      case 5:
        return Take(4, field);
      default:
        return Bad("it has a field of no known type");
    }
  }

 private:
  absl::StatusOr<Field> Take(uint64_t size, Field field) {
    if (size > left_.size()) return Bad("it ends inside a field");
    field.bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return field;
  }

  absl::StatusOr<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) return Bad("it ends inside a field");
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return Bad("it has a number that is too long");
  }

  std::string_view left_;
};

absl::Status ReadPiece(std::string_view message, SentencePieceModel& model) {
  SentencePieceModel::Piece piece;
  for (Fields fields(message); !fields.is_at_end();) {
    SKERRY_ASSIGN_OR_RETURN(const Field field, fields.Next());
    if (field.number == 1 && field.type == 2) piece.text = field.bytes;
    if (field.number != 3 || field.type != 0) continue;
    if (field.value < 1 || field.value > 6) {
      return Bad("it has a piece of no known kind");
    }
    piece.kind = static_cast<PieceKind>(field.value);
  }
  if (model.pieces.size() == kPiecesMax) return Bad("it has too many pieces");
  model.pieces.push_back(std::move(piece));
  return absl::OkStatus();
}

absl::Status ReadTraining(std::string_view message, SentencePieceModel& model) {
  for (Fields fields(message); !fields.is_at_end();) {
    SKERRY_ASSIGN_OR_RETURN(const Field field, fields.Next());
    if (field.number == 3 && field.type == 0) {
      if (field.value < 1 || field.value > 4) {
        return Bad("its model_type is unknown");
      }
      model.algorithm = static_cast<PieceAlgorithm>(field.value);
    }
    if (field.type == 0 && field.number == 24) {
      model.whitespace_is_suffix = field.value != 0;
    }
    if (field.type == 0 && field.number == 35) {
      model.byte_fallback = field.value != 0;
    }
    if (field.type == 2 && field.number == 46) model.begin_piece = field.bytes;
    if (field.type == 2 && field.number == 47) model.end_piece = field.bytes;
  }
  return absl::OkStatus();
}

absl::Status ReadNormalizer(std::string_view message,
                            SentencePieceModel& model) {
  for (Fields fields(message); !fields.is_at_end();) {
    SKERRY_ASSIGN_OR_RETURN(const Field field, fields.Next());
    if (field.number == 2 && field.type == 2) model.charsmap = field.bytes;
    if (field.type != 0) continue;
    if (field.number == 3) model.add_dummy_prefix = field.value != 0;
    if (field.number == 4) model.remove_extra_whitespaces = field.value != 0;
    if (field.number == 5) model.escape_whitespaces = field.value != 0;
  }
  return absl::OkStatus();
}

std::optional<int32_t> FindControl(const SentencePieceModel& model,
                                   std::string_view text) {
  const auto token = FindSpecialPiece(model, text);
  if (!token.has_value()) return std::nullopt;
  const auto& piece = model.pieces[static_cast<size_t>(*token)];
  return piece.kind == PieceKind::kControl ? token : std::nullopt;
}

}  // namespace

bool LooksLikeSentencePiece(std::string_view bytes) {
  return bytes.size() > 4 && bytes[0] == '\n' && bytes[2] == '\n';
}

absl::StatusOr<SentencePieceModel> ParseSentencePieceModel(
    std::string_view bytes) {
  SentencePieceModel model;
  bool has_training = false;
  bool has_normalizer = false;
  for (Fields fields(bytes); !fields.is_at_end();) {
    SKERRY_ASSIGN_OR_RETURN(const Field field, fields.Next());
    if (field.number > 3) continue;
    if (field.type != 2) return Bad("it has a field of another type");
    if (field.number == 1) {
      SKERRY_RETURN_IF_ERROR(ReadPiece(field.bytes, model));
    } else if (field.number == 2) {
      has_training = true;
      SKERRY_RETURN_IF_ERROR(ReadTraining(field.bytes, model));
    } else {
      has_normalizer = true;
      SKERRY_RETURN_IF_ERROR(ReadNormalizer(field.bytes, model));
    }
  }
  if (model.pieces.empty()) return Bad("it has no pieces");
  // They come after the pieces, so a file that is cut between two lacks them.
  if (!has_training) return Bad("it has no trainer_spec");
  if (!has_normalizer) return Bad("it has no normalizer_spec");
  return model;
}

std::optional<int32_t> FindSpecialPiece(const SentencePieceModel& model,
                                        std::string_view text) {
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const auto& piece = model.pieces[i];
    const bool is_special = piece.kind == PieceKind::kControl ||
                            piece.kind == PieceKind::kUserDefined;
    if (is_special && piece.text == text) return static_cast<int32_t>(i);
  }
  return std::nullopt;
}

std::optional<int32_t> UnknownPiece(const SentencePieceModel& model) {
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    if (model.pieces[i].kind == PieceKind::kUnknown) {
      return static_cast<int32_t>(i);
    }
  }
  return std::nullopt;
}

std::optional<int32_t> BeginPiece(const SentencePieceModel& model) {
  return FindControl(model, model.begin_piece);
}

std::optional<int32_t> EndPiece(const SentencePieceModel& model) {
  return FindControl(model, model.end_piece);
}

}  // namespace skerry::data
