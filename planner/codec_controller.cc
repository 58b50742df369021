#include "planner/codec_controller.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status.h"
#include "planner/ada_top_k.h"

namespace skerry::planner {
namespace {

uint32_t IndexOf(const CodecProblem& problem, const std::string& name,
                 uint32_t otherwise) {
  for (uint32_t c = 0; c < problem.options.size(); ++c) {
    if (problem.options[c].name == name &&
        WhyRefused(problem.options[c], problem.handling).empty()) {
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

CodecChoice CodecController::Kept(const CodecProblem& problem,
                                  const CodecChoice& fresh) const {
  std::vector<uint32_t> codec = fresh.codec;
  std::vector<uint32_t> result_codec = fresh.result_codec;
  for (size_t m = 0; m < codec.size(); ++m) {
    const auto it = current_.find(problem.shape.members[m].replica);
    if (it != current_.end()) {
      codec[m] = IndexOf(problem, it->second.codec, codec[m]);
      result_codec[m] =
          IndexOf(problem, it->second.result_codec, result_codec[m]);
    }
    if (!ResultsApart(problem, m)) result_codec[m] = codec[m];
  }
  return Appraise(problem, std::move(codec), std::move(result_codec));
}

absl::StatusOr<CodecChoice> CodecController::LeastError(
    const CodecProblem& problem) const {
  SKERRY_ASSIGN_OR_RETURN(CodecChoice fresh, ChooseCodecs(problem));
  if (current_.empty()) return fresh;
  CodecChoice kept = Kept(problem, fresh);
  if (kept.exchange > (1.0 + options_.band) * problem.budget) {
    // When nothing hides, what is hardly shorter is not worth a change.
    if (fresh.hides || fresh.exchange < (1.0 - options_.band) * kept.exchange) {
      absl::StrAppend(&fresh.reason,
                      absl::StrFormat("; before, it would have taken %.3g s",
                                      absl::ToDoubleSeconds(kept.exchange)));
      return fresh;
    }
    return kept;
  }
  CodecProblem tight = problem;
  tight.budget = (1.0 - options_.band) * problem.budget;
  SKERRY_ASSIGN_OR_RETURN(CodecChoice better, ChooseCodecs(tight));
  if (better.hides && better.relative_error < kept.relative_error &&
      better.relative_error <= (1.0 - options_.gain) * kept.relative_error) {
    absl::StrAppend(
        &better.reason,
        absl::StrFormat("; before, the error was %.3g", kept.relative_error));
    return better;
  }
  return kept;
}

absl::StatusOr<CodecChoice> CodecController::AdaTopK(
    const CodecProblem& problem) const {
  const double ratio = *options_.ada_top_k;
  SKERRY_ASSIGN_OR_RETURN(const CodecChoice fresh,
                          ChooseAdaTopK(problem, ratio));
  SKERRY_ASSIGN_OR_RETURN(
      const CodecChoice large,
      ChooseAdaTopK(problem, std::max(1.0, ratio / (1.0 + options_.band))));
  SKERRY_ASSIGN_OR_RETURN(
      const CodecChoice small,
      ChooseAdaTopK(problem, ratio / (1.0 - options_.band)));
  const auto bytes = [&](uint32_t codec) {
    return problem.options[codec].cost.bytes_per_element;
  };
  std::vector<uint32_t> codec = Kept(problem, fresh).codec;
  std::string moved;
  for (size_t m = 0; m < codec.size(); ++m) {
    const uint32_t before = codec[m];
    if (bytes(small.codec[m]) <= bytes(before) &&
        bytes(before) <= bytes(large.codec[m])) {
      continue;
    }
    codec[m] = fresh.codec[m];
    absl::StrAppend(&moved, "; ", problem.options[before].name, " would send ",
                    bytes(before) > bytes(codec[m]) ? "more" : "less",
                    " than its link's share for replica ",
                    problem.shape.members[m].replica.value());
  }
  CodecChoice choice = AppraiseAdaTopK(problem, ratio, std::move(codec));
  absl::StrAppend(&choice.reason, moved);
  return choice;
}

absl::StatusOr<CodecDecision> CodecController::Decide(
    const CodecProblem& problem) {
  SKERRY_ASSIGN_OR_RETURN(CodecChoice choice, options_.ada_top_k
                                                  ? AdaTopK(problem)
                                                  : LeastError(problem));
  CodecDecision decision{std::move(choice), false};
  const CodecChoice& chosen = decision.choice;
  absl::btree_map<ReplicaId, Names> next;
  for (size_t m = 0; m < problem.shape.members.size(); ++m) {
    const ReplicaId replica = problem.shape.members[m].replica;
    Names names{problem.options[chosen.codec[m]].name,
                problem.options[chosen.result_codec[m]].name};
    const auto it = current_.find(replica);
    decision.changed |= it != current_.end() && it->second != names;
    next[replica] = std::move(names);
  }
  current_ = std::move(next);
  return decision;
}

}  // namespace skerry::planner
