#include "simulator/stand_in.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "base/status.h"
#include "planner/codec_menu.h"
#include "planner/codec_policy.h"
#include "planner/spans.h"

namespace skerry::sim {
namespace {

constexpr uint64_t kWholeSpanBlocks = 2;
// Frames of a simulated model are cut by the scale, and receivers take none
// below a KiB.
constexpr double kScaleMax = 1000;
// Longer spans are charged in proportion to one of this length.
constexpr uint64_t kEncodedMax = uint64_t{1} << 22;

absl::StatusOr<std::vector<compression::CodecId>> CodecsOf(
    const std::string& name) {
  std::vector<compression::CodecId> ids;
  if (!planner::IsCodecPolicy(name)) {
    SKERRY_ASSIGN_OR_RETURN(const auto id, compression::ParseCodecName(name));
    ids.push_back(id);
    return ids;
  }
  for (const planner::CodecOption& one : planner::CodecMenu()) {
    SKERRY_ASSIGN_OR_RETURN(const auto id,
                            compression::ParseCodecName(one.name));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

double EncodedBytes(compression::CodecId id, uint64_t elements) {
  const uint64_t count = std::min(elements, kEncodedMax);
  std::vector<float> values(count);
  Random random(1);
  for (float& value : values) {
    const double laplace = -std::log(1 - random.Uniform());
    value = static_cast<float>(random.Below(2) == 0 ? laplace : -laplace);
  }
  std::vector<std::byte> payload;
  const auto codec = compression::FindCodec(id);
  SKERRY_CHECK(codec.ok());
  SKERRY_CHECK((*codec)->Encode(values, payload).ok());
  return static_cast<double>(payload.size()) * static_cast<double>(elements) /
         static_cast<double>(count);
}

absl::StatusOr<StandIn> StandInFor(uint64_t elements, uint32_t fragments,
                                   uint32_t spans, const std::string& codec) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<compression::CodecId> ids,
                          CodecsOf(codec));
  SKERRY_ASSIGN_OR_RETURN(const auto cut,
                          planner::CutFragments(elements, fragments, spans));
  const uint64_t pieces = cut.size() * cut[0].size();
  StandIn found;
  found.elements = elements;
  found.span_elements =
      static_cast<double>(elements) / static_cast<double>(pieces);
  const auto alignment = static_cast<double>(planner::SpanAlignment());
  if (found.span_elements <= kWholeSpanBlocks * alignment) return found;
  const auto blocks = static_cast<uint64_t>(
      std::ceil(found.span_elements / (alignment * kScaleMax)));
  const uint64_t own_span = blocks * planner::SpanAlignment();
  found.elements = pieces * own_span;
  found.scale.elements = found.span_elements / static_cast<double>(own_span);
  for (const compression::CodecId id : ids) {
    found.scale.frames[id] =
        EncodedBytes(id, static_cast<uint64_t>(found.span_elements)) /
        found.scale.elements / EncodedBytes(id, own_span);
  }
  return found;
}

}  // namespace skerry::sim
