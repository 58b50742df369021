// trainer/attach/service/attached_trainer.h
//
// A user's own training program behind the trainer seam.
#ifndef SKERRY_TRAINER_ATTACH_SERVICE_ATTACHED_TRAINER_H_
#define SKERRY_TRAINER_ATTACH_SERVICE_ATTACHED_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/instant.h"
#include "proto/skerry/v1/job.pb.h"
#include "runtime/posix/monotonic_clock.h"
#include "trainer/attach/core/rank_set.h"
#include "trainer/attach/service/rank_host.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer::attach {

struct AttachOptions {
  // The program's file. It runs by itself when it may be executed, and under
  // `python` otherwise.
  std::string program;
  std::string python = "python3";
  int ranks = 1;
  // A folder that is there; rank R prints to rank-R.log in it.
  std::string log_directory = "";
  RankTimes times = {};
  std::function<Instant()> now = runtime::MonotonicNow;
};

// Calls of ranks that have failed, and answers that are wrong, are Internal
// with one line. Snapshot and Load need UseMemory: their `state` is the memory
// that the ranks have mapped. Group calls with members are Unimplemented.
class AttachedTrainer final : public Trainer {
 public:
  // Starts the program for the job, and returns when it has described its
  // model. Codes: InvalidArgument when the job has no program, or the
  // description is wrong; NotFound and PermissionDenied for the program's file;
  // otherwise those of RankHost.
  static absl::StatusOr<std::unique_ptr<AttachedTrainer>> Start(
      const AttachOptions& options, const v1::JobSpec& job, StopRequested stop);
  // Lets the program end by itself, or ends it.
  ~AttachedTrainer() override;

  const Description& description() const override { return description_; }
  // The first call hashes the initial values, through the memory.
  absl::Status UseMemory(const std::string& path,
                         std::span<float> state) override;
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override;
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override;
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override;
  absl::Status JoinGroup(Collective* island) override;
  absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                     InnerFile& file) override;
  absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                          InnerFile& file) override;
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override;
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override;

 private:
  AttachedTrainer(std::unique_ptr<RankHost> host, Description description)
      : host_(std::move(host)), description_(std::move(description)) {}

  const std::unique_ptr<RankHost> host_;
  Description description_;
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_SERVICE_ATTACHED_TRAINER_H_
