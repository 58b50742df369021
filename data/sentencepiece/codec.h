// data/sentencepiece/codec.h
//
// Encodes texts to tokens and back with a model of sentencepiece, whose library
// runs in a process of its own: docs/decisions/0009.
#ifndef SKERRY_DATA_SENTENCEPIECE_CODEC_H_
#define SKERRY_DATA_SENTENCEPIECE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "data/sentencepiece/channel.h"
#include "data/sentencepiece/model_file.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::data {

struct SentencePieceCodecOptions {
  // After every document. Requires: it is a token.
  std::optional<int32_t> document_end = std::nullopt;
  // Longer texts are encoded in parts of so many bytes, or up to the first cut
  // after them (text_cuts.h). Requires: at least 16.
  size_t part_bytes = size_t{64} << 10;
};

// The tokens of a text are those of the library's Encode without options, so
// nothing goes before them; its Decode makes texts of tokens. `file` is the
// model's file and `model` what it says. A process is started when it is first
// needed, or by Ready; a clone has its own.
//
// Calls fail as Channel's do, and start a process again when they are repeated;
// and with InvalidArgument when the library refuses the model, or a text of
// more than 16 MiB has no place to cut it.
std::unique_ptr<TextCodec> MakeSentencePieceCodec(
    std::string file, const SentencePieceModel& model, OpenChannel open,
    const SentencePieceCodecOptions& options);

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_CODEC_H_
