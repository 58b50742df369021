#include "coordinator/core/rules/codec_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "compression/codec.h"
#include "coordinator/core/rules/exchange_shape.h"
#include "optimizer/outer/outer_options.h"
#include "planner/codec_controller.h"
#include "planner/codec_menu.h"
#include "planner/codec_policy.h"

namespace skerry::coordinator {
namespace {

// The share of a round's compute time that an exchange may take when training
// goes on beside it. The rest is left for encoding on busy machines and for
// what the planner's model leaves out.
constexpr double kShareBehindRound = 0.8;
// The share of a round's compute time that a round may wait for its exchange.
constexpr double kShareOfStall = 0.2;
// A step on a quadratic, as a multiple of the distance to the optimum. A step
// of this length or more ends no nearer than it began.
constexpr double kStepMax = 2.0;

// What a member's workers have measured of the menu's codecs, beside what the
// menu says: its workers each encode the spans they hold, at once. 1 where one
// of them has measured nothing.
std::vector<planner::CodecSpeed> MeasuredSpeeds(const JobState& job,
                                                const Member& member) {
  std::vector<planner::CodecSpeed> speeds;
  for (const planner::CodecOption& option : planner::CodecMenu()) {
    planner::CodecSpeed sum{0.0, 0.0};
    bool all = true;
    for (const SpanHolder& holder : member.holders) {
      const auto seat = job.seats.find(holder.peer.worker);
      bool measured = false;
      if (seat != job.seats.end()) {
        for (const protocol::CodecSpeed& speed :
             seat->second.facts.codec_speeds) {
          if (speed.codec != option.name || measured) continue;
          measured = true;
          sum.encode +=
              speed.encode_elements_per_s / option.cost.encode_elements_per_s;
          sum.decode +=
              speed.decode_elements_per_s / option.cost.decode_elements_per_s;
        }
      }
      all &= measured;
    }
    speeds.push_back(all && !member.holders.empty() ? sum
                                                    : planner::CodecSpeed());
  }
  return speeds;
}

// Whether every worker of the members can send and take results in a codec of
// their own. One that this coordinator knows nothing of cannot.
bool AllTakeResultCodecs(const JobState& job,
                         const std::vector<Member>& members) {
  for (const Member& member : members) {
    for (const SpanHolder& holder : member.holders) {
      const auto seat = job.seats.find(holder.peer.worker);
      if (seat == job.seats.end() || !seat->second.facts.result_codecs) {
        return false;
      }
    }
  }
  return true;
}

absl::Duration BudgetOf(const JobState& job,
                        const std::vector<Member>& members) {
  double round = std::numeric_limits<double>::infinity();
  for (const Member& member : members) {
    round = std::min(round, member.contribution.scalars.compute_s);
  }
  return absl::Seconds(std::max(0.0, round)) *
         (OuterDelay(job.spec) > 0 ? kShareBehindRound : kShareOfStall);
}

compression::CodecId CodecNamed(std::string_view name) {
  const auto codec = compression::ParseCodecName(name);
  SKERRY_CHECK(codec.ok());
  return *codec;
}

void SetForAll(std::string_view name, Opened& opened) {
  const compression::CodecId codec = CodecNamed(name);
  for (Member& member : opened.members) member.codec = codec;
}

void UseForAll(std::string_view codec, const std::string& why, Opened& opened) {
  SetForAll(codec, opened);
  absl::StrAppend(&opened.reason, "; ", std::string(codec), " for all: ", why);
}

}  // namespace

planner::ErrorHandling ErrorHandlingOf(const job::JobSpec& spec) {
  planner::ErrorHandling handling{*spec.outer.beta, *spec.outer.momentum};
  handling.error_max = spec.exchange.error_max.value_or(handling.error_max);
  if (spec.exchange.codec != planner::kAdaptiveCodec) return handling;
  const optimizer::OuterOptions outer = OuterOptionsOf(spec);
  const bool delayed = outer.delay_rounds > 0;
  // Other merges keep in `live` what is in flight, so it is not produced again.
  const bool again = delayed && outer.merge == optimizer::MergeRule::kReplace;
  handling.rounds_at_once_max =
      kStepMax / outer.learning_rate - (again ? outer.delay_rounds : 0);
  if (delayed && outer.undelayed_rounds_fraction > 0) {
    handling.rounds_at_once_max = std::min(
        handling.rounds_at_once_max, kStepMax / outer.undelayed_learning_rate);
  }
  return handling;
}

void PlanCodecs(JobState& job, size_t fragment, Opened& opened) {
  if (!planner::IsCodecPolicy(job.spec.exchange.codec)) {
    return SetForAll(job.spec.exchange.codec, opened);
  }
  if (opened.members.size() == 1) {
    return UseForAll(planner::kUnmeasuredCodec, "there is nobody to send to",
                     opened);
  }
  std::optional<planner::ExchangeShape> shape = MeasuredShape(job, opened);
  if (!shape.has_value()) {
    return UseForAll(planner::kUnmeasuredCodec, "no link is measured yet",
                     opened);
  }
  for (size_t m = 0; m < opened.members.size(); ++m) {
    shape->members[m].codec_speeds = MeasuredSpeeds(job, opened.members[m]);
  }
  const planner::CodecProblem problem{
      *std::move(shape), planner::CodecMenu(), ErrorHandlingOf(job.spec),
      BudgetOf(job, opened.members), AllTakeResultCodecs(job, opened.members)};
  const auto decision =
      job.codec_controllers
          .try_emplace(
              fragment,
              planner::ControllerOptions{
                  .ada_top_k = planner::AdaTopKRatio(job.spec.exchange.codec)})
          .first->second.Decide(problem);
  if (!decision.ok()) {
    return UseForAll(planner::kUnmeasuredCodec,
                     std::string(decision.status().message()), opened);
  }
  const planner::CodecChoice& choice = decision->choice;
  for (size_t m = 0; m < opened.members.size(); ++m) {
    Member& member = opened.members[m];
    member.codec = CodecNamed(problem.options[choice.codec[m]].name);
    if (choice.result_codec[m] != choice.codec[m]) {
      member.result_codec =
          CodecNamed(problem.options[choice.result_codec[m]].name);
    }
  }
  absl::StrAppend(
      &opened.reason,
      decision->changed ? "; codecs change: " : "; codecs: ", choice.reason);
}

}  // namespace skerry::coordinator
