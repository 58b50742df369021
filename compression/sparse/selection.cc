#include "compression/sparse/selection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "compression/cpu/select.h"
#include "compression/parts.h"

namespace skerry::compression {
namespace {

// A sample of one value in 32 costs about as much as a pass.
constexpr size_t kSampledShare = 32;
constexpr size_t kSampleMin = size_t{1} << 8;
constexpr size_t kSampleMax = size_t{1} << 14;
constexpr int kPartsPerThread = 4;
// Places within a part are 32 bits.
constexpr size_t kPartSizeMax = size_t{1} << 31;

Selection CutOf(size_t elements, Workspace& workspace) {
  const auto threads = static_cast<size_t>(workspace.executor->thread_count());
  size_t parts = 1;
  if (threads > 1) {
    parts = std::clamp<size_t>(elements / kPartElements, 1,
                               kPartsPerThread * threads);
  }
  parts = std::max(parts, (elements + kPartSizeMax - 1) / kPartSizeMax);
  if (workspace.parts.size() < parts) workspace.parts.resize(parts);
  return {.parts = parts, .part_size = (elements + parts - 1) / parts};
}

std::span<const float> PartOf(std::span<const float> values,
                              const Selection& cut, size_t index) {
  const size_t begin = std::min(index * cut.part_size, values.size());
  return values.subspan(begin, std::min(cut.part_size, values.size() - begin));
}

// Calls body(part, values of it) for every part.
template <typename Body>
void ForEachPart(std::span<const float> values, const Selection& cut,
                 Workspace& workspace, const Body& body) {
  workspace.executor->ForEach(cut.parts, [&](size_t index) {
    body(workspace.parts[index], PartOf(values, cut, index));
  });
}

Selection Finished(Selection cut, Workspace& workspace) {
  size_t next = 0;
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    part.at = cut.sent;
    part.next = next;
    cut.sent += part.places.size();
    if (!part.places.empty()) {
      next = index * cut.part_size + part.places.back() + 1;
    }
  }
  return cut;
}

// Magnitudes between which the k-th largest is all but sure to lie, from even
// strides; low 0 where no sample can tell.
struct Bounds {
  uint32_t low = 0;
  uint32_t high = cpu::kInfinityBits;
  size_t most = 0;  // that reach `low`, were the sample far off
};

Bounds BoundsOf(std::span<const float> values, size_t k, Workspace& workspace) {
  Bounds bounds;
  if (k > values.size() / 2) return bounds;
  const size_t size = std::min(values.size() / kSampledShare, kSampleMax);
  if (size < kSampleMin) return bounds;
  const size_t stride = values.size() / size;
  std::vector<uint32_t>& sample = workspace.places;
  sample.resize(size);
  for (size_t i = 0; i < size; ++i) {
    sample[i] = cpu::MagnitudeBits(values[i * stride]);
  }
  const auto count = static_cast<double>(values.size());
  const auto sampled = static_cast<double>(size);
  const double rank = static_cast<double>(k) / count * sampled;
  // Four standard deviations of a count that is about Poisson's.
  const double slack = 4.0 * std::sqrt(rank) + 8.0;
  if (rank + slack >= sampled) return bounds;
  const auto low = sample.begin() + static_cast<ptrdiff_t>(rank + slack);
  std::nth_element(sample.begin(), low, sample.end(), std::greater<uint32_t>());
  bounds.low = std::max<uint32_t>(*low, 1);
  bounds.most = static_cast<size_t>(2.0 * count * (rank + slack) / sampled);
  if (rank - slack < 1.0) return bounds;
  const auto high = sample.begin() + static_cast<ptrdiff_t>(rank - slack);
  std::nth_element(sample.begin(), high, low, std::greater<uint32_t>());
  bounds.high = std::min(*high, cpu::kInfinityBits);
  return bounds;
}

// What a part is given to begin with, so that its memory does not depend on
// the values as long as they are spread evenly.
void Clear(PartScratch& part, const Selection& cut, size_t most) {
  part.places.clear();
  part.values.clear();
  const size_t share = cut.parts == 1 ? most : 2 * most / cut.parts;
  const size_t room = std::min(cut.part_size, share) + cpu::kChunkElements;
  part.places.reserve(room);
  part.values.reserve(room);
}

// By passes over the whole slice, whatever its values are.
std::optional<Selection> SelectExactly(std::span<const float> values, size_t k,
                                       uint32_t hint, const Selection& cut,
                                       Workspace& workspace) {
  if (!EveryFinite(values, workspace)) return std::nullopt;
  const uint32_t dividing = cpu::DividingMagnitude(values, k, hint);
  size_t ties = k - cpu::CountAtLeast(values, dividing + 1);
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    Clear(part, cut, k);
    cpu::AppendLargest(PartOf(values, cut, index), dividing, ties,
                       std::numeric_limits<size_t>::max(), part.places,
                       part.values);
  }
  return Finished(cut, workspace);
}

