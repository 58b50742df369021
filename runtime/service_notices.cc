#include "runtime/service_notices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace skerry::runtime {
namespace {

constexpr absl::Duration kPauseMax = absl::Seconds(5);

// A line feed would begin another field.
std::string Status(const std::string& doing) {
  return absl::StrCat("STATUS=", absl::StrReplaceAll(doing, {{"\n", " "}}));
}

}  // namespace

ServiceNotices::ServiceNotices(Send send, absl::Duration watchdog)
    : send_(std::move(send)), watchdog_(watchdog) {}

void ServiceNotices::Starting(const std::string& doing) const {
  if (send_) send_(Status(doing));
}

void ServiceNotices::Ready(const std::string& doing) const {
  if (send_) send_(absl::StrCat("READY=1\n", Status(doing)));
}

void ServiceNotices::Stopping(const std::string& doing) const {
  if (send_) send_(absl::StrCat("STOPPING=1\n", Status(doing)));
}

void ServiceNotices::FeedFrom(EventLoop& loop, Doing doing) {
  if (!send_) return;
  doing_ = std::move(doing);
  Feed(loop);
}

void ServiceNotices::Feed(EventLoop& loop) {
  std::string message;
  if (watchdog_ > absl::ZeroDuration()) message = "WATCHDOG=1";
  if (std::string doing = doing_(); doing != said_) {
    absl::StrAppend(&message, message.empty() ? "" : "\n", Status(doing));
    said_ = std::move(doing);
  }
  if (!message.empty()) send_(message);
  const absl::Duration pause = watchdog_ > absl::ZeroDuration()
                                   ? std::min(watchdog_ / 2, kPauseMax)
                                   : kPauseMax;
  loop.RunAt(loop.Now() + pause, [this, &loop] { Feed(loop); });
}

}  // namespace skerry::runtime
