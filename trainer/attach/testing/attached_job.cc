#include "trainer/attach/testing/attached_job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "gtest/gtest.h"
#include "runtime/posix/shared_memory.h"
#include "trainer/core/element_ranges.h"
#include "trainer/testing/forwarding_trainer.h"

namespace skerry::trainer::attach {
namespace {

// A number that no other test process and no other call of this one has.
std::string Unique() {
  static std::atomic<int> calls{0};
  const std::string folder = ::testing::TempDir();
  return absl::StrCat("attached-", getpid(), "-",
                      Hash64Of(std::span<const char>(folder)), "-", ++calls);
}

// Copies between `state` and the memory that the program has mapped.
class WithMemory final : public ForwardingTrainer {
 public:
  WithMemory(std::unique_ptr<Trainer> inner,
             std::shared_ptr<runtime::SharedMemory> memory)
      : ForwardingTrainer(std::move(inner), memory),
        memory_(std::move(memory)) {}

  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override {
    SKERRY_RETURN_IF_ERROR(ForwardingTrainer::Snapshot(ranges, State()));
    return CopyRanges(ranges, State(), state);
  }
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override {
    SKERRY_RETURN_IF_ERROR(CopyRanges(ranges, state, State()));
    return ForwardingTrainer::Load(ranges, owners, State());
  }

 private:
  std::span<float> State() {
    const std::span<std::byte> bytes = memory_->bytes();
    return {reinterpret_cast<float*>(bytes.data()),
            bytes.size() / sizeof(float)};
  }

  const std::shared_ptr<runtime::SharedMemory> memory_;
};

}  // namespace

v1::JobSpec QuadraticJob(const std::string& parameters) {
  v1::JobSpec job;
  job.set_name("quadratic");
  job.mutable_model()->set_seed(5);
  job.mutable_model()->mutable_program()->set_name("quadratic");
  job.mutable_model()->mutable_program()->set_parameters_json(parameters);
  job.mutable_data()->set_id("noise");
  job.mutable_training()->set_samples(1000);
  job.mutable_training()->set_batch_samples(8);
  return job;
}

AttachOptions QuadraticOptions(int ranks) {
  AttachOptions options = {.program = kQuadraticProgram, .ranks = ranks};
  options.log_directory = absl::StrCat(::testing::TempDir(), "/", Unique());
  EXPECT_EQ(mkdir(options.log_directory.c_str(), 0700), 0);
  return options;
}

absl::StatusOr<std::unique_ptr<Trainer>> StartWithMemory(
    const AttachOptions& options, const v1::JobSpec& job) {
  SKERRY_ASSIGN_OR_RETURN(
      auto trainer, AttachedTrainer::Start(options, job, [] { return false; }));
  SKERRY_ASSIGN_OR_RETURN(
      auto memory, runtime::SharedMemory::Create(
                       "/" + Unique(),
                       trainer->description().element_count * sizeof(float)));
  const std::span<float> state(reinterpret_cast<float*>(memory->bytes().data()),
                               trainer->description().element_count);
  SKERRY_RETURN_IF_ERROR(
      trainer->UseMemory(absl::StrCat("/dev/shm", memory->name()), state));
  memory->Unlink();
  return std::make_unique<WithMemory>(std::move(trainer), std::move(memory));
}

}  // namespace skerry::trainer::attach
