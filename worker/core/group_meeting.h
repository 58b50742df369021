// worker/core/group_meeting.h
//
// Does the head's part in a meeting of the trainers of a replica. It hears from
// which host every worker comes, then tells all of them where to meet.
#ifndef SKERRY_WORKER_CORE_GROUP_MEETING_H_
#define SKERRY_WORKER_CORE_GROUP_MEETING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/ids.h"

namespace skerry::worker {

struct MeetRequest {
  Life life;
  uint32_t rank = 0;
  // MachineFacts::host; empty when it is not known.
  std::string host;
  friend bool operator==(const MeetRequest&, const MeetRequest&) = default;
};

class GroupMeeting {
 public:
  // The bootstrap bytes of the group (OpenGroupReply).
  using Answer = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;

  // Whoever still waits gets Aborted.
  ~GroupMeeting();

  // Starts the meeting of a life with `size` ranks. Whoever still waits gets
  // Aborted. An unset life ends a meeting.
  void Begin(Life life, uint32_t size);

  // A rank asks. It may ask again: the newer request counts, and the older one
  // is answered Unavailable. After Decide it gets the answer of all. Errors by
  // `answer`: Aborted, an older life; Unavailable, a life not heard of yet;
  // InvalidArgument, no such rank.
  void Ask(const MeetRequest& request, Answer answer);

  // Whether all ranks have asked, and nothing is decided.
  bool AllWait() const;
  // Whether all that have asked come from one host, and that is known.
  bool OnOneHost() const;
  uint32_t size() const { return static_cast<uint32_t>(waiting_.size()); }

  // Answers all. Requires: AllWait().
  void Decide(const absl::StatusOr<std::string>& bootstrap);

 private:
  struct Waiting {
    std::string host;
    Answer answer;
  };

  Life life_;
  std::optional<absl::StatusOr<std::string>> decided_;
  std::vector<std::optional<Waiting>> waiting_;  // by rank
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_GROUP_MEETING_H_
