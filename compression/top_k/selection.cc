#include "compression/top_k/selection.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "compression/parts.h"
#include "compression/top_k/bands.h"
#include "compression/top_k/cpu/finite.h"
#include "compression/top_k/cpu/select.h"

namespace skerry::compression {
namespace {

constexpr size_t kSlack = cpu::kCandidateSlack;
// Values whose candidates are still in a first-level cache after the pass.
constexpr size_t kPass = 4096;
static_assert(kPartElements % kPass == 0 && kPass % cpu::kWordValues == 0);

// A sample of one value in 32 costs about as much as a pass.
constexpr size_t kSampledShare = 32;
constexpr size_t kSampleMin = size_t{1} << 8;
constexpr size_t kSampleMax = size_t{1} << 14;

Selection CutOf(size_t elements, Workspace& workspace) {
  const size_t parts =
      std::max<size_t>((elements + kPartElements - 1) / kPartElements, 1);
  if (workspace.parts.size() < parts) workspace.parts.resize(parts);
  return {.elements = elements,
          .parts = parts,
          .part_size = std::min(elements, kPartElements)};
}

std::span<const float> PartOf(std::span<const float> values,
                              const Selection& cut, size_t index) {
  const size_t begin = index * cut.part_size;
  return values.subspan(begin, std::min(cut.part_size, values.size() - begin));
}

Selection Finished(Selection cut, Workspace& workspace) {
  for (size_t index = 0; index < cut.parts; ++index) {
    workspace.parts[index].at = cut.sent;
    cut.sent += workspace.parts[index].sent;
  }
  return cut;
}

// What a part is given to begin with, so that its memory does not depend on
// the values as long as they are spread evenly.
size_t RoomOf(const Selection& cut, size_t most) {
  const size_t share = cut.parts == 1 ? most : 2 * most / cut.parts;
  return std::min(cut.part_size, share) + kPass + kSlack;
}

// Collects every part, of which all bands are open.
void CollectEvery(std::span<const float> values, const Selection& cut,
                  const Wanted& wanted, Workspace& workspace,
                  CollectPart collect) {
  workspace.executor->ForEach(cut.parts, [&](size_t index) {
    PartScratch& part = workspace.parts[index];
    collect(PartOf(values, cut, index), wanted, part);
    part.open = {part.band.get(), part.banded};
  });
}

// Shares out the places that are left for candidates that equal `dividing`, the
// first first. Those that are not in part.above are open.
Selection Divide(uint32_t dividing, size_t k, Selection cut,
                 Workspace& workspace) {
  cut.above = dividing;
  workspace.executor->ForEach(cut.parts, [&](size_t index) {
    PartScratch& part = workspace.parts[index];
    const size_t above = cpu::CountAtLeast(part.open, dividing + 1);
    part.ties = cpu::CountAtLeast(part.open, dividing) - above;
    part.sent = part.above + above;
  });
  size_t ties = k;
  for (size_t index = 0; index < cut.parts; ++index) {
    ties -= workspace.parts[index].sent;
  }
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    part.ties = std::min(part.ties, ties);
    part.sent += part.ties;
    ties -= part.ties;
  }
  return Finished(cut, workspace);
}

// By passes over the whole slice, whatever its values are.
std::optional<Selection> SelectExactly(std::span<const float> values, size_t k,
                                       uint32_t hint, const Selection& cut,
                                       Workspace& workspace,
                                       CollectPart collect) {
  if (!EveryFinite(values, workspace)) return std::nullopt;
  const uint32_t dividing = cpu::DividingMagnitude(values, k, hint);
  const Wanted wanted = {dividing, dividing + 1,
                         std::numeric_limits<size_t>::max(), RoomOf(cut, k)};
  CollectEvery(values, cut, wanted, workspace, collect);
  return Divide(dividing, k, cut, workspace);
}

// Whether those that reach the lower bound are k or more, and no part has more
// than the most.
bool CollectBetween(std::span<const float> values, size_t k,
                    const Bounds& bounds, const Selection& cut,
                    Workspace& workspace, CollectPart collect) {
  const Wanted wanted = {bounds.low, bounds.high, bounds.most,
                         RoomOf(cut, bounds.most)};
  CollectEvery(values, cut, wanted, workspace, collect);
  size_t found = 0;
  for (size_t index = 0; index < cut.parts; ++index) {
    if (workspace.parts[index].found > bounds.most) return false;
    found += workspace.parts[index].found;
  }
  return found >= k;
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
      [](const PartScratch& part) { return part.finite; });
}