// Leaves all that reach `low` in the parts. Whether that are k or more, and no
// part has more than `most`.
bool CollectCandidates(std::span<const float> values, size_t k,
                       const Bounds& bounds, const Selection& cut,
                       Workspace& workspace) {
  ForEachPart(values, cut, workspace,
              [&](PartScratch& part, std::span<const float> mine) {
                Clear(part, cut, bounds.most);
                size_t ties = 0;
                cpu::AppendLargest(mine, bounds.low - 1, ties, bounds.most,
                                   part.places, part.values);
              });
  size_t found = 0;
  for (size_t index = 0; index < cut.parts; ++index) {
    const size_t size = workspace.parts[index].places.size();
    if (size > bounds.most) return false;
    found += size;
  }
  return found >= k;
}

// The candidates below `bounds.high`, of all parts, into workspace.band; how
// many others there are.
size_t GatherBand(const Bounds& bounds, const Selection& cut,
                  Workspace& workspace) {
  workspace.executor->ForEach(cut.parts, [&](size_t index) {
    PartScratch& part = workspace.parts[index];
    part.ties = cpu::CountAtLeast(part.values, bounds.high);
  });
  size_t above = 0;
  size_t band = 0;
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    above += part.ties;
    part.at = band;
    band += part.values.size() - part.ties;
  }
  // Copies write whole vectors.
  workspace.band.reserve(bounds.most);
  workspace.band.resize(band + cpu::kCollectSlack);
  for (size_t index = 0; index < cut.parts; ++index) {
    const PartScratch& part = workspace.parts[index];
    cpu::CopyBelow(part.values, bounds.high,
                   std::span(workspace.band).subspan(part.at).data());
  }
  workspace.band.resize(band);
  return above;
}

// Keeps the candidates above `dividing` and the first `ties` that equal it.
void DropBelow(uint32_t dividing, size_t ties, const Selection& cut,
               Workspace& workspace) {
  if (ties > 0) {
    workspace.executor->ForEach(cut.parts, [&](size_t index) {
      PartScratch& part = workspace.parts[index];
      part.ties = cpu::CountAtLeast(part.values, dividing) -
                  cpu::CountAtLeast(part.values, dividing + 1);
    });
  }
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    part.ties = std::min(ties == 0 ? 0 : part.ties, ties);
    ties -= part.ties;
  }
  workspace.executor->ForEach(cut.parts, [&](size_t index) {
    PartScratch& part = workspace.parts[index];
    size_t kept = 0;
    if (part.ties == 0) {
      kept = cpu::KeepAtLeast(dividing + 1, part.values.size(),
                              part.places.data(), part.values.data());
    } else {
      size_t left = part.ties;
      for (size_t i = 0; i < part.values.size(); ++i) {
        const uint32_t size = cpu::MagnitudeBits(part.values[i]);
        const bool ties_in = size == dividing && left > 0;
        part.values[kept] = part.values[i];
        part.places[kept] = part.places[i];
        left -= ties_in ? 1 : 0;
        kept += size > dividing || ties_in ? 1 : 0;
      }
    }
    part.values.resize(kept);
    part.places.resize(kept);
  });
}

}  // namespace

bool EveryFinite(std::span<const float> values, Workspace& workspace) {
  return EveryPart(values.size(), *workspace.executor,
                   [&](size_t begin, size_t end) {
                     return cpu::AllFinite(values.subspan(begin, end - begin));
                   });
}

bool SelectedFinite(const Selection& selection, const Workspace& workspace) {
  return std::all_of(
      workspace.parts.begin(),
      workspace.parts.begin() + static_cast<ptrdiff_t>(selection.parts),
      [](const PartScratch& part) { return cpu::AllFinite(part.values); });
}

std::optional<Selection> SelectTopK(std::span<const float> values, size_t k,
                                    Workspace& workspace) {
  const Selection cut = CutOf(values.size(), workspace);
  const Bounds bounds = BoundsOf(values, k, workspace);
  if (bounds.low >= cpu::kInfinityBits) return std::nullopt;
  if (bounds.low == 0 ||
      !CollectCandidates(values, k, bounds, cut, workspace)) {
    return SelectExactly(values, k, bounds.low, cut, workspace);
  }
  // Whatever is not finite is above `low`.
  if (!SelectedFinite(cut, workspace)) return std::nullopt;
  const size_t above = GatherBand(bounds, cut, workspace);
  if (above >= k) {
    return SelectExactly(values, k, bounds.high, cut, workspace);
  }
  const uint32_t dividing =
      cpu::DividingMagnitude(workspace.band, k - above, bounds.low);
  const size_t ties =
      k - above - cpu::CountAtLeast(workspace.band, dividing + 1);
  DropBelow(dividing, ties, cut, workspace);
  return Finished(cut, workspace);
}

Selection SelectAtLeast(std::span<const float> values, uint32_t bits,
                        size_t most, Workspace& workspace) {
  Selection cut = CutOf(values.size(), workspace);
  ForEachPart(values, cut, workspace,
              [&](PartScratch& part, std::span<const float> mine) {
                Clear(part, cut, most);
                size_t ties = 0;
                cpu::AppendLargest(mine, bits - 1, ties, most, part.places,
                                   part.values);
              });
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    cut.cut |= part.places.size() > most;
    part.places.resize(std::min(part.places.size(), most));
    part.values.resize(part.places.size());
    most -= part.places.size();
  }
  return Finished(cut, workspace);
}

}  // namespace skerry::compression
