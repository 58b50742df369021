// worker/daemon/trainer_seam.h
//
// Connects the seat's TrainerPort with the current trainer process, if there is
// one.
#ifndef SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_
#define SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "worker/core/effects.h"
#include "worker/daemon/inner_store.h"
#include "worker/daemon/job_rendezvous.h"
#include "worker/daemon/seat_answers.h"
#include "worker/daemon/trainer_host.h"

namespace skerry::worker {

// Members are called on the loop. A call without a trainer is answered Aborted.
class TrainerSeam final : public TrainerPort {
 public:
  // `island` says how this worker's trainer finds others. `restart` carries out
  // Restart(). `answers` and `inner` outlive the object.
  TrainerSeam(RendezvousOptions island, const SeatAnswers& answers,
              InnerStore& inner,
              absl::AnyInvocable<void(const absl::Status& why)> restart);
  ~TrainerSeam() override;

  // Serves calls with `host` from now on, null for none; answers of a former
  // one are dropped.
  void Attach(TrainerHost* host);
  // Names the worker with rank 0 in groups to come.
  void set_head(std::string head) { head_ = std::move(head); }
  // Another worker of the replica asks where its trainers meet.
  void OnMeet(const MeetRequest& request, GroupMeeting::Answer answer) {
    rendezvous_.OnMeet(request, std::move(answer));
  }

  void JoinGroup(const TrainerGroup& group, Done<absl::Status> done) override;
  void StartRun(const data::RangeSet& ranges, const data::RangeSet& upcoming,
                uint64_t replica_batch_samples,
                Done<absl::StatusOr<RunReport>> done) override;
  void Cancel() override;
  void Snapshot(const ElementRange& range, Done<absl::Status> done) override;
  void Load(const ElementRange& range, Done<absl::Status> done) override;
  void Evaluate(uint64_t samples_max,
                Done<absl::StatusOr<EvaluationReport>> done) override;
  void Generate(const GenerateRequest& request,
                Done<absl::StatusOr<std::string>> done) override;
  bool CanSaveInner() override { return !inner_.busy(); }
  void SaveInner(const InnerLabel& label, Done<absl::Status> done) override;
  void LoadInner(uint64_t layout_hash,
                 Done<absl::StatusOr<InnerProgress>> done) override;
  TrainerMemory memory() override;
  void Restart(const absl::Status& why) override;

 private:
  template <typename Result>
  void AnswerLater(Result result, Done<Result> done);
  void Join(const TrainerGroup& group, std::string bootstrap,
            Done<absl::Status> done);

  const SeatAnswers& answers_;
  InnerStore& inner_;
  absl::AnyInvocable<void(const absl::Status& why)> restart_;
  TrainerHost* host_ = nullptr;
  const std::string address_;
  std::string head_;
  JobRendezvous rendezvous_;
  std::vector<std::vector<ElementRange>> owners_;
  // Replaced with the host: answers for a former one see it expired.
  std::shared_ptr<char> current_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_
