#include "trainer/attach/service/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace skerry::trainer::attach {
namespace {

constexpr size_t kPageBytes = 4096;

absl::Status Failed() {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot make the control page: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPage>> ControlPage::Create() {
  const int fd =
      memfd_create("skerry-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return Failed();
  void* page = MAP_FAILED;
  // A rank that made it smaller would end this process.
  if (ftruncate(fd, kPageBytes) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (page == MAP_FAILED) {
    const absl::Status failed = Failed();
    close(fd);
    return failed;
  }
  return std::unique_ptr<ControlPage>(
      new ControlPage(fd, static_cast<uint64_t*>(page)));
}

ControlPage::~ControlPage() {
  munmap(words_, kPageBytes);
  close(fd_);
}

void ControlPage::Stop(uint64_t id) {
  std::atomic_ref<uint64_t>(words_[0]).store(id);
}

}  // namespace skerry::trainer::attach
