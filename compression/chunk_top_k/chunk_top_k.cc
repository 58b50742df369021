#include "compression/chunk_top_k/chunk_top_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/chunk_top_k/chunk_layout.h"
#include "compression/chunk_top_k/chunk_levels.h"
#include "compression/chunk_top_k/chunk_reader.h"
#include "compression/chunk_top_k/cpu/bins4.h"
#include "compression/chunk_top_k/cpu/mark_chunk.h"
#include "compression/chunk_top_k/cpu/places12.h"
#include "compression/chunk_top_k/cpu/select_chunk.h"
#include "compression/codec_errors.h"
#include "compression/parts.h"
#include "compression/workspace.h"

namespace skerry::compression {
namespace {

static_assert(kPartElements % kGroup == 0 && kChunk == cpu::kBinnedMost);
constexpr size_t kSlack = std::max(cpu::kChunkSlack, cpu::kBinnedSlack);

class ChunkTopK final : public Codec {
 public:
  explicit ChunkTopK(size_t kept) : layout_(kept) {}

  CodecId id() const override { return CodecId::kChunkTopK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return layout_.Bytes(elements);
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    payload.resize(layout_.Bytes(values.size()));
    if (values.empty()) return absl::OkStatus();
    // The first chunk says where the thresholds of all others are looked for.
    cpu::ChunkGuess first_guess;
    GroupSums first;
    Select(values.first(std::min(kChunk, values.size())), first_guess, Room(),
           payload.data(), first);
    const auto encode = [&](size_t begin, size_t end) {
      cpu::ChunkGuess guess = first_guess;
      for (; begin < end; begin += kGroup) {
        const size_t size = std::min(kGroup, end - begin);
        if (!EncodeGroup(
                values.subspan(begin, size), guess,
                payload.data() + begin / kGroup * layout_.GroupBytes())) {
          return false;
        }
      }
      return true;
    };
    if (!EveryPart(values.size(), *workspace.executor, encode)) {
      return NotFiniteError(values, "chunk_top_k");
    }
    return absl::OkStatus();
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override {
    return DecodeBy(PutChunks, payload, values, workspace);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    return DecodeBy(AddChunks, payload, accumulators, workspace);
  }

 private:
  // Floats from what one chunk sends to what the next of its group does.
  size_t Stride() const { return layout_.kept() + kSlack; }

  // For what a group sends, until its levels are known. The thread's own, so
  // that it stays in its cache.
  float* Room() const {
    return ThreadWorkspace().sent.Room(kGroupChunks * Stride());
  }

  // Calls use(values, which of the group, their bytes) for each chunk.
  template <typename Use>
  void EveryChunk(std::span<const float> group, std::byte* out,
                  const Use& use) const {
    out += kBookBytes;
    for (size_t i = 0; !group.empty(); ++i) {
      const auto chunk = group.first(std::min(kChunk, group.size()));
      use(chunk, i, out);
      out += layout_.ChunkBytes(chunk.size());
      group = group.subspan(chunk.size());
    }
  }

  // False where a value is not finite.
  bool EncodeGroup(std::span<const float> group, cpu::ChunkGuess& guess,
                   std::byte* out) const {
    float* const sent = Room();
    GroupSums sums;
    EveryChunk(group, out, [&](auto chunk, size_t i, std::byte* at) {
      Select(chunk, guess, sent + i * Stride(), at, sums);
    });
    // Squares of fp32 do not overflow in float64.
    if (!std::isfinite(sums.moments.squares)) return false;
    const cpu::BinEdges edges = EdgesOf(sums.moments, sums.count);
    EveryChunk(group, out, [&](auto chunk, size_t i, std::byte* at) {
      const cpu::EdgeSums from =
          cpu::BinAll(sent + i * Stride(), layout_.SentOf(chunk.size()), edges,
                      at + layout_.PlacesBytes(chunk.size()));
      for (size_t edge = 0; edge < from.sums.size(); ++edge) {
        sums.from.sums[edge] += from.sums[edge];
        sums.from.counts[edge] += from.counts[edge];
      }
    });
    const Book book = BookOf(sums);
    std::memcpy(out, book.data(), kBookBytes);
    return true;
  }

  // Leaves what a chunk sends, writes its places, and sums it.
  void Select(std::span<const float> chunk, cpu::ChunkGuess& guess, float* sent,
              std::byte* out, GroupSums& sums) const {
    const size_t count = layout_.SentOf(chunk.size());
    if (layout_.IsMarked(chunk.size())) {
      uint64_t words[cpu::kChunkWords];
      cpu::MarkChunk(chunk, count, guess, words, sent);
      std::memcpy(out, words, layout_.PlacesBytes(chunk.size()));
    } else {
      uint32_t places[kChunk + kSlack];
      if (!cpu::SelectChunk(chunk, count, guess.magnitude, places, sent)) {
        sums.moments.squares = std::numeric_limits<double>::infinity();
        return;
      }
      cpu::PackPlaces({places, count}, out);
    }
    const cpu::Moments moments = cpu::MomentsOf(sent, count);
    sums.count += count;
    sums.moments.sum += moments.sum;
    sums.moments.squares += moments.squares;
  }

  template <typename Read>
  absl::Status DecodeBy(const Read& read, std::span<const std::byte> payload,
                        std::span<float> values, Workspace& workspace) const {
    if (payload.size() != layout_.Bytes(values.size())) {
      return absl::DataLossError(absl::StrCat(
          "payload of ", payload.size(),
          " bytes is no chunk_top_k encoding of ", values.size(), " elements"));
    }
    if (read(layout_, payload, values, *workspace.executor)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        "chunk_top_k: a level is not finite, or a chunk has a place out of "
        "order, more or fewer values than it sends, or bits behind its last "
        "one");
  }

  const ChunkLayout layout_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Codec>> MakeChunkTopK(size_t kept) {
  if (kept < 1 || kept > kChunk) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chunk_top_k keeps 1 to 4096 values of a chunk, not ", kept));
  }
  return std::make_unique<const ChunkTopK>(kept);
}

}  // namespace skerry::compression
