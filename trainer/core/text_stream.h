// trainer/core/text_stream.h
//
// The text of tokens that come one after the other, while they come.
#ifndef SKERRY_TRAINER_CORE_TEXT_STREAM_H_
#define SKERRY_TRAINER_CORE_TEXT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::trainer {

// A token's text may depend on what is before it: a codec may leave out the
// space that a text begins with, and joins bytes to characters, with U+FFFD for
// those that are none. So a few tokens are decoded together each time, and up
// to three U+FFFD at their end are held back, which the next tokens may make a
// character of. All texts one after another, and the rest, are what decoding
// everything gives after the text of the prompt.
class TextStream {
 public:
  // Goes on after `prompt`. Errors: those of Decode.
  static absl::StatusOr<TextStream> After(std::span<const int32_t> prompt,
                                          data::TextCodec& codec);

  // What the last of `tokens` adds, which are those of the call before, or the
  // prompt, and one more. Errors: those of Decode.
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
