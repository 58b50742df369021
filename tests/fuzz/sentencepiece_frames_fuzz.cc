// Any bytes as a frame to or from skerry-sentencepiece: what is accepted is
// written again as the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "data/sentencepiece/frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string why;
  const auto frame = skerry::data::ParseFrame(bytes, why);
  SKERRY_CHECK(frame.has_value() == why.empty());
  if (!frame.has_value()) return 0;
  SKERRY_CHECK(frame->texts.empty() || frame->lists.empty());
  const bool has_lists = frame->kind == skerry::data::FrameKind::kOpened ||
                         frame->kind == skerry::data::FrameKind::kEncoded ||
                         frame->kind == skerry::data::FrameKind::kDecode;
  const auto again = has_lists
                         ? skerry::data::WriteFrame(frame->kind, frame->lists)
                         : skerry::data::WriteFrame(frame->kind, frame->texts);
  SKERRY_CHECK(again.has_value());
  SKERRY_CHECK(again->substr(skerry::data::kFrameLengthBytes) == bytes);
  return 0;
}
