#include "data/prepare/byte_progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace skerry::data {

ByteProgress::ByteProgress(uint64_t total, uint64_t done,
                           std::function<double()> seconds, std::ostream& err)
    : total_(total),
      before_(done),
      seconds_(std::move(seconds)),
      err_(err),
      begin_(seconds_()),
      done_(done),
      done_told_(done),
      told_(begin_) {}

void ByteProgress::Add(uint64_t bytes) {
  done_ = std::min(done_ + bytes, total_);
  const double now = seconds_();
  if (now - told_ < 1 || (done_ - done_told_) * 100 < total_) return;
  told_ = now;
  done_told_ = done_;
  const double rate = static_cast<double>(done_ - before_) / (now - begin_);
  err_ << absl::StrFormat("%.1f of %.1f MB, %.1f MB/s, %.0f s left\n",
                          done_ / 1e6, total_ / 1e6, rate / 1e6,
                          static_cast<double>(total_ - done_) / rate)
       << std::flush;
}

}  // namespace skerry::data
