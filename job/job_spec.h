// job/job_spec.h
//
// Defines what an operator submits, with the default of every field that has a
// fixed one. It has the fields of the message in proto/skerry/v1/job.proto,
// which says what each means. If a default depends on other fields, the field
// is empty until job/defaults.h fills it.
#ifndef SKERRY_JOB_JOB_SPEC_H_
#define SKERRY_JOB_JOB_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample_ranges.h"
#include "optimizer/outer/outer_options.h"

namespace skerry::job {

enum class OuterMethod {
  kUnspecified,
  kLocalSgd,
  kDiloco,
  kCo2,
  kAveragePlusLocalDelta,
  kLate,
  kDaSgd,
};

enum class InnerOptimizer { kAdamW, kLamb, kSgd, kMuon };

enum class Schedule { kCosine, kLinear, kWsd, kInverseSqrt, kConstant };

enum class Compute { kFp32, kBf16 };

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
  struct Program {
    std::string name;
    std::string parameters_json = {};
    std::string sha256 = {};
    friend bool operator==(const Program&, const Program&) = default;
  };
  struct Model {
    std::string config_json;
    uint64_t seed = 0;
    std::optional<Checkpoint> checkpoint = std::nullopt;
    std::optional<Program> program = std::nullopt;
    friend bool operator==(const Model&, const Model&) = default;
  };
  struct Data {
    std::string path;
    std::string manifest_sha256;
    uint64_t seed = 0;
    std::optional<uint32_t> sequence_tokens;
    std::string id = {};
    std::optional<uint64_t> samples = std::nullopt;
    friend bool operator==(const Data&, const Data&) = default;
  };
  struct Training {
    uint64_t samples = 0;
    uint32_t batch_samples = 0;
    std::optional<uint32_t> micro_batch_samples;
    uint32_t tau = 12;
    std::optional<double> learning_rate = 1e-3;
    std::optional<double> beta1;
    std::optional<double> beta2;
    std::optional<double> epsilon;
    std::optional<double> weight_decay;
    std::optional<double> warmup_fraction = 0.05;
    std::optional<double> min_learning_rate_ratio = 0.1;
    std::optional<double> clip_norm = 1;
    std::optional<uint32_t> evaluate_every;
    uint32_t evaluate_samples = 64;
    std::optional<InnerOptimizer> optimizer = InnerOptimizer::kAdamW;
    std::optional<double> momentum;
    std::optional<bool> nesterov;
    std::optional<Schedule> schedule = Schedule::kCosine;
    std::optional<double> decay_fraction;
    bool recompute = false;
    std::optional<Compute> compute = Compute::kFp32;
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
    std::optional<double> own_share;
    std::optional<uint32_t> apply_points;
    std::optional<double> mix;
    bool accept_weak_damping = false;
    friend bool operator==(const OuterLoop&, const OuterLoop&) = default;
  };
  struct Exchange {
    std::string codec = "int8_block";
    double quorum = 1;
    uint32_t min_replicas = 1;
    uint32_t carry = 2;
    uint32_t spans = 64;
    uint32_t fragments = 1;
    std::optional<double> error_max = std::nullopt;
    friend bool operator==(const Exchange&, const Exchange&) = default;
  };
  struct Placement {
    std::vector<std::string> islands;
    uint32_t workers_min = 1;
    friend bool operator==(const Placement&, const Placement&) = default;
  };

  struct Queue {
    int32_t priority = 0;
    std::string owner = "default";
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  struct Checkpoints {
    std::string directory;
    uint32_t every = 20;
    uint32_t keep = 3;
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

// The samples that a job which goes on from a checkpoint has trained on before
// it began; none for other jobs.
data::RangeSet ConsumedBefore(const JobSpec& spec);

// Empties the fields that a program decides by itself. They are empty in the
// training of every job that names a program.
void LeaveToProgram(JobSpec::Training& training);

// In how many parts the model is exchanged.
uint32_t FragmentCount(const JobSpec& spec);

// The name of the method's preset in optimizer/outer; empty when it is not set.
std::string_view OuterMethodName(OuterMethod method);

// Rounds between a contribution and its application: 0 or 1.
uint32_t OuterDelay(const JobSpec& spec);

// How many sequences old a contribution's base may be (PROTOCOL 5.1: D).
uint64_t StalenessMax(const JobSpec& spec);

// The method's preset with the job's own values in it. A penalty of 1 is none.
optimizer::OuterOptions OuterOptionsOf(const JobSpec& spec);

}  // namespace skerry::job

#endif  // SKERRY_JOB_JOB_SPEC_H_
