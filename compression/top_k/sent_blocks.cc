#include "compression/top_k/sent_blocks.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace skerry::compression {

absl::Status SentBlocks::Finish() const {
  const size_t total = selection_.sent;
  if (block_ == 0) {
    SKERRY_RETURN_IF_ERROR(
        inner_.Encode({sent_, total}, workspace_.bytes, workspace_));
    if (values_ != workspace_.bytes.data()) {
      std::copy(workspace_.bytes.begin(), workspace_.bytes.end(), values_);
    }
    return absl::OkStatus();
  }
  size_t done = 0;  // all blocks before
  const auto write = [&](size_t at) {
    const size_t begin = at / block_ * block_;
    if (at % block_ == 0 || begin < done) return;
    done = std::min(begin + block_, total);
    SKERRY_CHECK(inner_.EncodeBlocks({sent_ + begin, done - begin}, begin,
                                     total, values_));
  };
  for (size_t index = 0; index < selection_.parts; ++index) {
    write(workspace_.parts[index].at);
  }
  write(total);
  return absl::OkStatus();
}

size_t SentBlocks::WriteBlocks(std::span<const float> values, size_t at) const {
  if (block_ == 0) {
    std::copy(values.begin(), values.end(), sent_ + at);
    return values.size();
  }
  const size_t before = (block_ - at % block_) % block_;
  const size_t shared = std::min(before, values.size());
  std::copy_n(values.begin(), shared, sent_ + at);
  const size_t whole = (values.size() - shared) / block_ * block_;
  if (whole > 0) {
    SKERRY_CHECK(inner_.EncodeBlocks(values.subspan(shared, whole), at + shared,
                                     selection_.sent, values_));
  }
  return shared + whole;
}

}  // namespace skerry::compression
