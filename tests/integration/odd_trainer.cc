// The engine with a fault that SKERRY_TEST_TRAINER names:
//   other_values  it begins with the initial values of another seed
//   dies_in_run   it answers its second Run with an error, and its process ends
//                 with code 3 at once
// Without one it is the engine.
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "trainer/core/trainer.h"
#include "trainer/main/program.h"
#include "trainer/service/job_engine.h"
#include "trainer/service/job_trainer.h"

namespace skerry::trainer {
namespace {

class DiesInRun final : public Trainer {
 public:
  explicit DiesInRun(std::unique_ptr<Trainer> engine)
      : engine_(std::move(engine)) {}

  const Description& description() const override {
    return engine_->description();
  }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    if (++runs_ < 2) return engine_->Run(request, stop);
    // The answer is on its way when the process ends.
    std::thread([] {
      usleep(20'000);
      _exit(3);
    }).detach();
    return absl::InternalError("the device has fallen off the bus");
  }
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override {
    return engine_->Snapshot(ranges, state);
  }
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override {
    return engine_->Load(ranges, owners, state);
  }
  absl::Status JoinGroup(Collective* island) override {
    return engine_->JoinGroup(island);
  }
  absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                     InnerFile& file) override {
    return engine_->SaveInner(label, file);
  }
  absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                          InnerFile& file) override {
    return engine_->LoadInner(layout_hash, file);
  }
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override {
    return engine_->Evaluate(samples_max, stop);
  }
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override {
    return engine_->Generate(request, stop);
  }

 private:
  const std::unique_ptr<Trainer> engine_;
  int runs_ = 0;
};

absl::StatusOr<JobTrainer> Make(v1::JobSpec job, ShardCheck check,
                                ParallelExecutor& executor,
                                const std::function<void()>& on_piece) {
  const char* const named = getenv("SKERRY_TEST_TRAINER");
  const std::string fault = named == nullptr ? "" : named;
  if (fault == "other_values") {
    job.mutable_model()->set_seed(job.model().seed() + 1);
  }
  absl::StatusOr<JobTrainer> made =
      MakeJobEngine(job, check, executor, on_piece);
  if (made.ok() && fault == "dies_in_run") {
    made->trainer = std::make_unique<DiesInRun>(std::move(made->trainer));
  }
  return made;
}

}  // namespace
}  // namespace skerry::trainer

int main(int argc, char** argv) {
  return skerry::trainer::RunProgram(argc, argv, skerry::trainer::Make);
}
