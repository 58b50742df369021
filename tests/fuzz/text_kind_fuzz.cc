// Any bytes as the beginning of somebody's file, after a byte that chooses its
// name: a kind, or one line that says what to do.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/text_kind.h"

namespace {

void CheckLine(const absl::Status& status) {
  SKERRY_CHECK(absl::IsInvalidArgument(status));
  SKERRY_CHECK(!status.message().empty());
  SKERRY_CHECK(status.message().find('\n') == absl::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::string_view kNames[] = {"d", "d.txt", "d.json", "d.jsonl",
                                         "d.ndjson.gz"};
  const std::string_view path = kNames[data[0] / 2 % 5];
  const std::string_view head(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  const absl::Status is_text = skerry::data::CheckIsText(head, path);
  if (!is_text.ok()) {
    CheckLine(is_text);
    return 0;
  }
  SKERRY_CHECK(skerry::data::PackingOf(head) == skerry::data::Packing::kNone);
  const auto kind = skerry::data::TextKindOf(head, data[0] % 2 == 0, path);
  if (!kind.ok()) CheckLine(kind.status());
  return 0;
}
