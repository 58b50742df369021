#include "planner/codec_controller.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

uint32_t IndexOf(const CodecProblem& problem, const std::string& name,
                 uint32_t otherwise) {
  for (uint32_t c = 0; c < problem.options.size(); ++c) {
    if (problem.options[c].name == name &&
        WhyRefused(problem.options[c].loss, problem.handling).empty()) {
      return c;
    }
  }
  return otherwise;
}

}  // namespace

CodecController::CodecController(const ControllerOptions& options)
    : options_(options) {
  SKERRY_CHECK(options.band >= 0.0 && options.band < 1.0);
  SKERRY_CHECK(options.gain >= 0.0 && options.gain <= 1.0);
}

absl::StatusOr<CodecDecision> CodecController::Decide(
    const CodecProblem& problem) {
  SKERRY_ASSIGN_OR_RETURN(CodecChoice fresh, ChooseCodecs(problem));
  const auto& members = problem.shape.members;
  std::vector<uint32_t> kept_codecs;
  for (size_t m = 0; m < members.size(); ++m) {
    const auto it = current_.find(members[m].replica);
    kept_codecs.push_back(it == current_.end()
                              ? fresh.codec[m]
                              : IndexOf(problem, it->second, fresh.codec[m]));
  }
  const CodecChoice kept = Appraise(problem, std::move(kept_codecs));
  CodecDecision decision{kept, false};
  if (kept.exchange > (1.0 + options_.band) * problem.budget) {
    // When nothing hides, what is hardly shorter is not worth a change.
    if (fresh.hides || fresh.exchange < (1.0 - options_.band) * kept.exchange) {
      decision.choice = std::move(fresh);
      absl::StrAppend(&decision.choice.reason, "; before, it would have taken ",
                      absl::FormatDuration(kept.exchange));
    }
  } else {
    CodecProblem tight = problem;
    tight.budget = (1.0 - options_.band) * problem.budget;
    SKERRY_ASSIGN_OR_RETURN(CodecChoice better, ChooseCodecs(tight));
    if (better.hides && better.relative_error < kept.relative_error &&
        better.relative_error <= (1.0 - options_.gain) * kept.relative_error) {
      decision.choice = std::move(better);
      absl::StrAppend(
          &decision.choice.reason,
          absl::StrFormat("; before, the error was %.3g", kept.relative_error));
    }
  }
  absl::btree_map<ReplicaId, std::string> next;
  for (size_t m = 0; m < members.size(); ++m) {
    const std::string& name = problem.options[decision.choice.codec[m]].name;
    const auto it = current_.find(members[m].replica);
    decision.changed |= it != current_.end() && it->second != name;
    next[members[m].replica] = name;
  }
  current_ = std::move(next);
  return decision;
}

}  // namespace skerry::planner
