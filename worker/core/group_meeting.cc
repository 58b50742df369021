#include "worker/core/group_meeting.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::worker {

GroupMeeting::~GroupMeeting() { Begin(Life(), 0); }

void GroupMeeting::Begin(Life life, uint32_t size) {
  auto waiting = std::exchange(waiting_, {});
  waiting_.resize(size);
  life_ = life;
  decided_.reset();
  for (auto& one : waiting) {
    if (one) std::move(one->answer)(absl::AbortedError("the life has ended"));
  }
}

void GroupMeeting::Ask(const MeetRequest& request, Answer answer) {
  if (request.life > life_) {
    std::move(answer)(absl::UnavailableError(absl::StrCat(
        "life ", request.life.value(), " has not begun here yet")));
    return;
  }
  if (request.life < life_) {
    std::move(answer)(absl::AbortedError(
        absl::StrCat("life ", request.life.value(), " has ended")));
    return;
  }
  if (request.rank >= waiting_.size()) {
    std::move(answer)(absl::InvalidArgumentError(
        absl::StrCat("rank ", request.rank, " of ", waiting_.size())));
    return;
  }
  if (decided_) {
    std::move(answer)(*decided_);
    return;
  }
  auto older = std::exchange(waiting_[request.rank],
                             Waiting{request.host, std::move(answer)});
  if (older) {
    std::move(older->answer)(absl::UnavailableError("asked again"));
  }
}

bool GroupMeeting::AllWait() const {
  return life_.is_set() &&
         std::all_of(waiting_.begin(), waiting_.end(),
                     [](const auto& one) { return one.has_value(); });
}

bool GroupMeeting::OnOneHost() const {
  const std::string* first = nullptr;
  for (const auto& one : waiting_) {
    if (!one) continue;
    if (one->host.empty()) return false;
    if (first == nullptr) first = &one->host;
    if (*first != one->host) return false;
  }
  return first != nullptr;
}

void GroupMeeting::Decide(const absl::StatusOr<std::string>& bootstrap) {
  SKERRY_CHECK(AllWait());
  auto waiting = std::exchange(waiting_, {});
  waiting_.resize(waiting.size());
  decided_ = bootstrap;
  for (auto& one : waiting) std::move(one->answer)(bootstrap);
}

}  // namespace skerry::worker
