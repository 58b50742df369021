#include "worker/daemon/inner_store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "runtime/posix/mapped_file.h"

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
                       runtime::EventLoop& loop, Fetch fetch,
                       absl::AnyInvocable<void()> changed)
    : directory_(directory),
      path_(absl::StrCat(directory, "/", kPrefix, restored.value(), kSuffix)),
      next_path_(path_ + ".new"),
      files_(files),
      executor_(executor),
      loop_(loop),
      fetch_(std::move(fetch)),
      changed_(std::move(changed)) {}

absl::Status InnerStore::Tidy() {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files_.List(directory_));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(directory_, "/", name);
    if (!IsInnerFile(name) || path == path_) continue;
    SKERRY_RETURN_IF_ERROR(files_.Remove(path));
  }
  // A copy that was interrupted leaves them.
  return files_.RemoveLeftovers(directory_, [](std::string_view name) {
    return IsInnerFile(std::string(name));
  });
}

bool InnerStore::is_there() const { return access(path_.c_str(), F_OK) == 0; }

void InnerStore::Keep(uint64_t sequence) {
  busy_ = true;
  executor_.Run([this, alive = std::weak_ptr<char>(alive_), &files = files_,
                 &loop = loop_, from = next_path_, to = path_, sequence] {
    absl::Status kept = Sync(from);
    if (kept.ok()) kept = files.Rename(from, to);
    loop.Post([this, alive, kept, sequence] {
      if (alive.expired()) return;
      busy_ = false;
      if (kept.ok()) {
        kept_ = sequence;
      } else {
        runtime::Log(runtime::Severity::kWarning, "worker.inner.not_kept",
                     {{"path", path_}, {"cause", kept}});
      }
      changed_();
    });
  });
}

absl::StatusOr<SharedBytes> InnerStore::Open(uint64_t sequence) const {
  if (!kept_.has_value()) {
    return absl::NotFoundError(
        "this worker's trainer has saved no inner state");
  }
  if (*kept_ != sequence) {
    return absl::NotFoundError(absl::StrCat(
        "the inner state that this worker saved last is of sequence ", *kept_));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto mapped, runtime::MappedFile::Open(path_));
  return SharedBytes{mapped, mapped->bytes()};
}

void InnerStore::Import(const InnerSource& from,
                        absl::AnyInvocable<void(absl::Status) &&> done) {
  executor_.Run([alive = std::weak_ptr<char>(alive_), &loop = loop_, from,
                 to = path_, fetch = fetch_, done = std::move(done)]() mutable {
    absl::Status copied = fetch(from, to);
    loop.Post(
        [alive, copied = std::move(copied), done = std::move(done)]() mutable {
          if (!alive.expired()) std::move(done)(std::move(copied));
        });
  });
}

}  // namespace skerry::worker
