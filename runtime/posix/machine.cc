#include "runtime/posix/machine.h"

#include <sys/statvfs.h>
#include <time.h>

#include "base/check.h"

namespace skerry::runtime {

MachineFacts LookAt(const std::string& state_folder) {
  MachineFacts facts;
  timespec now;
  SKERRY_CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
  facts.unix_ms = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  struct statvfs disk;
  if (statvfs(state_folder.c_str(), &disk) == 0) {
    facts.state_free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
    facts.state_bytes = uint64_t{disk.f_blocks} * disk.f_frsize;
  }
  return facts;
}

}  // namespace skerry::runtime
