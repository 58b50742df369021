// data/sentencepiece/frames.h
//
// What is said between a process and skerry-sentencepiece, as bytes:
// docs/formats/sentencepiece_frames.md. Nothing but the standard library, as
// the program links sentencepiece alone.
#ifndef SKERRY_DATA_SENTENCEPIECE_FRAMES_H_
#define SKERRY_DATA_SENTENCEPIECE_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::data {

inline constexpr uint32_t kFrameVersion = 1;
// Of a frame without its length.
inline constexpr size_t kFrameBytesMax = size_t{1} << 30;
// Of all texts that are encoded at a time. A byte of text becomes at most some
// 40 bytes of tokens, so the answer is a frame too.
inline constexpr size_t kFrameTextBytesMax = size_t{16} << 20;
// Before each frame: how long it is.
inline constexpr size_t kFrameLengthBytes = 4;

// What each carries stands behind it.
enum class FrameKind : uint32_t {
  kOpen = 1,     // one text: the model
  kOpened = 2,   // one list: how many pieces the model has
  kEncode = 3,   // texts
  kEncoded = 4,  // a list of tokens for each
  kDecode = 5,   // lists of tokens
  kDecoded = 6,  // a text for each
  kFailed = 7,   // one text: why, in one line
};

// Of texts and lists at most one is there, as the kind says.
struct Frame {
  FrameKind kind = FrameKind::kFailed;
  // Point into the bytes that were parsed.
  std::vector<std::string_view> texts;
  std::vector<std::vector<int32_t>> lists;
};

// A frame with its length before it; none when it is too long. Requires: the
// kind carries that.
std::optional<std::string> WriteFrame(FrameKind kind,
                                      std::span<const std::string_view> texts);
std::optional<std::string> WriteFrame(
    FrameKind kind, std::span<const std::vector<int32_t>> lists);

// How long a frame is by the length before it; none when that is too long.
std::optional<size_t> FrameLength(
    std::span<const char, kFrameLengthBytes> length);

// Any bytes may be given, without the length. None when they are no frame of
// this version: `why` says so in a few words.
std::optional<Frame> ParseFrame(std::string_view bytes, std::string& why);

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_FRAMES_H_
