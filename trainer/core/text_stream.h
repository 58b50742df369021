// trainer/core/text_stream.h
//
// Decodes tokens to text while they come, one after the other.
#ifndef SKERRY_TRAINER_CORE_TEXT_STREAM_H_
#define SKERRY_TRAINER_CORE_TEXT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::trainer {

// A token's text may depend on the tokens before it. A codec may leave out the
// space at the beginning of a text. It also joins bytes to characters, with
// U+FFFD for bytes that make none. So a few tokens are decoded together each
// time. Up to three U+FFFD at their end are held back, because the next tokens
// may complete a character. All the texts that were given out, and the rest at
// the end, are together the text of all tokens after the prompt.
class TextStream {
 public:
  // Starts a stream that continues after `prompt`. Errors: those of Decode.
  static absl::StatusOr<TextStream> After(std::span<const int32_t> prompt,
                                          data::TextCodec& codec);

  // Returns the text that the last of `tokens` adds. `tokens` are those of the
  // call before, or the prompt, and one more. Errors: those of Decode.
  absl::StatusOr<std::string> Add(std::span<const int32_t> tokens,
                                  data::TextCodec& codec);
  // What has been held back; nothing is added after it.
  const std::string& rest() const { return held_; }

 private:
  TextStream() = default;

  // Decoding begins here.
  size_t from_ = 0;
  // And could begin here: no character lies across.
  size_t whole_ = 0;
  // The text of the tokens from `from_` on, in two parts: given out, and not.
  std::string given_;
  std::string held_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TEXT_STREAM_H_