void CollectValues(std::span<const float> values, const Wanted& wanted,
                   PartScratch& part) {
  uint64_t* const words = part.words.Room(kPartElements / cpu::kWordValues);
  part.word_count = 0;
  part.found = 0;
  part.banded = 0;
  part.finite = true;
  for (size_t begin = 0; begin < values.size(); begin += kPass) {
    const size_t size = std::min(kPass, values.size() - begin);
    const size_t before = part.found;
    part.values.Grow(before + size + kSlack, wanted.room, before);
    const cpu::Candidates to = {words, part.values.get()};
    part.found = cpu::CollectCandidates(values.subspan(begin, size), wanted.low,
                                        part.word_count, before, to);
    part.word_count += (size + cpu::kWordValues - 1) / cpu::kWordValues;
    const std::span<const float> fresh(to.values + before, part.found - before);
    part.band.Grow(part.banded + fresh.size() + kSlack, part.values.room(),
                   part.banded);
    part.banded += cpu::CopyBelow(fresh, wanted.high,
                                  part.band.get() + part.banded, part.finite);
    if (part.found > wanted.most) break;
  }
  part.above = part.found - part.banded;
}

std::optional<Selection> SelectTopK(std::span<const float> values, size_t k,
                                    Workspace& workspace, CollectPart collect) {
  const Selection cut = CutOf(values.size(), workspace);
  const size_t sampled = std::min(values.size() / kSampledShare, kSampleMax);
  Bounds bounds;
  if (k <= values.size() / 2 && sampled >= kSampleMin) {
    bounds = BoundsOf(values, k, sampled, workspace);
  }
  if (bounds.low >= cpu::kInfinityBits) return std::nullopt;
  if (bounds.low == 0 ||
      !CollectBetween(values, k, bounds, cut, workspace, collect)) {
    return SelectExactly(values, k, bounds.low, cut, workspace, collect);
  }
  // Whatever is not finite is above `low`.
  if (!SelectedFinite(cut, workspace)) return std::nullopt;
  size_t above = 0;
  for (size_t index = 0; index < cut.parts; ++index) {
    above += workspace.parts[index].above;
  }
  if (above >= k) {
    return SelectExactly(values, k, bounds.high, cut, workspace, collect);
  }
  const uint32_t dividing =
      DividingOf(cut.parts, k - above, bounds.low, bounds.most, workspace);
  return Divide(dividing, k, cut, workspace);
}

Selection SelectAtLeast(std::span<const float> values, uint32_t bits,
                        size_t most, Workspace& workspace) {
  Selection cut = CutOf(values.size(), workspace);
  cut.above = bits - 1;
  CollectEvery(values, cut, {bits, bits, most, RoomOf(cut, most)}, workspace,
               CollectValues);
  for (size_t index = 0; index < cut.parts; ++index) {
    PartScratch& part = workspace.parts[index];
    cut.cut |= part.found > most;
    part.sent = std::min(part.found, most);
    part.ties = 0;
    most -= part.sent;
  }
  return Finished(cut, workspace);
}

cpu::SentCursor BeginOf(const PartScratch& part) {
  return {.left = part.sent, .ties = part.ties};
}

cpu::Candidates CandidatesOf(const PartScratch& part) {
  return {part.words.get(), part.values.get()};
}

}  // namespace skerry::compression
