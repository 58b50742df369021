// worker/daemon/trainer_seam.h
//
// Starts the trainer processes of one job, one at a time, and passes the seat's
// calls to the one that is ready.
#ifndef SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_
#define SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "worker/core/effects.h"
#include "worker/daemon/inner_store.h"
#include "worker/daemon/job_rendezvous.h"
#include "worker/daemon/programs.h"
#include "worker/daemon/seat_answers.h"
#include "worker/daemon/trainer_host.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

struct TrainerSeamOptions {
  // How this worker's trainer finds others.
  RendezvousOptions island;
  job::JobSpec spec;
  // Programs with their flags: the trainer of jobs with a config, and that of
  // jobs with a program, which lacks the flags that name it.
  std::vector<std::string> trainer_command;
  std::vector<std::string> attach_command;
  // Outlives the object.
  Programs& programs;
  // The folder of the job, for the logs of a program's ranks.
  std::string folder;
  // TrainerHostOptions::run_directory, and the beginning of its name.
  std::string run_directory;
  std::string name;
};

// Members are called on the loop.
class TrainerSeam final : public ProcessPort {
 public:
  // `answers`, `inner` and `listener` outlive the object.
  TrainerSeam(TrainerSeamOptions options, const SeatAnswers& answers,
              InnerStore& inner, JobListener& listener);
  ~TrainerSeam() override;

  void Start(const TrainerStart& start) override;
  void Ask(absl::AnyInvocable<void(absl::StatusOr<TrainerProgress>) &&> done)
      override;
  void Fail(const absl::Status& why) override;
  void Drop() override;
  void SetHead(const std::string& worker) override { head_ = worker; }
  void OnMeet(const MeetRequest& request,
              GroupMeeting::Answer answer) override {
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
  // Starts this trainer, which serves the job.
  void Launch(const TrainerStart& start, std::vector<std::string> command);
  void OnReady(const v1::DescribeReply& reply);
  // Serves calls with `host` from now on, null for none; answers of a former
  // one are dropped.
  void Attach(TrainerHost* host);
  template <typename Result>
  void AnswerLater(Result result, Done<Result> done);
  void Join(const TrainerGroup& group, std::string bootstrap,
            Done<absl::Status> done);

  const TrainerSeamOptions options_;
  const SeatAnswers& answers_;
  InnerStore& inner_;
  JobListener& listener_;
  std::unique_ptr<TrainerHost> process_;
  // The process, once it is ready.
  TrainerHost* host_ = nullptr;
  std::string head_;
  JobRendezvous rendezvous_;
  std::vector<std::vector<ElementRange>> owners_;
  // Replaced with the host: answers for a former one see it expired.
  std::shared_ptr<char> current_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_TRAINER_SEAM_H_
