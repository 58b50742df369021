// data/sentencepiece/frames.h
//
// The frames between a process and skerry-sentencepiece, as bytes:
// docs/formats/sentencepiece_frames.md. Only the standard library is used here,
// because the program links nothing but sentencepiece.
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
// The most bytes of a frame, without its length.
inline constexpr size_t kFrameBytesMax = size_t{1} << 30;
// The most bytes of all texts that are encoded at a time. A byte of text
// becomes at most some 40 bytes of tokens, so the answer fits into a frame too.
inline constexpr size_t kFrameTextBytesMax = size_t{16} << 20;
// Bytes of the length that stands before each frame.
inline constexpr size_t kFrameLengthBytes = 4;

// The remark behind each kind says what it carries.
enum class FrameKind : uint32_t {
  kOpen = 1,     // one text: the model
  kOpened = 2,   // one list: how many pieces the model has
  kEncode = 3,   // texts
  kEncoded = 4,  // a list of tokens for each
  kDecode = 5,   // lists of tokens
  kDecoded = 6,  // a text for each
  kFailed = 7,   // one text: why, in one line
};

// A frame has either texts or lists, as its kind says. The others are empty.
struct Frame {
  FrameKind kind = FrameKind::kFailed;
  // The texts point into the bytes that were parsed.
  std::vector<std::string_view> texts;
  std::vector<std::vector<int32_t>> lists;
};

// Returns a frame with its length before it, or none when it is too long.
// Requires: the kind carries texts, or lists in the second form.
std::optional<std::string> WriteFrame(FrameKind kind,
                                      std::span<const std::string_view> texts);
std::optional<std::string> WriteFrame(
    FrameKind kind, std::span<const std::vector<int32_t>> lists);

// Reads the length before a frame. Returns none when that is too long.
std::optional<size_t> FrameLength(
    std::span<const char, kFrameLengthBytes> length);

// Parses a frame without its length. Any bytes may be given. Returns none when
// they are no frame of this version, and then `why` says so in a few words.
std::optional<Frame> ParseFrame(std::string_view bytes, std::string& why);

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_FRAMES_H_
