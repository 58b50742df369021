// transport/payload.h
//
// Immutable bytes together with what keeps them alive. Copies share the bytes,
// so one encoding can be queued to many peers and resent at no cost.
#ifndef SKERRY_TRANSPORT_PAYLOAD_H_
#define SKERRY_TRANSPORT_PAYLOAD_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace skerry::transport {

class Payload {
 public:
  Payload() = default;
  // `bytes` stay valid and unchanged for as long as `owner` lives.
  Payload(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  explicit Payload(std::vector<std::byte> bytes) {
    auto owner =
        std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    bytes_ = *owner;
    owner_ = std::move(owner);
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // A part of the same bytes. Requires: offset + size <= this->size().
  Payload Part(size_t offset, size_t size) const {
    SKERRY_CHECK(offset <= bytes_.size() && size <= bytes_.size() - offset);
    return Payload(owner_, bytes_.subspan(offset, size));
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_PAYLOAD_H_
