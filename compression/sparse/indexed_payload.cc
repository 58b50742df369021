#include "compression/sparse/indexed_payload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/cpu/gaps.h"
#include "compression/cpu/sent.h"

namespace skerry::compression {
namespace {

constexpr size_t kCountBytes = sizeof(uint32_t);
// Within a part, a gap takes this at most.
constexpr size_t kPartGapBytes = 3;
constexpr size_t kGapSlack = cpu::kCandidateSlack;
// Of a multiple of every codec's block.
constexpr size_t kBlockMost = 256;
// Values that are still in cache when they are touched again.
constexpr size_t kFillStep = 4096;

// Sent values that are decoded at once.
constexpr size_t kDecodeStep = 2048;
static_assert(kDecodeStep % kBlockMost == 0);
// Bytes of gaps that one thread reads in a row.
constexpr size_t kRangeMost = size_t{1} << 14;
constexpr size_t kRangeLeast = size_t{1} << 10;
constexpr size_t kRangesPerThread = 8;
// Of a gap of less than 2^63.
constexpr size_t kVarintMost = 9;

absl::Status Broken(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("sparse payload: ", what));
}

// What is sent by parts, as whole blocks of the inner codec where a part has
// whole ones; values of the others are left in `sent`.
class PartWriter {
 public:
  // `values` is where the inner codec's payload begins.
  PartWriter(const Selection& selection, const DenseCodec& inner,
             std::byte* values, float* sent)
      : selection_(selection),
        inner_(inner),
        block_(inner.BlockElements()),
        values_(values),
        sent_(sent) {}

  // Leaves the gaps behind the first place in the part.
  void Write(PartScratch& part) const {
    float values[kBlockMost + cpu::kSentRoom];
    std::byte* const gaps =
        part.gaps.Room(kPartGapBytes * part.values.room() + kGapSlack);
    std::byte* gaps_end = gaps;
    const cpu::Candidates candidates = CandidatesOf(part);
    cpu::SentCursor cursor = BeginOf(part);
    size_t at = part.at;
    size_t held = 0;
    while (const size_t fresh =
               cpu::ReadSent(candidates, part.word_count, selection_.above,
                             cursor, values + held, gaps_end)) {
      held += fresh;
      const size_t used = WriteBlocks({values, held}, at);
      at += used;
      held -= used;
      std::copy_n(values + used, held, values);
    }
    SKERRY_CHECK(cursor.left == 0);
    std::copy_n(values, held, sent_ + at);
    part.first = cursor.first;
    part.last = part.sent == 0 ? 0 : cursor.next - 1;
    part.gap_bytes = static_cast<size_t>(gaps_end - gaps);
  }

  // Writes the blocks that no part has all of.
  bool WriteOthers(std::span<const PartScratch> parts) const {
    const size_t total = selection_.sent;
    size_t done = 0;  // all blocks before
    bool good = true;
    const auto write = [&](size_t at) {
      const size_t begin = at / block_ * block_;
      if (at % block_ == 0 || begin < done) return;
      done = std::min(begin + block_, total);
      good &= inner_.EncodeBlocks({sent_ + begin, done - begin}, begin, total,
                                  values_);
    };
    for (const PartScratch& part : parts) write(part.at);
    write(total);
    return good;
  }

 private:
  // Of values from `at` on, those that no later value shares a block with;
  // returns how many.
  size_t WriteBlocks(std::span<const float> values, size_t at) const {
    if (block_ == 0) {
      std::copy(values.begin(), values.end(), sent_ + at);
      return values.size();
    }
    const size_t before = (block_ - at % block_) % block_;
    const size_t shared = std::min(before, values.size());
    std::copy_n(values.begin(), shared, sent_ + at);
    const size_t whole = (values.size() - shared) / block_ * block_;
    if (whole > 0) {
      SKERRY_CHECK(inner_.EncodeBlocks(values.subspan(shared, whole),
                                       at + shared, selection_.sent, values_));
    }
    return shared + whole;
  }

