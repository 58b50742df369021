// transport/answer.h
//
// The receiver's answers about frames, on the wire. Frames of one stream are
// numbered 0, 1, 2, ... in the order in which they were written to it.
#ifndef SKERRY_TRANSPORT_ANSWER_H_
#define SKERRY_TRANSPORT_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::transport {

enum class Answer : uint8_t {
  kAccepted = 1,
  kRefused = 2,
  // The frame was given back: send it again later.
  kNotYet = 3,
  // A checksum did not match: send it again.
  kCorrupt = 4,
  // The receiver keeps the frame and will say more; until then, nothing else of
  // the same (job, fragment, attempt) is wanted.
  kHeld = 5,
};

struct Answered {
  uint64_t ordinal = 0;
  Answer answer = Answer::kAccepted;
  friend bool operator==(const Answered&, const Answered&) = default;
};

// The bytes of one message from receiver to sender; docs/formats/bulk.md.
inline constexpr size_t kAnsweredBytes = 16;
std::vector<std::byte> EncodeAnswers(std::span<const Answered> answers);

// Errors: DataLoss when the message is not a whole number of known answers.
absl::StatusOr<std::vector<Answered>> DecodeAnswers(
    std::span<const std::byte> bytes);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_ANSWER_H_
