#include "coordinator/core/rules/join_limit.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace skerry::coordinator {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(1);
constexpr size_t kAddressesMax = 4096;

}  // namespace

std::string JoinLimit::SlotOf(const std::string& address) const {
  if (failures_.contains(address) || failures_.size() < kAddressesMax) {
    return address;
  }
  return "";
}

void JoinLimit::Forget(Instant now) {
  absl::erase_if(failures_, [now](auto& entry) {
    std::deque<Instant>& times = entry.second;
    while (!times.empty() && now - times.front() >= kWindow) times.pop_front();
    return times.empty();
  });
}

absl::Status JoinLimit::Check(const std::string& address, Instant now) {
  Forget(now);
  const auto it = failures_.find(SlotOf(address));
  if (it == failures_.end() || it->second.size() < kJoinFailuresPerMinute) {
    return absl::OkStatus();
  }
  const double wait_s =
      std::ceil(absl::ToDoubleSeconds(it->second.front() + kWindow - now));
  return absl::ResourceExhaustedError(
      absl::StrCat("too many attempts to join failed; wait ", wait_s, " s"));
}

void JoinLimit::Failed(const std::string& address, Instant now) {
  std::deque<Instant>& times = failures_[SlotOf(address)];
  times.push_back(now);
  if (times.size() > kJoinFailuresPerMinute) times.pop_front();
}

}  // namespace skerry::coordinator
