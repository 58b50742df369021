#include "data/sentencepiece/frames.h"

#include <bit>
#include <cstring>

namespace skerry::data {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kWordBytes = sizeof(uint32_t);
// Version, kind, and how many texts or lists.
constexpr size_t kHeadBytes = 3 * kWordBytes;

void PutWord(uint32_t word, std::string& to) {
  to.append(reinterpret_cast<const char*>(&word), sizeof(word));
}

uint32_t WordAt(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

bool IsKind(uint32_t word) {
  return word >= static_cast<uint32_t>(FrameKind::kOpen) &&
         word <= static_cast<uint32_t>(FrameKind::kFailed);
}

bool CarriesLists(FrameKind kind) {
  return kind == FrameKind::kOpened || kind == FrameKind::kEncoded ||
         kind == FrameKind::kDecode;
}

bool CarriesOne(FrameKind kind) {
  return kind == FrameKind::kOpen || kind == FrameKind::kOpened ||
         kind == FrameKind::kFailed;
}

// Each of `items` has size() and data(); `item_bytes` are those of one element.
template <typename Item>
std::optional<std::string> Write(FrameKind kind, std::span<const Item> items,
                                 size_t item_bytes) {
  size_t bytes = kHeadBytes;
  for (const Item& item : items) {
    bytes += kWordBytes + item.size() * item_bytes;
    if (bytes > kFrameBytesMax) return std::nullopt;
  }
  std::string frame;
  frame.reserve(kFrameLengthBytes + bytes);
  PutWord(static_cast<uint32_t>(bytes), frame);
  PutWord(kFrameVersion, frame);
  PutWord(static_cast<uint32_t>(kind), frame);
  PutWord(static_cast<uint32_t>(items.size()), frame);
  for (const Item& item : items) {
    PutWord(static_cast<uint32_t>(item.size()), frame);
  }
  for (const Item& item : items) {
    frame.append(reinterpret_cast<const char*>(item.data()),
                 item.size() * item_bytes);
  }
  return frame;
}

// Cuts `content` as the sizes say; false when it is not exactly that long.
bool CutTexts(std::span<const uint32_t> sizes, std::string_view content,
              Frame& frame) {
  for (const uint32_t size : sizes) {
    if (size > content.size()) return false;
    frame.texts.push_back(content.substr(0, size));
    content.remove_prefix(size);
  }
  return content.empty();
}

bool CutLists(std::span<const uint32_t> sizes, std::string_view content,
              Frame& frame) {
  for (const uint32_t size : sizes) {
    if (size > content.size() / kWordBytes) return false;
    std::vector<int32_t>& list = frame.lists.emplace_back(size);
    if (size > 0) std::memcpy(list.data(), content.data(), size * kWordBytes);
    content.remove_prefix(size * kWordBytes);
  }
  return content.empty();
}

}  // namespace

std::optional<std::string> WriteFrame(FrameKind kind,
                                      std::span<const std::string_view> texts) {
  return Write(kind, texts, 1);
}

std::optional<std::string> WriteFrame(
    FrameKind kind, std::span<const std::vector<int32_t>> lists) {
  return Write(kind, lists, sizeof(int32_t));
}

std::optional<size_t> FrameLength(
    std::span<const char, kFrameLengthBytes> length) {
  const uint32_t bytes = WordAt({length.data(), length.size()}, 0);
  if (bytes > kFrameBytesMax) return std::nullopt;
  return bytes;
}

std::optional<Frame> ParseFrame(std::string_view bytes, std::string& why) {
  if (bytes.size() < kHeadBytes) {
    why = "a frame is too short";
    return std::nullopt;
  }
  if (const uint32_t version = WordAt(bytes, 0); version != kFrameVersion) {
    why = "a frame has version " + std::to_string(version) + ", not " +
          std::to_string(kFrameVersion) +
          "; install the programs of one release";
    return std::nullopt;
  }
  const uint32_t kind = WordAt(bytes, kWordBytes);
  const uint32_t count = WordAt(bytes, 2 * kWordBytes);
  bytes.remove_prefix(kHeadBytes);
  if (!IsKind(kind) || count > bytes.size() / kWordBytes) {
    why = "a frame has an impossible head";
    return std::nullopt;
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(kind);
  std::vector<uint32_t> sizes(count);
  for (size_t i = 0; i < count; ++i) sizes[i] = WordAt(bytes, i * kWordBytes);
  bytes.remove_prefix(count * kWordBytes);
  const bool fits = CarriesLists(frame.kind) ? CutLists(sizes, bytes, frame)
                                             : CutTexts(sizes, bytes, frame);
  if (!fits || (CarriesOne(frame.kind) && count != 1)) {
    why = "a frame is not as long as it says";
    return std::nullopt;
  }
  return frame;
}

}  // namespace skerry::data
