// trainer/testing/forwarding_trainer.h
//
// A trainer that does what another one does, for tests to derive from.
#ifndef SKERRY_TRAINER_TESTING_FORWARDING_TRAINER_H_
#define SKERRY_TRAINER_TESTING_FORWARDING_TRAINER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

// Does not forward UseMemory().
class ForwardingTrainer : public Trainer {
 public:
  // `kept` is what `inner` refers to.
  explicit ForwardingTrainer(std::unique_ptr<Trainer> inner,
                             std::shared_ptr<const void> kept = nullptr)
      : kept_(std::move(kept)), inner_(std::move(inner)) {
    inner_->set_on_step([this] { OnStep(); });
  }

  const Description& description() const override {
    return inner_->description();
  }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    return inner_->Run(request, stop);
  }
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override {
    return inner_->Snapshot(ranges, state);
  }
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override {
    return inner_->Load(ranges, owners, state);
  }
  absl::Status JoinGroup(Collective* island) override {
    return inner_->JoinGroup(island);
  }
  absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                     InnerFile& file) override {
    return inner_->SaveInner(label, file);
  }
  absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                          InnerFile& file) override {
    return inner_->LoadInner(layout_hash, file);
  }
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override {
    return inner_->Evaluate(samples_max, stop);
  }
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override {
    return inner_->Generate(request, stop);
  }

 protected:
  virtual void OnStep() { StepDone(); }

 private:
  const std::shared_ptr<const void> kept_;  // outlives inner_
  const std::unique_ptr<Trainer> inner_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_FORWARDING_TRAINER_H_
