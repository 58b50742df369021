// simulator/worker_disk.h
//
// A worker's disk: whole files, written one after the other. It outlives the
// processes of its machine, and when one dies, what was on its way is lost,
// there, or torn.
#ifndef SKERRY_SIMULATOR_WORKER_DISK_H_
#define SKERRY_SIMULATOR_WORKER_DISK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/instant.h"
#include "base/random.h"
#include "simulator/timeline.h"

namespace skerry::sim {

// Of a disk with several faults at once: what it has begun ends soon after the
// last of them.
inline constexpr double kSlownessMax = 300;

using FileBytes = std::shared_ptr<const std::vector<std::byte>>;

class WorkerDisk {
 public:
  using Done = absl::AnyInvocable<void(absl::Status) &&>;
  enum class End { kKilled, kPowerLost, kLost };

  // Both outlive the disk.
  WorkerDisk(Timeline& timeline, Random& random)
      : timeline_(timeline), random_(random) {}

  // `done` runs once the file is durable, or not written at all.
  void Write(const std::string& path, FileBytes bytes, Done done);
  void Remove(const std::string& path);

  // Null when there is none.
  FileBytes Find(const std::string& path) const;
  std::vector<std::string> List(const std::string& folder) const;
  // Of all files.
  std::vector<std::string> Paths() const;
  // Removes the folders of all jobs, while processes may use them: writes fail
  // until the folder is made again.
  void RemoveFolders();
  void MakeFolder(const std::string& folder) { gone_.erase(folder); }
  // One bit of the file, any. Whoever has mapped it keeps what it has.
  void Rot(const std::string& path);
  bool has_rotten() const { return has_rotten_; }

  // How often the disk came back empty.
  uint32_t losses() const { return losses_; }

  // The process ended; no `done` of its writes runs any more.
  void OnProcessEnd(End end);

  // Times as slow as usual.
  double slowness = 1;
  bool full = false;
  bool fails_next = false;

 private:
  struct Operation {
    std::string path;
    FileBytes bytes;  // null: a removal
    Done done;
  };
  void Start();
  void Finish();
  void Tear(const Operation& write);

  Timeline& timeline_;
  Random& random_;
  std::map<std::string, FileBytes> files_;
  std::set<std::string> gone_;  // folders
  std::deque<Operation> writes_;
  uint64_t run_ = 0;
  bool has_rotten_ = false;
  uint32_t losses_ = 0;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_DISK_H_
