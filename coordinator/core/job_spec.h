// coordinator/core/job_spec.h
//
// What an operator submits, which defaults fill it, and what makes it
// impossible or unwise. Field for field the message of
// proto/skerry/v1/job.proto, which says what each means.
#ifndef SKERRY_COORDINATOR_CORE_JOB_SPEC_H_
#define SKERRY_COORDINATOR_CORE_JOB_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/sample_ranges.h"
#include "optimizer/outer/outer_options.h"

namespace skerry::coordinator {

enum class OuterMethod {
  kUnspecified,
  kLocalSgd,
  kDiloco,
  kCo2,
  kAveragePlusLocalDelta,
};

enum class InnerOptimizer { kUnspecified, kAdamW, kLamb, kSgd, kMuon };

enum class Schedule {
  kUnspecified,
  kCosine,
  kLinear,
  kWsd,
  kInverseSqrt,
  kConstant,
};

enum class Compute { kUnspecified, kFp32, kBf16 };

enum class Samples { kUnspecified, kAnew, kGoOn };

struct JobSpec {
  struct Checkpoint {
    std::string path;
    std::string name;
    std::string sha256;
    Samples samples = Samples::kUnspecified;
    std::vector<data::SampleRange> consumed;
    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
  };
  struct Model {
    std::string config_json;
    uint64_t seed = 0;
    std::optional<Checkpoint> checkpoint = std::nullopt;
    friend bool operator==(const Model&, const Model&) = default;
  };
  struct Data {
    std::string path;
    std::string manifest_sha256;
    uint64_t seed = 0;
    uint32_t sequence_tokens = 0;
    friend bool operator==(const Data&, const Data&) = default;
  };
  struct Training {
    uint64_t samples = 0;
    uint32_t batch_samples = 0;
    uint32_t micro_batch_samples = 0;
    uint32_t tau = 0;
    double learning_rate = 0;
    double beta1 = 0;
    double beta2 = 0;
    double epsilon = 0;
    std::optional<double> weight_decay;
    std::optional<double> warmup_fraction;
    std::optional<double> min_learning_rate_ratio;
    std::optional<double> clip_norm;
    std::optional<uint32_t> evaluate_every;
    uint32_t evaluate_samples = 0;
    InnerOptimizer optimizer = InnerOptimizer::kUnspecified;
    std::optional<double> momentum;
    std::optional<bool> nesterov;
    Schedule schedule = Schedule::kUnspecified;
    std::optional<double> decay_fraction;
    bool recompute = false;
    Compute compute = Compute::kUnspecified;
    friend bool operator==(const Training&, const Training&) = default;
  };
  struct OuterLoop {
    OuterMethod method = OuterMethod::kUnspecified;
    std::optional<double> learning_rate;
    std::optional<double> momentum;
    std::optional<bool> nesterov;
    std::optional<double> staleness_penalty;
    std::optional<double> clip;
    std::optional<double> beta;
    std::optional<double> undelayed_fraction;
    bool accept_weak_damping = false;
    friend bool operator==(const OuterLoop&, const OuterLoop&) = default;
  };
  struct Exchange {
    std::string codec;
    double quorum = 0;
    uint32_t min_replicas = 0;
    std::optional<uint32_t> carry;
    uint32_t spans = 0;
    uint32_t fragments = 0;  // 0 is 1
    std::optional<double> error_max = std::nullopt;
    friend bool operator==(const Exchange&, const Exchange&) = default;
  };
  struct Placement {
    std::vector<std::string> islands;
    uint32_t workers_min = 0;
    friend bool operator==(const Placement&, const Placement&) = default;
  };

  struct Queue {
    int32_t priority = 0;
    std::string owner;
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  struct Checkpoints {
    std::string directory;
    uint32_t every = 0;
    uint32_t keep = 0;
    friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
  };

  std::string name;
  Model model;
  Data data;
  Training training;
  OuterLoop outer;
  Exchange exchange;
  Placement placement;
  Queue queue;
  std::optional<Checkpoints> checkpoint;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

struct ReviewedSpec {
  // With every default filled in.
  JobSpec spec;
  // What was accepted although it is not advised, one line each.
  std::vector<std::string> warnings;
};

// Fills defaults and checks. Reviewing a filled spec again changes nothing.
//
// Errors: InvalidArgument with every problem at once, one a line: field path,
// what is wrong, what to do.
absl::StatusOr<ReviewedSpec> ReviewJobSpec(const JobSpec& submitted);

// What the job has trained on before it began: of a job that goes on from a
// checkpoint.
data::RangeSet ConsumedBefore(const JobSpec& spec);

// In how many parts the model is exchanged.
uint32_t FragmentCount(const JobSpec& spec);

// Rounds between a contribution and its application: 0 or 1. Requires a filled
// spec.
uint32_t OuterDelay(const JobSpec& spec);

// How many sequences old a contribution's base may be (PROTOCOL 5.1: D).
// Requires: a reviewed spec.
uint64_t StalenessMax(const JobSpec& spec);

// Requires a filled spec.
optimizer::OuterOptions OuterOptionsOf(const JobSpec& spec);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_JOB_SPEC_H_
