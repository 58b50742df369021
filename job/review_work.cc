#include "job/review_work.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "job/codec_review.h"
#include "job/limits.h"
#include "job/program_review.h"
#include "optimizer/outer/outer_options.h"

namespace skerry::job {
namespace {

using Problems = SpecProblems;

// NaN is in no range.
bool Within(double value, double low, double high) {
  return value >= low && value <= high;
}

// Trainers compute in fp32, where a number close to a bound may be the bound.
bool IsAboveZero(double value) { return static_cast<float>(value) > 0; }
bool IsBelowOne(double value) { return static_cast<float>(value) < 1; }

void ReviewBetas(const JobSpec::Training& t, Problems& problems) {
  if (t.optimizer == InnerOptimizer::kSgd) {
    constexpr char kNotSgds[] =
        "is not sgd's, which has momentum; leave it out";
    problems.Require(!t.beta1.has_value(), "training.beta1", kNotSgds);
    problems.Require(!t.beta2.has_value(), "training.beta2", kNotSgds);
    problems.Require(!t.epsilon.has_value(), "training.epsilon",
                     "is not sgd's; leave it out");
    return;
  }
  const auto is_beta = [](double b) { return IsAboveZero(b) && IsBelowOne(b); };
  problems.Bound(is_beta(*t.beta1), "training.beta1", *t.beta1,
                 "in (0, 1) as fp32");
  problems.Bound(is_beta(*t.beta2), "training.beta2", *t.beta2,
                 "in (0, 1) as fp32");
  problems.Bound(IsAboveZero(*t.epsilon) && *t.epsilon <= 1, "training.epsilon",
                 *t.epsilon, "in (0, 1] as fp32");
}

void ReviewMomentum(const JobSpec::Training& t, Problems& problems) {
  if (t.optimizer != InnerOptimizer::kSgd &&
      t.optimizer != InnerOptimizer::kMuon) {
    problems.Require(!t.momentum.has_value(), "training.momentum",
                     "is only sgd's and muon's; AdamW and LAMB have beta1");
    problems.Require(!t.nesterov.has_value(), "training.nesterov",
                     "is only sgd's and muon's");
    return;
  }
  problems.Bound(*t.momentum >= 0 && IsBelowOne(*t.momentum),
                 "training.momentum", *t.momentum, "in [0, 1) as fp32");
  problems.Require(t.optimizer != InnerOptimizer::kSgd || !*t.nesterov ||
                       IsAboveZero(*t.momentum),
                   "training.nesterov",
                   "has no meaning without momentum; leave it out");
}

void ReviewSchedule(const JobSpec::Training& t, Problems& problems) {
  problems.Bound(
      IsAboveZero(*t.learning_rate) && *t.learning_rate <= kLearningRateMax,
      "training.learning_rate", *t.learning_rate, "in (0, 10] as fp32");
  problems.Bound(Within(*t.warmup_fraction, 0, 1), "training.warmup_fraction",
                 *t.warmup_fraction, "in [0, 1]");
  problems.Bound(Within(*t.min_learning_rate_ratio, 0, 1),
                 "training.min_learning_rate_ratio", *t.min_learning_rate_ratio,
                 "in [0, 1]");
  // What is of no effect is a mistake: the operator meant something else.
  if (t.schedule == Schedule::kWsd) {
    problems.Bound(Within(*t.decay_fraction, 0, 1), "training.decay_fraction",
                   *t.decay_fraction, "in [0, 1]");
  } else {
    problems.Require(!t.decay_fraction.has_value(), "training.decay_fraction",
                     "is only the schedule wsd's");
  }
  problems.Require(
      t.schedule != Schedule::kInverseSqrt || *t.warmup_fraction > 0,
      "training.warmup_fraction",
      "has to be above 0 for the schedule inverse_sqrt, which is counted in "
      "it");
}

void ReviewMicroBatch(const JobSpec::Training& t, Problems& problems) {
  const uint32_t rows = *t.micro_batch_samples;
  if (rows > kMicroBatchMax && rows == t.batch_samples) {
    problems.Add(
        "training.batch_samples",
        absl::StrCat("is ", rows, ", and a trainer computes at most ",
                     kMicroBatchMax,
                     " rows at once; lower it, or set "
                     "training.micro_batch_samples to what fits in memory"));
  } else {
    problems.Between("training.micro_batch_samples", rows, 1u, kMicroBatchMax,
                     "it is the number of rows computed at once");
    if (rows > t.batch_samples) {
      problems.Add("training.micro_batch_samples",
                   absl::StrCat("is ", rows, ", above training.batch_samples, ",
                                "which is ", t.batch_samples,
                                "; lower it, or leave it out"));
    }
  }
}

void ReviewLength(const JobSpec::Training& t, Problems& problems) {
  problems.Required("training.samples", t.samples, kSamplesMax,
                    "it is the length of the run");
  problems.Required("training.batch_samples", t.batch_samples, kBatchMax,
                    "it is what a worker draws for one inner step");
  problems.Between("training.tau", t.tau, 1u, kTauMax,
                   "it is the number of inner steps in a round");
  problems.Between("training.evaluate_every", *t.evaluate_every, 1u,
                   kEvaluateMax, "it counts sequences");
  problems.Between("training.evaluate_samples", t.evaluate_samples, 1u,
                   kEvaluateMax);
}

// What Skerry's own engine does in an inner step.
void ReviewEngine(const JobSpec::Training& t, Problems& problems) {
  if (t.batch_samples > 0) ReviewMicroBatch(t, problems);
  ReviewBetas(t, problems);
  ReviewMomentum(t, problems);
  ReviewSchedule(t, problems);
  problems.Bound(Within(*t.weight_decay, 0, kWeightDecayMax),
                 "training.weight_decay", *t.weight_decay, "in [0, 10]");
  problems.Bound(Within(*t.clip_norm, 0, std::numeric_limits<float>::max()),
                 "training.clip_norm", *t.clip_norm,
                 "0 (off) or a positive number of fp32");
}

void ReviewExchange(const JobSpec& spec, Problems& problems) {
  const JobSpec::Exchange& e = spec.exchange;
  ReviewCodec(e.codec, e.error_max, problems);
  problems.Bound(e.quorum > 0 && e.quorum <= 1, "exchange.quorum", e.quorum,
                 "in (0, 1]: a share of the replicas");
  problems.Between("exchange.min_replicas", e.min_replicas, 1u, kReplicasMax);
  problems.Between("exchange.carry", e.carry, 0u, kCarryMax,
                   "it counts sequences");
  problems.Between("exchange.spans", e.spans, 1u, kSpansMax);
  problems.Between("exchange.fragments", e.fragments, 1u, kFragmentsMax);
  if (e.fragments < 1 || e.fragments > kFragmentsMax) return;
  if (spec.training.tau % e.fragments == 0) return;
  problems.Add("exchange.fragments",
               absl::StrCat("does not divide training.tau, which is ",
                            spec.training.tau, ": each of ", e.fragments,
                            " fragments has its turn once in so many inner "
                            "steps; change one of the two"));
}

// The job's field for an option of optimizer/outer.
std::string OuterField(const std::string& option) {
  if (option == "penalty") return "outer.staleness_penalty";
  if (option == "undelayed_rounds_fraction") return "outer.undelayed_fraction";
  return "outer." + option;
}

void ReviewOuterLoop(const JobSpec& spec, std::vector<std::string>& warnings,
                     Problems& problems) {
  if (spec.outer.method == OuterMethod::kUnspecified) {
    problems.Add("outer.method",
                 "is not set; use late, local_sgd, diloco, co2, dasgd or "
                 "average_plus_local_delta");
    return;
  }
  problems.Bound(Within(*spec.outer.beta, 0, 1), "outer.beta", *spec.outer.beta,
                 "in [0, 1]");
  ReviewDivergence(spec.exchange.codec, *spec.outer.beta, *spec.outer.momentum,
                   problems);
  const optimizer::OuterOptions options = OuterOptionsOf(spec);
  if (const auto refusal = optimizer::RefuseOuterOption(options)) {
    problems.Add(OuterField(refusal->field), refusal->why);
    return;
  }
  const auto review = optimizer::ValidateOuter(options);
  if (!review.ok()) {
    const absl::string_view why = review.status().message();
    problems.Add("outer", std::string_view(why.data(), why.size()));
    return;
  }
  if (spec.outer.accept_weak_damping) return;
  for (const std::string& warning : review->warnings) {
    warnings.push_back(absl::StrCat("outer: ", warning));
  }
}

}  // namespace

void ReviewFilledWork(const JobSpec& spec, std::vector<std::string>& warnings,
                      SpecProblems& problems) {
  ReviewLength(spec.training, problems);
  if (spec.model.program.has_value()) {
    ReviewProgramTraining(spec.training, problems);
  } else {
    ReviewEngine(spec.training, problems);
  }
  ReviewExchange(spec, problems);
  ReviewOuterLoop(spec, warnings, problems);
}

}  // namespace skerry::job
