#include "compression/top_k/bands.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "compression/top_k/cpu/candidates.h"

namespace skerry::compression {
namespace {

constexpr size_t kGroup = 4;
// A second sample, about this large, is taken of what the first one leaves
// open, unless less than kSampledLeast is open.
constexpr size_t kSecondSample = size_t{1} << 12;
constexpr size_t kSampledLeast = 16 * kSecondSample;
// Counts in a sample are about Poisson distributed. A bound is this many
// standard deviations away.
constexpr double kDeviations = 4.0;

// A magnitude that the k-th largest of a sample may well reach, from one group
// in kGroupsPassed of it.
uint32_t HintFrom(std::span<const float> sample, size_t k) {
  constexpr size_t kGroupsPassed = 32;
  constexpr size_t kMost = 1024;
  float some[kMost];
  size_t count = 0;
  for (size_t at = 0; at + kGroup <= sample.size() && count < kMost;
       at += kGroupsPassed * kGroup) {
    std::copy_n(&sample[at], kGroup, some + count);
    count += kGroup;
  }
  const double rank = static_cast<double>(k) / kGroupsPassed;
  const auto sure = static_cast<size_t>(rank + 2.0 * std::sqrt(rank)) + 1;
  return sure > count ? 0 : cpu::DividingMagnitude({some, count}, sure);
}

// Returns bounds for the k-th largest of `of` values, from a sample of them.
Bounds BoundsFrom(std::span<float> sample, size_t of, size_t k) {
  const auto count = static_cast<double>(of);
  const auto sampled = static_cast<double>(sample.size());
  const double rank = static_cast<double>(k) / count * sampled;
  const double slack = kDeviations * std::sqrt(rank) + 8.0;
  Bounds bounds;
  if (rank + slack >= sampled) return bounds;
  const auto least = static_cast<size_t>(rank + slack) + 1;
  bounds.low = cpu::DividingMagnitude(sample, least, HintFrom(sample, least));
  bounds.low = std::max<uint32_t>(bounds.low, 1);
  bounds.most = static_cast<size_t>(2.0 * count * (rank + slack) / sampled);
  if (rank - slack < 1.0) return bounds;
  // Where most of the sample is 0, this is as well.
  bounds.high =
      std::clamp(cpu::DividingMagnitude(
                     sample, static_cast<size_t>(rank - slack) + 1, bounds.low),
                 bounds.low, cpu::kInfinityBits);
  return bounds;
}

size_t Open(std::span<const PartScratch> parts) {
  size_t open = 0;
  for (const PartScratch& part : parts) open += part.open.size();
  return open;
}

// Groups of neighbours at even strides over all that is open: `all`.
void SampleOpen(std::span<const PartScratch> parts, size_t all,
                std::vector<float>& sample) {
  const size_t stride = all / (kSecondSample / kGroup);
  sample.clear();
  size_t begin = 0;
  size_t next = 0;
  for (const PartScratch& part : parts) {
    const std::span<const float> open = part.open;
    for (; next < begin + open.size(); next += stride) {
      if (open.size() < kGroup) continue;
      const size_t at = std::min(next - begin, open.size() - kGroup);
      sample.insert(sample.end(), &open[at], &open[at] + kGroup);
    }
    begin += open.size();
  }
}

// Leaves open what a sample of it does not tell is not the k-th largest of it,
// counts in part.above what is above that and `k` down by it, and raises `low`.
// False, and nothing is done, where a sample does not tell.
bool Narrow(std::span<PartScratch> parts, size_t& k, uint32_t& low,
            Workspace& workspace) {
  const size_t open = Open(parts);
  if (open < kSampledLeast) return false;
  SampleOpen(parts, open, workspace.sample);
  const Bounds bounds = BoundsFrom(workspace.sample, open, k);
  const uint32_t from = std::max(bounds.low, low);
  workspace.executor->ForEach(parts.size(), [&](size_t index) {
    PartScratch& part = parts[index];
    const cpu::Between between =
        cpu::CopyBetween(part.open, from, bounds.high, part.spare.get());
    part.narrowed = between.copied;
    part.passed = between.above;
  });
  size_t above = 0;
  size_t left = 0;
  for (const PartScratch& part : parts) {
    above += part.passed;
    left += part.narrowed;
  }
  if (above >= k || above + left < k || left > open / 2) return false;
  for (PartScratch& part : parts) {
    std::swap(part.spare, part.narrower);
    part.open = {part.narrower.get(), part.narrowed};
    part.above += part.passed;
  }
  k -= above;
  low = from;
  return true;
}

}  // namespace

Bounds BoundsOf(std::span<const float> values, size_t k, size_t size,
                Workspace& workspace) {
  // Neighbours share a page and a line of a cache.
  const size_t groups = size / kGroup;
  const size_t stride = values.size() / groups;
  std::vector<float>& sample = workspace.sample;
  sample.resize(groups * kGroup);
  for (size_t g = 0; g < groups; ++g) {
    std::copy_n(&values[g * stride], kGroup, &sample[g * kGroup]);
  }
  return BoundsFrom(sample, values.size(), k);
}

uint32_t DividingOf(size_t count, size_t k, uint32_t low, size_t room,
                    Workspace& workspace) {
  const std::span<PartScratch> parts(workspace.parts.data(), count);
  for (PartScratch& part : parts) {
    const size_t most = std::max(part.band.room(), cpu::kCandidateSlack);
    part.narrower.Room(most);
    part.spare.Room(most);
  }
  while (Narrow(parts, k, low, workspace)) {
  }
  const size_t open = Open(parts);
  float* const all = workspace.band.Room(std::max(open, room));
  float* to = all;
  for (const PartScratch& part : parts) {
    to = std::copy(part.open.begin(), part.open.end(), to);
  }
  return cpu::DividingMagnitude({all, open}, k, low);
}

}  // namespace skerry::compression
