#include "job/codec_review.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codec.h"
#include "planner/codec_loss.h"
#include "planner/codec_menu.h"
#include "planner/codec_policy.h"

namespace skerry::job {
namespace {

double LeastErrorOfMenu() {
  double least = std::numeric_limits<double>::infinity();
  for (const planner::CodecOption& option : planner::CodecMenu()) {
    least = std::min(least, option.relative_rms);
  }
  return least;
}

}  // namespace

void ReviewCodec(const std::string& codec, std::optional<double> error_max,
                 SpecProblems& problems) {
  if (const auto id = compression::ParseCodecName(codec);
      !id.ok() && !planner::IsCodecPolicy(codec)) {
    problems.Add("exchange.codec",
                 absl::StrCat(id.status().message(),
                              ", adaptive, or ada_top_k/N likewise"));
  }
  if (!error_max.has_value()) return;
  problems.Require(
      codec == planner::kAdaptiveCodec, "exchange.error_max",
      "is only adaptive's: a codec that is named has its own error");
  const double least = LeastErrorOfMenu();
  // NaN is in no range.
  if (*error_max >= least && *error_max <= 1) return;
  problems.Add("exchange.error_max",
               absl::StrFormat(
                   "has to be in [%g, 1], not %g: adaptive has no codec that "
                   "errs less; name raw_f32 or bf16 as exchange.codec then",
                   least, *error_max));
}

double StandardBeta(const std::string& codec) {
  if (planner::IsCodecPolicy(codec)) return 1.0;
  const auto id = compression::ParseCodecName(codec);
  return id.ok() ? compression::DefaultErrorFeedback(*id) : 0.0;
}

void ReviewDivergence(const std::string& codec, double beta, double momentum,
                      SpecProblems& problems) {
  const auto id = compression::ParseCodecName(codec);
  planner::CodecLoss loss = planner::CodecLoss::kRounding;
  if (id.ok()) loss = planner::LossOf(*id);
  if (planner::AdaTopKRatio(codec)) loss = planner::CodecLoss::kSparse;
  const auto diverges = planner::FindDivergence(loss, beta, momentum);
  if (!diverges) return;
  problems.Add(
      diverges->field,
      absl::StrCat(
          "does not go with ", codec, ": ",
          absl::string_view(diverges->why.data(), diverges->why.size()), "; ",
          absl::string_view(diverges->remedy.data(), diverges->remedy.size())));
}

}  // namespace skerry::job
