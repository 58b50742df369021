#include "data/prepare/piped_inputs.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::data {
namespace {

// Nobody else calls a file so.
constexpr std::string_view kPrefix = ".skerry-piped-";

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status RemoveLeftovers(const std::string& folder, runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(files.RemoveLeftovers(
      folder, [](std::string_view name) { return name.starts_with(kPrefix); }));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files.List(folder));
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    SKERRY_RETURN_IF_ERROR(files.Remove(absl::StrCat(folder, "/", name)));
  }
  return absl::OkStatus();
}

absl::Status Copy(runtime::ByteSource& source, const std::string& file,
                  runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::ByteSink> sink,
                          files.Create(file));
  std::vector<std::byte> bytes(size_t{1} << 18);
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const size_t count, source.Read(bytes));
    if (count == 0) return sink->Commit();
    SKERRY_RETURN_IF_ERROR(
        sink->Append(std::span<const std::byte>(bytes).first(count)));
  }
}

}  // namespace

absl::StatusOr<PipedInputs> PipedInputs::Keep(
    const std::vector<std::string>& paths, const std::string& folder,
    runtime::Files& files) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    return absl::InvalidArgumentError(
        "standard input, -, can be named once; its bytes come once");
  }
  SKERRY_RETURN_IF_ERROR(RemoveLeftovers(folder, files));
  PipedInputs piped(files);
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::ByteSource> source,
                            files.Open(path));
    InputFile input{path, path};
    if (!source->can_repeat()) {
      input.file = absl::StrCat(folder, "/", Absl(kPrefix), piped.kept_.size());
      piped.kept_.push_back(input.file);
      SKERRY_RETURN_IF_ERROR(Copy(*source, input.file, files));
    }
    piped.inputs_.push_back(std::move(input));
  }
  return piped;
}

PipedInputs::~PipedInputs() {
  // What stays is removed by the next run.
  for (const std::string& file : kept_) (void)files_->Remove(file);
}

}  // namespace skerry::data
