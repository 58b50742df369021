// worker/core/inbox.h
//
// Collects the parts of one span's bytes from one member, and counts each part
// once.
#ifndef SKERRY_WORKER_CORE_INBOX_H_
#define SKERRY_WORKER_CORE_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/shared_bytes.h"
#include "compression/codec.h"
#include "compression/frame.h"
#include "protocol/frame_verdict.h"

namespace skerry::worker {

using protocol::FrameVerdict;

class Inbox {
 public:
  // Keeps at most `bytes_max` bytes in all.
  Inbox(compression::FrameKind kind, compression::CodecId codec,
        uint64_t element_count, uint64_t bytes_max);

  // Accepts a part again that it has. Refused: a header that contradicts what
  // this worker expects, or the parts that came before it.
  FrameVerdict Put(const compression::FrameHeader& header,
                   const SharedBytes& payload);

  // How many different parts have come.
  size_t parts_seen() const { return parts_seen_; }
  bool whole() const { return parts_seen_ > 0 && parts_seen_ == parts_.size(); }
  // The parts in order. Requires: whole().
  const std::vector<SharedBytes>& parts() const { return parts_; }
  compression::CodecId codec() const { return codec_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t bytes_max() const { return whole() ? bytes_ : bytes_max_; }

  // Lets go of the bytes; later parts are repeats.
  void Drop();

 private:
  compression::FrameKind kind_;
  compression::CodecId codec_;
  uint64_t element_count_;
  uint64_t bytes_max_;
  std::vector<SharedBytes> parts_;
  std::vector<bool> seen_;
  uint64_t bytes_ = 0;
  size_t parts_seen_ = 0;
};

// The parts as one piece of memory; copies unless there is a single part.
SharedBytes Join(const std::vector<SharedBytes>& parts);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_INBOX_H_
