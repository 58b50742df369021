#include "worker/daemon/inner_store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr char kPrefix[] = "inner-";
constexpr char kSuffix[] = ".safetensors";

absl::Status Sync(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  const int failed = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return failed == 0 ? absl::OkStatus() : absl::ErrnoToStatus(failed, path);
}

}  // namespace

bool IsInnerFile(const std::string& name) { return name.starts_with(kPrefix); }

InnerStore::InnerStore(const std::string& directory, Sequence restored,
                       runtime::Files& files, runtime::Executor& executor,
                       runtime::EventLoop& loop)
    : directory_(directory),
      path_(absl::StrCat(directory, "/", kPrefix, restored.value(), kSuffix)),
      next_path_(path_ + ".new"),
      files_(files),
      executor_(executor),
      loop_(loop) {}

absl::Status InnerStore::Tidy() {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files_.List(directory_));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(directory_, "/", name);
    if (!IsInnerFile(name) || path == path_) continue;
    SKERRY_RETURN_IF_ERROR(files_.Remove(path));
  }
  return absl::OkStatus();
}

bool InnerStore::is_there() const { return access(path_.c_str(), F_OK) == 0; }

void InnerStore::Keep() {
  busy_ = true;
  executor_.Run([this, alive = std::weak_ptr<char>(alive_), &files = files_,
                 &loop = loop_, from = next_path_, to = path_] {
    absl::Status kept = Sync(from);
    if (kept.ok()) kept = files.Rename(from, to);
    loop.Post([this, alive, kept] {
      if (alive.expired()) return;
      busy_ = false;
      if (kept.ok()) return;
      runtime::Log(runtime::Severity::kWarning, "worker.inner.not_kept",
                   {{"path", path_}, {"cause", kept}});
    });
  });
}

}  // namespace skerry::worker
