// base/shared_bytes.h
//
// Holds immutable bytes together with what keeps them alive. Copies and parts
// share the bytes. So one encoding goes to many peers, and background work, a
// disk write and a fetching peer read a state while its seat moves on.
#ifndef SKERRY_BASE_SHARED_BYTES_H_
#define SKERRY_BASE_SHARED_BYTES_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace skerry {

class SharedBytes {
 public:
  SharedBytes() = default;
  // `bytes` stay valid and unchanged for as long as `owner` lives.
  SharedBytes(std::shared_ptr<const void> owner,
              std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  explicit SharedBytes(std::vector<std::byte> bytes) {
    auto owner =
        std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    bytes_ = *owner;
    owner_ = std::move(owner);
  }
  explicit SharedBytes(const std::shared_ptr<const std::vector<float>>& values)
      : owner_(values),
        bytes_(std::as_bytes(std::span<const float>(*values))) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // Returns a part of the same bytes. Requires: offset + count <= size().
  SharedBytes Part(size_t offset, size_t count) const {
    SKERRY_CHECK(offset <= size() && count <= size() - offset);
    return SharedBytes(owner_, bytes_.subspan(offset, count));
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace skerry

#endif  // SKERRY_BASE_SHARED_BYTES_H_
