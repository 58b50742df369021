// protocol/frame_verdict.h
//
// The receiver's answer to a frame of an attempt.
#ifndef SKERRY_PROTOCOL_FRAME_VERDICT_H_
#define SKERRY_PROTOCOL_FRAME_VERDICT_H_

namespace skerry::protocol {

enum class FrameVerdict {
  kAccepted,
  kRefused,  // for good: an older attempt, or not for this worker
  kNotYet,   // an attempt this receiver has not heard of yet; offer it again
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_FRAME_VERDICT_H_
