// planner/codec_controller.h
//
// Applies ChooseCodecs or ChooseAdaTopK over time, such that codecs change when
// links do, and not with every measurement. Codecs of results are kept and
// changed together with those of contributions. AdaTopK has one codec for both.
//
// A choice of ChooseCodecs stays while it hides in (1 + band) of the budget and
// nothing better hides in (1 - band) of it. So a change is undone only if rates
// differ by a factor of (1 + band) / (1 - band).
//
// A member's codec of ChooseAdaTopK stays while it lies between the codecs for
// a ratio that is larger by 1 + band and one that is smaller by 1 - band.
#ifndef SKERRY_PLANNER_CODEC_CONTROLLER_H_
#define SKERRY_PLANNER_CODEC_CONTROLLER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "planner/codec_choice.h"

namespace skerry::planner {

struct ControllerOptions {
  double band = 0.2;   // of the budget, in [0, 1)
  double gain = 0.25;  // a better choice lowers the error by this share
  // ChooseAdaTopK with this ratio, at least 1, instead of ChooseCodecs.
  std::optional<double> ada_top_k = {};
};

struct CodecDecision {
  CodecChoice choice;
  // For a replica that was here before; the reason then says why.
  bool changed = false;
};

class CodecController {
 public:
  explicit CodecController(const ControllerOptions& options);

  // Replicas that left are forgotten; new ones get the codec of a fresh choice.
  // The first decision's reason has the refusals, as has that of a change that
  // links cause.
  //
  // Errors: as ChooseCodecs or ChooseAdaTopK; nothing is forgotten then.
  absl::StatusOr<CodecDecision> Decide(const CodecProblem& problem);

 private:
  absl::StatusOr<CodecChoice> LeastError(const CodecProblem& problem) const;
  absl::StatusOr<CodecChoice> AdaTopK(const CodecProblem& problem) const;
  // Each member's codecs so far, or where it has none that it may use, those of
  // `fresh`; of results the contributions' where they must be the same.
  CodecChoice Kept(const CodecProblem& problem, const CodecChoice& fresh) const;

  // By name, because options may come and go.
  struct Names {
    std::string codec;
    std::string result_codec;
    friend bool operator==(const Names&, const Names&) = default;
  };
  absl::btree_map<ReplicaId, Names> current_;
  const ControllerOptions options_;
};

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_CONTROLLER_H_
