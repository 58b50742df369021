// planner/codec_choice.h
//
// Which codec each member of an exchange sends with: the least expected error
// whose exchange still hides behind the round. A member's codec carries what it
// contributes and, of the spans that it owns, the results.
//
// Pure: measurements in, a choice and its reason out.
#ifndef SKERRY_PLANNER_CODEC_CHOICE_H_
#define SKERRY_PLANNER_CODEC_CHOICE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "planner/codec_loss.h"
#include "planner/exchange_time.h"

namespace skerry::planner {

struct CodecOption {
  std::string name;
  CodecLoss loss = CodecLoss::kRounding;
  CodecCost cost;
  // Norm of the error over the norm of what was encoded, in one go.
  double relative_rms = 0.0;
};

// What the job does with errors.
struct ErrorHandling {
  double beta = 0.0;      // error-feedback factor, in [0, 1]
  double momentum = 0.0;  // of the outer optimizer
  // RoundsAtOnce() that the outer step does not stand any more.
  double rounds_at_once_max = std::numeric_limits<double>::infinity();
  // A codec's relative_rms that the job does not accept any more is above this.
  double error_max = std::numeric_limits<double>::infinity();
};

// How many rounds of work reach the model at once when a codec with this error
// gives way to one that sends everything: the last round, and what error
// feedback has kept of those before, beta * relative_rms^2 of it a round, after
// which the rest is as the geometric series of that. Infinite when nothing is
// ever sent.
double RoundsAtOnce(double relative_rms, double beta);

// Why a job may not use a codec; empty when it may. Refused is what diverges
// (FindDivergence), what errs more than the job accepts, and what keeps so much
// that the outer step overshoots once it is sent.
std::string WhyRefused(const CodecOption& option,
                       const ErrorHandling& handling);

struct CodecProblem {
  ExchangeShape shape;
  std::vector<CodecOption> options;
  ErrorHandling handling;
  // What the exchange has to hide behind.
  absl::Duration budget;
};

// Errors: InvalidArgument when the shape is, an option's numbers are out of
// their domain, the budget is negative, or every option is refused.
absl::Status ValidateProblem(const CodecProblem& problem);

struct CodecChoice {
  std::vector<uint32_t> codec;  // by member: index in the options
  absl::Duration exchange;      // by TimesOf
  bool hides = false;           // exchange <= budget
  // Expected norm of the error of the mean over its own norm, for independent
  // errors and contributions of one norm: a contribution's error enters with
  // its share of the weight, a result's whole.
  double relative_error = 0.0;
  std::string reason;
};

// Of all assignments that hide, one with the least error; when none hides, of
// those that end first. Of a member's codecs with one error, the quicker.
// Refused options are never chosen.
//
// Errors: as ValidateProblem.
absl::StatusOr<CodecChoice> ChooseCodecs(const CodecProblem& problem);

// What is known of an assignment. Requires: ValidateProblem(problem) is OK, and
// codec[i] < options.size() for each member.
CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_CHOICE_H_
