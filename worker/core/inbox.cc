#include "worker/core/inbox.h"

#include <utility>

namespace skerry::worker {
namespace {

// No sender cuts smaller than this, except the last part of a span; so the
// table of parts is small beside the bytes.
constexpr uint64_t kPartBytesMin = 1024;

}  // namespace

Inbox::Inbox(compression::FrameKind kind, compression::CodecId codec,
             uint64_t element_count, uint64_t bytes_max)
    : kind_(kind),
      codec_(codec),
      element_count_(element_count),
      bytes_max_(bytes_max) {}

FrameVerdict Inbox::Put(const compression::FrameHeader& header,
                        const SharedBytes& payload) {
  if (header.kind != kind_ || header.codec != codec_ ||
      header.element_count != element_count_ || header.parts == 0 ||
      header.part >= header.parts ||
      header.parts > bytes_max_ / kPartBytesMin + 1 ||
      payload.size() > compression::kFramePayloadBytesMax ||
      payload.size() != header.payload_bytes) {
    return FrameVerdict::kRefused;
  }
  if (!seen_.empty() && seen_.size() != header.parts)
    return FrameVerdict::kRefused;
  if (!seen_.empty() && seen_[header.part]) return FrameVerdict::kAccepted;
  if (payload.size() > bytes_max_ - bytes_) return FrameVerdict::kRefused;
  if (seen_.empty()) {
    seen_.resize(header.parts);
    parts_.resize(header.parts);
  }
  seen_[header.part] = true;
  parts_[header.part] = payload;
  bytes_ += payload.size();
  ++parts_seen_;
  return FrameVerdict::kAccepted;
}

void Inbox::Drop() {
  for (SharedBytes& part : parts_) part = SharedBytes();
}

SharedBytes Join(const std::vector<SharedBytes>& parts) {
  if (parts.size() == 1) return parts.front();
  size_t size = 0;
  for (const SharedBytes& part : parts) size += part.size();
  std::vector<std::byte> joined;
  joined.reserve(size);
  for (const SharedBytes& part : parts) {
    joined.insert(joined.end(), part.bytes().begin(), part.bytes().end());
  }
  return SharedBytes(std::move(joined));
}

}  // namespace skerry::worker
