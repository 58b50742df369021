#include "data/sample_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::data {

absl::StatusOr<SampleSource> SampleSource::Create(
    std::vector<TokenShard> shards, const Options& options) {
  if (options.context_length < 1 || options.vocab_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("samples need a context length and a vocabulary of at "
                     "least 1, not ",
                     options.context_length, " and ", options.vocab_size));
  }
  std::vector<uint64_t> starts = {0};
  for (const TokenShard& shard : shards) {
    starts.push_back(starts.back() + shard.size());
  }
  const uint64_t tokens = starts.back();
  const uint64_t context = static_cast<uint64_t>(options.context_length);
  const uint64_t samples = tokens == 0 ? 0 : (tokens - 1) / context;
  if (samples == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the data hold ", tokens, " tokens; one sample of context length ",
        context, " needs ", context + 1));
  }
  return SampleSource(std::move(shards), std::move(starts), samples, options);
}

SampleSource::SampleSource(std::vector<TokenShard> shards,
                           std::vector<uint64_t> starts, uint64_t sample_count,
                           const Options& options)
    : shards_(std::move(shards)),
      starts_(std::move(starts)),
      options_(options),
      order_(sample_count, options.seed) {}

absl::Status SampleSource::Fill(std::span<const uint64_t> positions,
                                std::span<int32_t> inputs,
                                std::span<int32_t> targets) const {
  const size_t context = static_cast<size_t>(options_.context_length);
  SKERRY_CHECK(inputs.size() == positions.size() * context &&
               targets.size() == inputs.size());
  for (size_t row = 0; row < positions.size(); ++row) {
    SKERRY_RETURN_IF_ERROR(FillSample(order_.At(positions[row]).sample,
                                      inputs.subspan(row * context, context),
                                      targets.subspan(row * context, context)));
  }
  return absl::OkStatus();
}

absl::Status SampleSource::FillInOrder(uint64_t first, int rows,
                                       std::span<int32_t> inputs,
                                       std::span<int32_t> targets) const {
  const size_t context = static_cast<size_t>(options_.context_length);
  const size_t count = static_cast<size_t>(rows);
  SKERRY_CHECK(first + count <= sample_count());
  SKERRY_CHECK(inputs.size() == count * context &&
               targets.size() == inputs.size());
  for (size_t row = 0; row < count; ++row) {
    SKERRY_RETURN_IF_ERROR(FillSample(first + row,
                                      inputs.subspan(row * context, context),
                                      targets.subspan(row * context, context)));
  }
  return absl::OkStatus();
}

absl::Status SampleSource::FillSample(uint64_t sample,
                                      std::span<int32_t> inputs,
                                      std::span<int32_t> targets) const {
  const uint64_t begin = sample * inputs.size();
  Read(begin, inputs);
  Read(begin + 1, targets);
  // A token that four bytes hold and an int32 does not is negative here.
  const auto bound = static_cast<uint32_t>(options_.vocab_size);
  auto largest = static_cast<uint32_t>(inputs[0]);
  for (const int32_t token : targets) {
    largest = std::max(largest, static_cast<uint32_t>(token));
  }
  if (largest >= bound) {
    return absl::DataLossError(
        absl::StrCat("the data hold token ", largest, " in sample ", sample,
                     ", but the model's vocabulary ends at ", bound - 1));
  }
  return absl::OkStatus();
}

template <typename Use>
void SampleSource::EveryPiece(uint64_t begin, uint64_t count,
                              const Use& use) const {
  size_t shard = std::upper_bound(starts_.begin(), starts_.end(), begin) -
                 starts_.begin() - 1;
  while (count > 0) {
    const uint64_t inside = begin - starts_[shard];
    const uint64_t some =
        std::min<uint64_t>(count, shards_[shard].size() - inside);
    use(shards_[shard], inside, some);
    count -= some;
    begin += some;
    ++shard;
  }
}

void SampleSource::EveryRange(
    std::span<const uint64_t> positions,
    absl::FunctionRef<void(std::span<const std::byte>)> use) const {
  const auto context = static_cast<uint64_t>(options_.context_length);
  for (const uint64_t position : positions) {
    // The last target is behind the inputs.
    EveryPiece(order_.At(position).sample * context, context + 1,
               [&](const TokenShard& shard, uint64_t begin, uint64_t count) {
                 use(shard.BytesOf(begin, count));
               });
  }
}

void SampleSource::Read(uint64_t begin, std::span<int32_t> out) const {
  EveryPiece(begin, out.size(),
             [&](const TokenShard& shard, uint64_t inside, uint64_t count) {
               shard.Read(inside, out.first(count));
               out = out.subspan(count);
             });
}

}  // namespace skerry::data
