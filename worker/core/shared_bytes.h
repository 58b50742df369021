// worker/core/shared_bytes.h
//
// Holds immutable bytes and values, together with what keeps them alive. Every
// state of a span is such a snapshot, and a new state is a new buffer. So
// background work, a disk write and a fetching peer can read one while the seat
// moves on.
#ifndef SKERRY_WORKER_CORE_SHARED_BYTES_H_
#define SKERRY_WORKER_CORE_SHARED_BYTES_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace skerry::worker {

// Flat fp32 values.
using Values = std::shared_ptr<const std::vector<float>>;

struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  static SharedBytes Of(std::vector<std::byte> content) {
    auto owner =
        std::make_shared<const std::vector<std::byte>>(std::move(content));
    return {owner, *owner};
  }
  static SharedBytes Of(const Values& values) {
    return {values, std::as_bytes(std::span<const float>(*values))};
  }
  size_t size() const { return bytes.size(); }
  // Requires: offset + count <= size().
  SharedBytes Part(size_t offset, size_t count) const {
    SKERRY_CHECK(offset <= size() && count <= size() - offset);
    return {owner, bytes.subspan(offset, count)};
  }
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SHARED_BYTES_H_
