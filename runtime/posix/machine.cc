#include "runtime/posix/machine.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/check.h"

namespace skerry::runtime {

namespace {

// Limits of a control group, of version 2 and of version 1. Neither is there
// outside a group, and both hold a word or a huge number without a limit.
constexpr const char* kGroupLimits[] = {
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};

// What the machine has, or what the control group allows if that is less.
uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  uint64_t bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  for (const char* path : kGroupLimits) {
    std::ifstream file(path);
    uint64_t limit = 0;
    if (file >> limit) bytes = std::min(bytes, limit);
  }
  return bytes;
}

// Processes share memory if one kernel runs them and they see one /dev/shm:
// those of two containers on a machine may see two.
std::string HostId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat shared;
  if (!(file >> boot) || stat("/dev/shm", &shared) != 0) return "";
  return boot + "/" + std::to_string(shared.st_dev);
}

}  // namespace

int64_t UnixMs() {
  timespec now;
  SKERRY_CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

protocol::MachineFacts LookAt(const std::string& state_folder) {
  protocol::MachineFacts facts;
  facts.unix_ms = UnixMs();
  struct statvfs disk;
  if (statvfs(state_folder.c_str(), &disk) == 0) {
    facts.state_free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
    facts.state_bytes = uint64_t{disk.f_blocks} * disk.f_frsize;
  }
  facts.memory_bytes = MemoryBytes();
  facts.host = HostId();
  return facts;
}

}  // namespace skerry::runtime