  const Selection& selection_;
  const DenseCodec& inner_;
  const size_t block_;
  std::byte* const values_;
  float* const sent_;
};

// Tells parts where their gaps go in the payload; where they end.
size_t PlaceGaps(const Selection& selection, std::span<PartScratch> parts) {
  size_t at = kCountBytes;
  uint64_t next = 0;
  for (size_t index = 0; index < parts.size(); ++index) {
    PartScratch& part = parts[index];
    part.gaps_at = at;
    if (part.sent == 0) continue;
    const uint64_t begin = index * selection.part_size;
    // This one may be longer than the part.
    part.first_gap = begin + part.first - next;
    at += cpu::GapBytes(part.first_gap) + part.gap_bytes;
    next = begin + part.last + 1;
  }
  return at;
}

// Cuts the bytes of gaps where varints end.
void CutGaps(std::span<const std::byte> gaps, size_t threads,
             std::vector<GapRange>& ranges) {
  const size_t size =
      threads == 1 ? std::max<size_t>(gaps.size(), 1)
                   : std::clamp(gaps.size() / (kRangesPerThread * threads),
                                kRangeLeast, kRangeMost);
  ranges.clear();
  for (size_t begin = 0; begin < gaps.size();) {
    size_t end = std::min(begin + size, gaps.size());
    const size_t most = std::min(end + kVarintMost, gaps.size());
    while (end < most && std::to_integer<unsigned>(gaps[end - 1]) >= 0x80) {
      ++end;
    }
    ranges.push_back({.begin = begin, .end = end});
    begin = end;
  }
}

// One payload that is being read.
class Reader {
 public:
  Reader(std::span<const std::byte> gaps, const std::byte* values,
         size_t elements, size_t count, const DenseCodec& inner)
      : gaps_(gaps),
        values_(values),
        elements_(elements),
        count_(count),
        inner_(inner) {}

  // Tells every range where it begins. False when the gaps are not those of
  // `count` places.
  bool Place(Workspace& workspace) const {
    std::vector<GapRange>& ranges = workspace.ranges;
    if (ranges.size() == 1) return true;  // whoever reads it finds out
    workspace.executor->ForEach(ranges.size(), [&](size_t index) {
      GapRange& range = ranges[index];
      const auto sums = cpu::SumGaps(
          gaps_.subspan(range.begin, range.end - range.begin), elements_);
      range.good = sums.has_value();
      if (!range.good) return;
      range.at = sums->gaps;
      range.next = sums->places;
    });
    size_t at = 0;
    uint64_t next = 0;
    for (GapRange& range : ranges) {
      if (!range.good) return false;
      const size_t gaps = range.at;
      const uint64_t places = range.next;
      range.at = at;
      range.next = next;
      at += gaps;
      next += places;
      if (at > count_ || next > elements_) return false;
    }
    return at == count_;
  }

  // Uses what range `index` says, up to where the next begins. False when it
  // is broken.
  bool Use(std::span<const GapRange> ranges, size_t index,
           absl::FunctionRef<void(const SentRange&)> use) const {
    uint64_t places[kDecodeStep];
    float values[kDecodeStep];
    const GapRange& range = ranges[index];
    const bool last = index + 1 == ranges.size();
    const size_t end = last ? count_ : ranges[index + 1].at;
    std::span<const std::byte> gaps =
        gaps_.subspan(range.begin, range.end - range.begin);
    uint64_t next = range.next;
    for (size_t at = range.at; at < end;) {
      // Blocks before `at` are another range's as well.
      const size_t from = at / kDecodeStep * kDecodeStep;
      const size_t step_end = std::min(from + kDecodeStep, count_);
      const size_t some = std::min(step_end, end) - at;
      const size_t begin = next;
      if (!cpu::ReadGaps(gaps, elements_, next, {places, some})) return false;
      const size_t skipped = (at - from) / kBlockMost * kBlockMost;
      const size_t needed = std::min(
          (at + some - from + kBlockMost - 1) / kBlockMost * kBlockMost,
          step_end - from);
      if (!inner_.DecodeBlocks(values_, from + skipped, count_,
                               {values + skipped, needed - skipped})) {
        return false;
      }
      use({begin, next, {places, some}, values + (at - from)});
      at += some;
    }
    if (last) use({next, elements_, {}, nullptr});
    return gaps.empty();
  }

 private:
  const std::span<const std::byte> gaps_;
  const std::byte* const values_;
  const size_t elements_;
  const size_t count_;
  const DenseCodec& inner_;
};

}  // namespace

size_t IndexedBytesMax(size_t elements, size_t count, const DenseCodec& inner) {
  return kCountBytes + count * cpu::GapBytes(uint64_t{elements}) +
         inner.MaxEncodedBytes(count);
}

