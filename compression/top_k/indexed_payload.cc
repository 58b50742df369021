#include "compression/top_k/indexed_payload.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/top_k/cpu/gaps.h"
#include "compression/top_k/cpu/marks.h"
#include "compression/top_k/indexed_writer.h"
#include "compression/top_k/marked_payload.h"
#include "compression/top_k/sent_blocks.h"

namespace skerry::compression {
namespace {

// Values that are still in cache when they are touched again.
constexpr size_t kFillStep = 4096;

// Sent values that are decoded at once.
constexpr size_t kDecodeStep = 2048;
static_assert(kDecodeStep % kBlockMost == 0);
// Sent values whose accumulators are asked for ahead.
constexpr size_t kAddAhead = 32;
// Bytes of gaps that one thread reads in a row.
constexpr size_t kRangeMost = size_t{1} << 14;
constexpr size_t kRangeLeast = size_t{1} << 10;
constexpr size_t kRangesPerThread = 8;
// The most bytes that a gap takes, as gaps are less than 2^63.
constexpr size_t kVarintMost = 9;

absl::Status Broken(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("sparse payload: ", what));
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

void AddSent(const SentRange& sent, float* accumulators) {
  const uint64_t* const places = sent.places.data();
  const size_t count = sent.places.size();
  const size_t ahead = std::min(kAddAhead, count);
  for (size_t i = 0; i < ahead; ++i) {
    __builtin_prefetch(accumulators + places[i], /*rw=*/1);
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t later = std::min(i + kAddAhead, count - 1);
    __builtin_prefetch(accumulators + places[later], /*rw=*/1);
    accumulators[places[i]] += sent.values[i];
  }
}

// What a payload says before its places.
struct Head {
  size_t count;
  std::span<const std::byte> rest;
};

absl::StatusOr<Head> ReadHead(std::span<const std::byte> payload,
                              const CountRange& range) {
  if (payload.size() < kCountBytes) return Broken("shorter than its count");
  uint32_t count;
  std::memcpy(&count, payload.data(), kCountBytes);
  if (count < range.least || count > range.most) {
    return Broken(absl::StrCat("count ", count, " is out of bounds"));
  }
  return Head{count, payload.subspan(kCountBytes)};
}

absl::Status DecodeGaps(const Head& head, size_t elements,
                        const DenseCodec& inner, Workspace& workspace,
                        absl::FunctionRef<void(const SentRange&)> use) {
  const size_t values = inner.MaxEncodedBytes(head.count);
  // Every place takes a byte.
  if (head.rest.size() < values || head.rest.size() - values < head.count) {
    return Broken("shorter than its places and values");
  }
  const auto gaps = head.rest.first(head.rest.size() - values);
  CutGaps(gaps, static_cast<size_t>(workspace.executor->thread_count()),
          workspace.ranges);
  if (workspace.ranges.empty()) {
    use({0, elements, {}, nullptr});
    return absl::OkStatus();
  }
  const Reader reader(gaps, head.rest.data() + gaps.size(), elements,
                      head.count, inner);
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

absl::Status DecodeMarks(const Head& head, size_t elements,
                         const DenseCodec& inner, Workspace& workspace,
                         absl::FunctionRef<void(const MarkedRange&)> use) {
  if (DecodeMarked(head.rest, elements, head.count, inner, workspace, use)) {
    return absl::OkStatus();
  }
  return Broken("its bits or values are not an encoding");
}

// The same by places.
void UseMarked(const MarkedRange& marked,
               absl::FunctionRef<void(const SentRange&)> use) {
  uint64_t places[kMarkedStep];
  size_t count = 0;
  for (size_t i = 0; i < marked.size; i += cpu::kMarkedValues) {
    for (uint64_t word = marked.words[i / cpu::kMarkedValues]; word != 0;
         word &= word - 1) {
      places[count++] =
          marked.begin + i + static_cast<size_t>(std::countr_zero(word));
    }
  }
  use({marked.begin,
       marked.begin + marked.size,
       {places, count},
       marked.values});
}

}  // namespace

absl::Status DecodeIndexed(std::span<const std::byte> payload, size_t elements,
                           const CountRange& range, const DenseCodec& inner,
                           Workspace& workspace,
                           absl::FunctionRef<void(const SentRange&)> use) {
  SKERRY_ASSIGN_OR_RETURN(const Head head, ReadHead(payload, range));
  if (!IsMarked(elements, head.count)) {
    return DecodeGaps(head, elements, inner, workspace, use);
  }
  return DecodeMarks(
      head, elements, inner, workspace,
      [use](const MarkedRange& marked) { UseMarked(marked, use); });
}

size_t IndexedCodec::MaxEncodedBytes(size_t elements) const {
  const CountRange range = CountsOf(elements);
  const size_t bytes = IndexedBytesMax(elements, range.most, inner_);
  const size_t marked = MarkedLeast(elements);
  if (range.most < marked || range.least >= marked) return bytes;
  // Fewer, with the gaps between them, may take more.
  return std::max(bytes, IndexedBytesMax(elements, marked - 1, inner_));
}

absl::Status IndexedCodec::Decode(std::span<const std::byte> payload,
                                  std::span<float> values,
                                  Workspace& workspace) const {
  SKERRY_ASSIGN_OR_RETURN(const Head head,
                          ReadHead(payload, CountsOf(values.size())));
  if (IsMarked(values.size(), head.count)) {
    const cpu::Stores stores = cpu::StoresForValues(values.size_bytes());
    return DecodeMarks(
        head, values.size(), inner_, workspace, [&](const MarkedRange& marked) {
          cpu::PutMarked(marked.words, marked.values,
                         values.subspan(marked.begin, marked.size), stores);
        });
  }
  return DecodeGaps(
      head, values.size(), inner_, workspace, [&](const SentRange& sent) {
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
  SKERRY_ASSIGN_OR_RETURN(const Head head,
                          ReadHead(payload, CountsOf(accumulators.size())));
  if (IsMarked(accumulators.size(), head.count)) {
    return DecodeMarks(head, accumulators.size(), inner_, workspace,
                       [&](const MarkedRange& marked) {
                         cpu::AddMarked(
                             marked.words, marked.values,
                             accumulators.subspan(marked.begin, marked.size));
                       });
  }
  return DecodeGaps(
      head, accumulators.size(), inner_, workspace,
      [&](const SentRange& sent) { AddSent(sent, accumulators.data()); });
}

}  // namespace skerry::compression
