#include "planner/codec_policy.h"

#include <string>

namespace skerry::planner {
namespace {

constexpr std::string_view kAdaTopK = "ada_top_k/";
constexpr int kRatioMin = 4;
constexpr int kRatioMax = 256;

}  // namespace

std::optional<double> AdaTopKRatio(std::string_view codec) {
  if (!codec.starts_with(kAdaTopK)) return std::nullopt;
  const std::string_view number = codec.substr(kAdaTopK.size());
  for (int ratio = kRatioMin; ratio <= kRatioMax; ratio *= 2) {
    if (number == std::to_string(ratio)) return ratio;
  }
  return std::nullopt;
}

}  // namespace skerry::planner
