// trainer/core/trainer.h
//
// This interface is all that the rest of Skerry knows of the trained model. The
// model is one flat array of fp32 values. Nobody outside computes with tensors;
// a checkpoint gives them their names.
#ifndef SKERRY_TRAINER_CORE_TRAINER_H_
#define SKERRY_TRAINER_CORE_TRAINER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/collective.h"
#include "base/element_range.h"
#include "data/sample_ranges.h"
#include "model/safetensors/dtype.h"
#include "model/safetensors/export_file.h"
#include "protocol/generate_request.h"
#include "trainer/core/inner_file.h"

namespace skerry::trainer {

using protocol::GenerateRequest;

// Elements that the trainer of this rank gets from its worker.
struct RankRange {
  ElementRange range;
  int rank = 0;
};

// A part of the flat state that has a name in checkpoints.
struct ModelTensor {
  std::string name;
  // Empty for a single value.
  std::vector<uint64_t> shape;
  // How the live values are kept, and how exports write them.
  model::Dtype dtype = model::Dtype::kF32;
  // Its first element in the flat state.
  uint64_t offset = 0;
  // Other names of the same tensor; exports leave them out.
  std::vector<std::string> tied;
  // The anchor has the mean of its values over the replicas, and no outer step
  // is applied to them.
  bool average = false;
};

// What a trainer cannot do is not asked of it. It would answer Unimplemented
// and change nothing.
struct Capabilities {
  bool evaluates = false;
  bool generates = false;
  // JoinGroup with more than one member.
  bool groups = false;
  // The number of processes that compute for this trainer.
  uint32_t ranks = 1;
  // SaveInner and LoadInner.
  bool saves_inner = false;
};

struct Description {
  uint64_t element_count = 0;
  // Samples in one epoch of the training split.
  uint64_t epoch_samples = 0;
  uint64_t validation_samples = 0;
  double flops_per_sample = 0;
  // XXH3-64 of the initial values. It may be 0 until UseMemory has been called.
  uint64_t initial_hash = 0;
  // Hash of what each element means: the names, shapes and order of the
  // tensors. Equal in all trainers of a job, too.
  uint64_t layout_hash = 0;
  Capabilities capabilities;
  std::vector<model::ExportFile> export_files;
  // By rising offset, and without gaps but the one before the first that is
  // averaged; empty when they follow from the job's config.
  std::vector<ModelTensor> tensors;
  // The offset of that one; 0 when none is. `element_count` counts the gap.
  uint64_t average_begin = 0;
};

struct RunRequest {
  // Positions of the replica's samples, in order. Every inner step takes the
  // next `replica_batch_samples` of them, and the last step takes the rest.
  std::vector<data::SampleRange> ranges;
  uint64_t replica_batch_samples = 0;
  // Positions that probably come next, so that their samples may be fetched
  // ahead. Nothing is checked about them.
  std::vector<data::SampleRange> upcoming = {};
};

// Loss and norm are the same in all trainers of an island.
struct RunResult {
  uint64_t samples = 0;
  uint64_t inner_steps = 0;
  // Mean over the samples, nats a token. 0 when the trainer measures none.
  double loss = 0;
  bool has_loss = true;
  // The gradient's norm in the last step, before clipping, and the learning
  // rate that the step used.
  double gradient_norm = 0;
  double learning_rate = 0;
  // Means over the samples of whatever else the trainer reports.
  std::map<std::string, double> metrics;
  // Steps that were left out because gradients had overflowed.
  uint64_t skipped_steps = 0;
};

struct EvaluateResult {
  // Mean over the tokens, nats.
  double loss = 0;
  uint64_t samples = 0;
};

// Returns true when the running call should end with Aborted. It is asked
// between batches.
using StopRequested = absl::FunctionRef<bool()>;

// Calls are made one at a time. Every call has these errors. InvalidArgument:
// the request is wrong and nothing was done. FailedPrecondition: something has
// to be set up first. Aborted: the call was stopped or the island's group
// ended. Internal and DataLoss: the trainer is of no use any more (a loss that
// is not finite, bad data). After an error of Run or Load the live values are
// unspecified until everything is loaded again.
class Trainer {
 public:
  virtual ~Trainer() = default;
  // `on_step` runs at the end of every inner step, on the thread that called
  // Run.
  void set_on_step(std::function<void()> on_step) {
    on_step_ = std::move(on_step);
  }
  virtual const Description& description() const = 0;

  // Tells the path under which other processes can map the memory of the flat
  // state. From now on `state` of Snapshot and Load is this process's mapping
  // of it. A trainer that computes in one process has no use for the path.
  virtual absl::Status UseMemory(const std::string& path,
                                 std::span<float> state) {
    return absl::OkStatus();
  }

  // Takes inner steps. In a group all members call it with the same request,
  // and each computes its own part of every batch.
  virtual absl::StatusOr<RunResult> Run(const RunRequest& request,
                                        StopRequested stop) = 0;

  // Copies live values of `ranges` to the same places of `state`, which has
  // element_count values.
  virtual absl::Status Snapshot(std::span<const ElementRange> ranges,
                                std::span<float> state) = 0;

  // Overwrites live values of `ranges` from the same places of `state`. In a
  // group all members call it with the same `owners`, ascending ranges that
  // cover the model; a member loads at least what it owns, and gets the rest
  // from the owners. `owners` is empty in a group of one.
  virtual absl::Status Load(std::span<const ElementRange> ranges,
                            std::span<const RankRange> owners,
                            std::span<const float> state) = 0;

  // From now on computes with the members of `island`, which outlives its use
  // here; null means alone. All members call it together. The optimizer state
  // of the member that has taken most steps becomes that of all, so they stay
  // equal.
  virtual absl::Status JoinGroup(Collective* island) = 0;

  // Writes the inner state to `file`: what the next step reads beside live
  // values and samples. Returns the bytes of the file. After an error, which
  // changes nothing here, the file is of no use. Not collective.
  virtual absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                             InnerFile& file) {
    return absl::UnimplementedError("this trainer saves no inner state");
  }

  // Takes the inner state of `file`, so that the trainer goes on as the one
  // that saved it, bit for bit, once the live values are loaded too. Errors:
  // InvalidArgument, and the inner state is as it was, when the file is broken
  // or its state is not one of this trainer with this layout. Not collective;
  // a member of a group calls it before JoinGroup.
  virtual absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                                  InnerFile& file) {
    return absl::UnimplementedError("this trainer saves no inner state");
  }

  // Measures the loss on the first `samples_max` samples of the validation
  // split, or on all when it is 0. Deterministic; not collective.
  virtual absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                                  StopRequested stop) = 0;

  // Returns what the model adds to a prompt, as bytes. Not collective.
  virtual absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                               StopRequested stop) = 0;

 protected:
  // Implementations call it at the end of every inner step.
  void StepDone() const {
    if (on_step_ != nullptr) on_step_();
  }

 private:
  std::function<void()> on_step_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TRAINER_H_
