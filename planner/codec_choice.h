// planner/codec_choice.h
//
// Chooses the codecs of each member of an exchange: one for its contribution
// and one for the results of the spans that it owns. Among the choices whose
// exchange hides behind the round it takes the one with the least expected
// error.
//
// This is pure: measurements go in, a choice and its reason come out.
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
  // The outer step overshoots when RoundsAtOnce() is this or more.
  double rounds_at_once_max = std::numeric_limits<double>::infinity();
  // The largest relative_rms of a codec that the job accepts.
  double error_max = std::numeric_limits<double>::infinity();
};

// How many rounds of work reach the model at once when a codec with this error
// gives way to one that sends everything: the last round, and what error
// feedback has kept of those before. Each round it keeps beta * relative_rms^2
// of what is there, so the rounds add up as a geometric series. Infinite when
// nothing is ever sent.
double RoundsAtOnce(double relative_rms, double beta);

// Why a job may not use a codec, for contributions or for results; empty when
// it may. A codec is refused if it diverges (FindDivergence), if its error is
// more than the job accepts, or if error feedback keeps so much that the outer
// step overshoots once that is sent.
//
// Contributors keep what their codec leaves out, and owners what the codec of
// results leaves out, in the same buffer and by the same rule. With errors e
// and f in the two hops they keep 1 - (1 - e^2) (1 - f^2) of what a round
// brings. That is no more than what the coarser of the two codecs would keep in
// both hops, so codecs can be refused one by one, without a look at pairs.
std::string WhyRefused(const CodecOption& option,
                       const ErrorHandling& handling);

struct CodecProblem {
  ExchangeShape shape;
  std::vector<CodecOption> options;
  ErrorHandling handling;
  // What the exchange has to hide behind.
  absl::Duration budget;
  // A member's results may have another codec than its contributions.
  bool results_apart = false;
};

// Errors: InvalidArgument when the shape is, an option's numbers are out of
// their domain, the budget is negative, or every option is refused.
absl::Status ValidateProblem(const CodecProblem& problem);

struct CodecChoice {
  // By member, the codec of contributions and that of results, as an index in
  // the options. Both are the same where ResultsApart() is false.
  std::vector<uint32_t> codec;
  std::vector<uint32_t> result_codec;
  absl::Duration exchange;  // by TimesOf
  bool hides = false;       // exchange <= budget
  // Expected norm of the error of the mean over its own norm, for independent
  // errors and contributions of one norm: a contribution's error enters with
  // its share of the weight, a result's whole.
  double relative_error = 0.0;
  std::string reason;
};

// Chooses an assignment with the least error among those that hide. If none
// hides, it chooses among those that end first. A member gets the quicker of
// two codecs with the same error and, if they are as quick, the same codec for
// contributions and results where it can. Refused options are never chosen.
// Takes (members x options)^2 steps, also when results are apart.
//
// Errors: as ValidateProblem.
absl::StatusOr<CodecChoice> ChooseCodecs(const CodecProblem& problem);

// True when the results of a member may have another codec than its
// contributions, and it has results to send.
bool ResultsApart(const CodecProblem& problem, size_t member);

// Describes a given assignment. Without `result_codec`, results have the codecs
// of contributions. Requires: ValidateProblem(problem) is OK, and both are <
// options.size() for each member.
CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec,
                     std::vector<uint32_t> result_codec);
CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_CHOICE_H_