absl::Status EncodeIndexed(const Selection& selection, const DenseCodec& inner,
                           std::vector<std::byte>& payload,
                           Workspace& workspace) {
  const size_t total = selection.sent;
  SKERRY_CHECK(total <= std::numeric_limits<uint32_t>::max());
  const std::span<PartScratch> parts(workspace.parts.data(), selection.parts);
  const bool whole = inner.BlockElements() == 0;
  float* const sent = workspace.sent.Room(total);
  workspace.bytes.resize(inner.MaxEncodedBytes(total));
  const PartWriter writer(selection, inner, workspace.bytes.data(), sent);
  // What was collected last is still in a cache.
  workspace.executor->ForEach(parts.size(), [&](size_t index) {
    writer.Write(parts[parts.size() - 1 - index]);
  });
  if (whole) {
    SKERRY_RETURN_IF_ERROR(
        inner.Encode({sent, total}, workspace.bytes, workspace));
  } else {
    SKERRY_CHECK(writer.WriteOthers(parts));
  }
  const size_t values_at = PlaceGaps(selection, parts);
  // Room for whatever places the next slice of this size may have.
  payload.reserve(
      IndexedBytesMax(selection.parts * selection.part_size, total, inner));
  payload.resize(values_at + workspace.bytes.size());
  const auto count = static_cast<uint32_t>(total);
  std::memcpy(payload.data(), &count, kCountBytes);
  workspace.executor->ForEach(parts.size(), [&](size_t index) {
    const PartScratch& part = parts[index];
    if (part.sent > 0) {
      std::copy_n(part.gaps.get(), part.gap_bytes,
                  cpu::WriteGap(part.first_gap, payload.data() + part.gaps_at));
    }
    const size_t begin = index * workspace.bytes.size() / parts.size();
    const size_t end = (index + 1) * workspace.bytes.size() / parts.size();
    std::copy_n(workspace.bytes.data() + begin, end - begin,
                payload.data() + values_at + begin);
  });
  return absl::OkStatus();
}

absl::Status DecodeIndexed(std::span<const std::byte> payload, size_t elements,
                           const CountRange& range, const DenseCodec& inner,
                           Workspace& workspace,
                           absl::FunctionRef<void(const SentRange&)> use) {
  if (payload.size() < kCountBytes) return Broken("shorter than its count");
  uint32_t count;
  std::memcpy(&count, payload.data(), kCountBytes);
  payload = payload.subspan(kCountBytes);
  // Every place takes a byte, which bounds what is allocated.
  if (count < range.least || count > range.most || count > payload.size()) {
    return Broken(absl::StrCat("count ", count, " is out of bounds"));
  }
  const size_t values = inner.MaxEncodedBytes(count);
  if (payload.size() < values || payload.size() - values < count) {
    return Broken("shorter than its places and values");
  }
  const auto gaps = payload.first(payload.size() - values);
  CutGaps(gaps, static_cast<size_t>(workspace.executor->thread_count()),
          workspace.ranges);
  if (workspace.ranges.empty()) {
    use({0, elements, {}, nullptr});
    return absl::OkStatus();
  }
  const Reader reader(gaps, payload.data() + gaps.size(), elements, count,
                      inner);
  if (!reader.Place(workspace)) return Broken("its places are out of bounds");
  std::atomic<bool> good{true};
  workspace.executor->ForEach(workspace.ranges.size(), [&](size_t index) {
    if (!reader.Use(workspace.ranges, index, use)) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  if (good.load(std::memory_order_relaxed)) return absl::OkStatus();
  return Broken("its places or values are not an encoding");
}

size_t IndexedCodec::MaxEncodedBytes(size_t elements) const {
  return IndexedBytesMax(elements, CountsOf(elements).most, inner_);
}

absl::Status IndexedCodec::Decode(std::span<const std::byte> payload,
                                  std::span<float> values,
                                  Workspace& workspace) const {
  return DecodeIndexed(
      payload, values.size(), CountsOf(values.size()), inner_, workspace,
      [&](const SentRange& sent) {
        size_t i = 0;
        for (size_t begin = sent.begin; begin < sent.end; begin += kFillStep) {
          const size_t end = std::min(begin + kFillStep, sent.end);
          std::fill_n(values.data() + begin, end - begin, 0.0f);
          for (; i < sent.places.size() && sent.places[i] < end; ++i) {
            values[sent.places[i]] += sent.values[i];  // of zeros, +0
          }
        }
      });
}

absl::Status IndexedCodec::DecodeAdd(std::span<const std::byte> payload,
                                     std::span<float> accumulators,
                                     Workspace& workspace) const {
  return DecodeIndexed(payload, accumulators.size(),
                       CountsOf(accumulators.size()), inner_, workspace,
                       [&](const SentRange& sent) {
                         for (size_t i = 0; i < sent.places.size(); ++i) {
                           accumulators[sent.places[i]] += sent.values[i];
                         }
                       });
}

}  // namespace skerry::compression
