// data/sentencepiece/channel.h
//
// The interface to a process that has the library of sentencepiece.
#ifndef SKERRY_DATA_SENTENCEPIECE_CHANNEL_H_
#define SKERRY_DATA_SENTENCEPIECE_CHANNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace skerry::data {

// One thread uses it at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a frame, with its length before it, and waits for the answer, which
  // comes without. Errors, each one line that names the program: Internal when
  // it has ended or its answer is too long; it answers nothing afterwards.
  virtual absl::StatusOr<std::string> Exchange(std::string_view frame) = 0;
};

// Starts a process. Any thread may call. Errors: FailedPrecondition when the
// program cannot be run; ResourceExhausted when no process can be made.
using OpenChannel = std::function<absl::StatusOr<std::unique_ptr<Channel>>()>;

}  // namespace skerry::data

#endif  // SKERRY_DATA_SENTENCEPIECE_CHANNEL_H_
