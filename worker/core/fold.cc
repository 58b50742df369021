#include "worker/core/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "compression/workspace.h"
#include "worker/core/result_piece.h"

namespace skerry::worker {
namespace {

SpanState Make(Sequence applied, std::vector<float> values,
               Attempt attempt = {}) {
  const uint64_t hash = Hash64Of<float>(values);
  return {applied,
          std::make_shared<const std::vector<float>>(std::move(values)), hash,
          attempt};
}

}  // namespace

uint64_t StateSize(const optimizer::OuterOptions& options, uint64_t elements) {
  return optimizer::HasMomentum(options) ? 2 * elements : elements;
}

SpanState InitialState(const optimizer::OuterOptions& options,
                       std::span<const float> initial,
                       std::span<const float> momentum) {
  SKERRY_CHECK(momentum.empty() || momentum.size() == initial.size());
  std::vector<float> values(StateSize(options, initial.size()), 0.0f);
  std::copy(initial.begin(), initial.end(), values.begin());
  if (values.size() > initial.size()) {
    std::copy(momentum.begin(), momentum.end(),
              values.begin() + static_cast<ptrdiff_t>(initial.size()));
  }
  return Make(Sequence(), std::move(values));
}

absl::StatusOr<SpanState> ReadBase(const optimizer::OuterOptions& options,
                                   uint64_t elements, Sequence sequence,
                                   uint64_t hash,
                                   std::span<const std::byte> piece) {
  const uint64_t size = StateSize(options, elements);
  if (piece.size() != size * sizeof(float)) {
    return absl::DataLossError(absl::StrCat("base ", sequence.value(), ": ",
                                            piece.size(), " bytes, expected ",
                                            size * sizeof(float)));
  }
  if (Hash64(piece) != hash) {
    return absl::DataLossError(
        absl::StrCat("base ", sequence.value(), ": the hash does not match"));
  }
  std::vector<float> values(size);
  if (size > 0) std::memcpy(values.data(), piece.data(), piece.size());
  for (const float value : values) {
    if (!std::isfinite(value)) {
      return absl::DataLossError(
          absl::StrCat("base ", sequence.value(), ": a value is not finite"));
    }
  }
  return SpanState{
      sequence,
      std::make_shared<const std::vector<float>>(std::move(values)),
      hash,
      {}};
}

absl::StatusOr<SpanState> FoldResult(const JobSettings& settings,
                                     const SpanState& state, uint64_t elements,
                                     const CommittedEntry& entry, uint64_t hash,
                                     std::span<const std::byte> piece,
                                     SpanRule rule) {
  SKERRY_CHECK(Next(state.applied) == entry.sequence);
  if (Hash64(piece) != hash) {
    return absl::DataLossError(absl::StrCat("result ", entry.sequence.value(),
                                            ": the hash does not match"));
  }
  const std::span<float> mean =
      compression::ThreadWorkspace().DecodedRoom(elements);
  SKERRY_RETURN_IF_ERROR(DecodeMean(piece, entry.total_weight, mean));
  std::vector<float> values = *state.values;
  if (rule == SpanRule::kAverage) {
    // Not -mean, so that a zero is +0.
    for (size_t i = 0; i < mean.size(); ++i) values[i] = 0.0f - mean[i];
    return Make(entry.sequence, std::move(values), entry.attempt);
  }
  // The schedule is placed by what was committed before this result, which
  // every replica reads from the same record.
  const double before =
      static_cast<double>(entry.samples_committed) - entry.total_weight;
  const optimizer::OuterScalars scalars = optimizer::ScalarsAt(
      settings.outer, static_cast<uint64_t>(std::max(0.0, before)),
      settings.samples);
  const std::span<float> all(values);
  optimizer::OuterStep(settings.outer, scalars, mean, all.first(elements),
                       all.subspan(elements));
  return Make(entry.sequence, std::move(values), entry.attempt);
}

uint64_t BaseInterval(const JobSettings& settings) {
  // Long enough that a codec's fixed cost a block counts, short enough for all.
  constexpr uint64_t kElements = uint64_t{1} << 16;
  constexpr uint64_t kFramesMax = 2;  // of a one-hop result
  // Who starts from a base takes an outer step over the whole model for each
  // result after it, however small.
  constexpr uint64_t kIntervalMax = 64;
  const auto codec = compression::FindCodec(settings.codec);
  if (!codec.ok()) return 1;
  const uint64_t base = StateSize(settings.outer, kElements) * sizeof(float);
  const uint64_t result = kFramesMax * (*codec)->MaxEncodedBytes(kElements);
  return std::clamp<uint64_t>(base / std::max<uint64_t>(1, result), 1,
                              kIntervalMax);
}

bool IsBaseSequence(const JobSettings& settings, const CommittedEntry& entry) {
  const uint64_t sequence = entry.sequence.value();
  return sequence % BaseInterval(settings) == 0 ||
         (settings.checkpoint_every > 0 && settings.fragments == 1 &&
          sequence % settings.checkpoint_every == 0) ||
         entry.samples_committed >= settings.samples;
}

}  // namespace skerry::worker
