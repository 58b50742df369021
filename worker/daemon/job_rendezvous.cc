#include "worker/daemon/job_rendezvous.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "runtime/log.h"
#include "worker/convert/peer.h"

namespace skerry::worker {
namespace {

// A head that has not heard of the life yet is asked again after so long.
constexpr absl::Duration kAskAgain = absl::Milliseconds(50);

}  // namespace

JobRendezvous::JobRendezvous(RendezvousOptions options,
                             runtime::EventLoop& loop)
    : options_(std::move(options)), loop_(loop) {}

JobRendezvous::~JobRendezvous() { Take(); }

std::shared_ptr<JobRendezvous::Search> JobRendezvous::Take() {
  if (search_ != nullptr) search_->is_over = true;
  return std::exchange(search_, nullptr);
}

void JobRendezvous::Find(const TrainerGroup& group, const std::string& head,
                         TrainerClient& trainer, Done done) {
  Cancel();
  search_ = std::make_shared<Search>(Search{
      {group.life, group.rank, options_.host}, head, trainer, std::move(done)});
  if (group.rank != 0) return AskHead();
  meeting_.Begin(group.life, group.size);
  meeting_.Ask(search_->request,
               [this, search = std::weak_ptr<Search>(search_)](
                   absl::StatusOr<std::string> bootstrap) {
                 if (IsCurrent(search)) Finish(std::move(bootstrap));
               });
}

void JobRendezvous::AskHead() {
  v1::MeetRequest request;
  MeetRequestToProto(options_.job, search_->request, &request);
  options_.peers.Meet(
      search_->head, std::move(request),
      [this, search = std::weak_ptr<Search>(search_)](
          absl::StatusOr<v1::MeetReply> reply) {
        if (!IsCurrent(search)) return;
        if (reply.ok()) return Finish(BootstrapFromProto(*reply));
        if (absl::IsAborted(reply.status())) return Finish(reply.status());
        if (absl::IsUnimplemented(reply.status())) {
          return Finish(absl::AbortedError(absl::StrCat(
              "worker ", search_->head,
              " of this island is of a release that "
              "meets otherwise; install one release on all of the island")));
        }
        loop_.RunAt(loop_.Now() + kAskAgain, [this, search] {
          if (IsCurrent(search)) AskHead();
        });
      });
}

void JobRendezvous::OnMeet(const MeetRequest& request,
                           GroupMeeting::Answer answer) {
  meeting_.Ask(request, std::move(answer));
  ConsiderOpening();
}

void JobRendezvous::ConsiderOpening() {
  if (search_ == nullptr || search_->opens || !meeting_.AllWait()) return;
  search_->opens = true;
  v1::OpenGroupRequest request;
  request.set_size(meeting_.size());
  if (!meeting_.OnOneHost()) {
    if (options_.address.empty()) {
      Finish(absl::AbortedError(
          "workers of this island are on several hosts, and the first one "
          "shares memory only; give --shared-memory-only to all of them or to "
          "none, and --island-address beside --outbound-only"));
      return meeting_.Begin(Life(), 0);
    }
    request.set_address(options_.address);
  }
  runtime::Log(runtime::Severity::kInfo, "worker.island.meets",
               {{"job", options_.job.value()},
                {"life", search_->request.life.value()},
                {"workers", meeting_.size()},
                {"at", request.address().empty() ? "shared memory"
                                                 : request.address()}});
  search_->trainer.OpenGroup(std::move(request),
                             [this, search = std::weak_ptr<Search>(search_)](
                                 absl::StatusOr<v1::OpenGroupReply> reply) {
                               if (!IsCurrent(search)) return;
                               if (reply.ok())
                                 return meeting_.Decide(reply->bootstrap());
                               // The others hear Aborted, because nothing is
                               // wrong with theirs.
                               Finish(reply.status());
                               meeting_.Begin(Life(), 0);
                             });
}

void JobRendezvous::Finish(absl::StatusOr<std::string> bootstrap) {
  // Who called may be the one that is answered.
  loop_.Post([this, search = std::weak_ptr<Search>(search_),
              bootstrap = std::move(bootstrap)]() mutable {
    if (!IsCurrent(search)) return;
    std::move(Take()->done)(std::move(bootstrap));
  });
}

void JobRendezvous::Cancel() {
  const std::shared_ptr<Search> search = Take();
  meeting_.Begin(Life(), 0);
  if (search == nullptr) return;
  loop_.Post([search] {
    std::move(search->done)(absl::AbortedError("the meeting has ended"));
  });
}

}  // namespace skerry::worker
