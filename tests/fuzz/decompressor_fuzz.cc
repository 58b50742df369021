// Any bytes as gzip or zstd, after a byte that chooses both and the size of the
// pieces: they make the same text in pieces of any size, or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/check.h"
#include "data/decompressor.h"

namespace {

using skerry::data::Decompressor;
using skerry::data::Packing;

// A few bytes may stand for very many.
constexpr size_t kTextMax = size_t{1} << 20;

struct Unpacked {
  std::string text;
  bool is_whole = false;
  // There is more of it.
  bool is_long = false;
};

Unpacked Unpack(Packing packing, std::span<const std::byte> in,
                size_t piece_bytes) {
  const std::unique_ptr<Decompressor> decompressor =
      skerry::data::MakeDecompressor(packing);
  std::string piece(piece_bytes, '\0');
  Unpacked unpacked;
  while (unpacked.text.size() < kTextMax) {
    const auto step =
        decompressor->Next(in.first(std::min(in.size(), piece_bytes)),
                           std::as_writable_bytes(std::span(piece)));
    if (!step.ok()) {
      SKERRY_CHECK(step.status().message().find('\n') ==
                   absl::string_view::npos);
      return unpacked;
    }
    SKERRY_CHECK(step->taken <= in.size() && step->made <= piece.size());
    unpacked.text.append(piece, 0, step->made);
    in = in.subspan(step->taken);
    if (in.empty() && step->made == 0) {
      unpacked.is_whole = decompressor->CheckEnd().ok();
      return unpacked;
    }
    SKERRY_CHECK(step->taken > 0 || step->made > 0);
  }
  unpacked.is_long = true;
  return unpacked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Packing packing = data[0] % 2 == 0 ? Packing::kGzip : Packing::kZstd;
  const std::span<const std::byte> in =
      std::as_bytes(std::span(data + 1, size - 1));
  const Unpacked large = Unpack(packing, in, 1 << 16);
  const Unpacked small = Unpack(packing, in, size_t{1} + data[0] / 2);
  if (large.is_long || small.is_long) return 0;
  SKERRY_CHECK(large.is_whole == small.is_whole);
  if (large.is_whole) SKERRY_CHECK(large.text == small.text);
  return 0;
}
