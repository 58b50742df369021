// planner/codec_policy.h
//
// Names the policies that exchange.codec may have in place of a codec. A policy
// chooses codecs when an attempt opens.
#ifndef SKERRY_PLANNER_CODEC_POLICY_H_
#define SKERRY_PLANNER_CODEC_POLICY_H_

#include <optional>
#include <string_view>

namespace skerry::planner {

// The least error that hides behind the round: ChooseCodecs.
inline constexpr std::string_view kAdaptiveCodec = "adaptive";

// N of "ada_top_k/N" for N = 4, 8, .. 256, the slowest link's ratio:
// ChooseAdaTopK. Nothing for other names.
std::optional<double> AdaTopKRatio(std::string_view codec);

inline bool IsCodecPolicy(std::string_view codec) {
  return codec == kAdaptiveCodec || AdaTopKRatio(codec).has_value();
}

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_POLICY_H_
