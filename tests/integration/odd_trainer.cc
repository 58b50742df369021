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
#include "trainer/main/program.h"
#include "trainer/service/job_engine.h"
#include "trainer/service/job_trainer.h"
#include "trainer/testing/forwarding_trainer.h"

namespace skerry::trainer {
namespace {

class DiesInRun final : public ForwardingTrainer {
 public:
  using ForwardingTrainer::ForwardingTrainer;
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    if (++runs_ < 2) return ForwardingTrainer::Run(request, stop);
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

class StandsStill final : public ForwardingTrainer {
 public:
  using ForwardingTrainer::ForwardingTrainer;

 private:
  void OnStep() override {
    ForwardingTrainer::OnStep();
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
