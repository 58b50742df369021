// The engine with a fault that SKERRY_TEST_TRAINER names:
//   other_values  it begins with the initial values of another seed
//   dies_in_run   it answers its second Run with an error, and its process ends
//                 with code 3 at once
//   stands_still  when the file that SKERRY_TEST_FILE names is there, it
//                 removes the file, and the step in progress never ends; the
//                 process goes on to answer
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

// Does what the engine does.
class OddTrainer : public Trainer {
 public:
  explicit OddTrainer(std::unique_ptr<Trainer> engine)
      : engine_(std::move(engine)) {
    engine_->set_on_step([this] { OnStep(); });
  }

  const Description& description() const override {
    return engine_->description();
  }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    return engine_->Run(request, stop);
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

 protected:
  virtual void OnStep() { StepDone(); }

 private:
  const std::unique_ptr<Trainer> engine_;
};

class DiesInRun final : public OddTrainer {
 public:
  using OddTrainer::OddTrainer;
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    if (++runs_ < 2) return OddTrainer::Run(request, stop);
    // The answer is on its way when the process ends.
    std::thread([] {
      usleep(20'000);
      _exit(3);
    }).detach();
    return absl::InternalError("the device has fallen off the bus");
  }

 private:
  int runs_ = 0;
};

class StandsStill final : public OddTrainer {
 public:
  using OddTrainer::OddTrainer;

 private:
  void OnStep() override {
    OddTrainer::OnStep();
    const char* const file = getenv("SKERRY_TEST_FILE");
    // Only one process removes it.
    if (file == nullptr || unlink(file) != 0) return;
    while (true) pause();
  }
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
  if (made.ok() && fault == "stands_still") {
    made->trainer = std::make_unique<StandsStill>(std::move(made->trainer));
  }
  return made;
}

}  // namespace
}  // namespace skerry::trainer

int main(int argc, char** argv) {
  return skerry::trainer::RunProgram(argc, argv, skerry::trainer::Make);
}
