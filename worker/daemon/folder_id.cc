#include "worker/daemon/folder_id.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr char kFileName[] = "/identity";
// Sixteen hexadecimal digits and a line feed.
constexpr size_t kDigits = 16;

FolderId Parse(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  const std::string digits = text.substr(0, kDigits);
  uint64_t value = 0;
  if (text.size() != kDigits + 1 || text.back() != '\n' ||
      !std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit) ||
      !absl::SimpleHexAtoi(digits, &value)) {
    return FolderId();
  }
  return FolderId(value);
}

}  // namespace

absl::StatusOr<FolderId> FolderIdOf(const std::string& folder,
                                    runtime::Files& files,
                                    absl::AnyInvocable<uint64_t()> draw) {
  const std::string path = folder + kFileName;
  const absl::StatusOr<std::vector<std::byte>> bytes = files.Read(path);
  if (!bytes.ok() && !absl::IsNotFound(bytes.status())) return bytes.status();
  if (bytes.ok()) {
    const FolderId id = Parse(*bytes);
    if (id.is_set()) return id;
    runtime::Log(runtime::Severity::kWarning, "worker.identity.damaged",
                 {{"path", path}});
  }
  FolderId id;
  while (!id.is_set()) id = FolderId(draw());
  const std::string text = absl::StrFormat("%016x\n", id.value());
  SKERRY_RETURN_IF_ERROR(files.WriteDurably(
      path, std::as_bytes(std::span(text.data(), text.size()))));
  return id;
}

}  // namespace skerry::worker
