// worker/daemon/job_rendezvous.h
//
// Finds out where the trainers of a replica meet. The head of the replica has
// its own trainer make the place, and tells the others (Peer.Meet).
#ifndef SKERRY_WORKER_DAEMON_JOB_RENDEZVOUS_H_
#define SKERRY_WORKER_DAEMON_JOB_RENDEZVOUS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "runtime/event_loop.h"
#include "worker/core/effects.h"
#include "worker/core/group_meeting.h"
#include "worker/daemon/peer_client.h"
#include "worker/daemon/trainer_client.h"

namespace skerry::worker {

struct RendezvousOptions {
  JobId job;
  PeerClient& peers;
  // MachineFacts::host of this machine.
  std::string host;
  // Host name or IP address at which trainers on other hosts reach this
  // worker's; empty: they do not.
  std::string address;
};

// Members are called on the loop.
class JobRendezvous {
 public:
  // The bootstrap bytes of the group, or the error: the head's own trainer
  // cannot make a place, or Aborted, the meeting has ended.
  using Done = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;

  // `options.peers` and `loop` outlive the object.
  JobRendezvous(RendezvousOptions options, runtime::EventLoop& loop);
  // A search that is under way is not answered any more.
  ~JobRendezvous();
  JobRendezvous(const JobRendezvous&) = delete;
  JobRendezvous& operator=(const JobRendezvous&) = delete;

  // Ends a former search, and searches for the place of this group of several,
  // in which `head` is the worker with rank 0. `trainer` outlives the search.
  // `done` runs once, later, on the loop.
  void Find(const TrainerGroup& group, const std::string& head,
            TrainerClient& trainer, Done done);
  // Another worker of the replica asks.
  void OnMeet(const MeetRequest& request, GroupMeeting::Answer answer);
  // Ends the search: its `done` and whoever asks here get Aborted.
  void Cancel();

 private:
  // One Find().
  struct Search {
    MeetRequest request;
    std::string head;
    TrainerClient& trainer;
    Done done;
    bool opens = false;
    bool is_over = false;  // answered, cancelled, or its object is gone
  };

  // Whether the search goes on. Answers of peers and trainers come later than
  // the object may be there, so only this says whether it is.
  static bool IsCurrent(const std::weak_ptr<Search>& search) {
    const std::shared_ptr<Search> found = search.lock();
    return found != nullptr && !found->is_over;
  }
  // Ends the search, if there is one, and returns it.
  std::shared_ptr<Search> Take();
  void AskHead();
  // Has the trainer make the place once all have asked.
  void ConsiderOpening();
  void Finish(absl::StatusOr<std::string> bootstrap);

  const RendezvousOptions options_;
  runtime::EventLoop& loop_;
  std::shared_ptr<Search> search_;  // null: nothing is searched for
  GroupMeeting meeting_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_RENDEZVOUS_H_
