// simulator/worker_disk.h
//
// A worker's disk. It holds whole files, which are written one after the other,
// and outlives the processes of its machine. If a process dies, the write in
// progress is lost, complete or torn.
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

// Largest slowness of a disk, however many faults slow it at once. It bounds
// how long an operation goes on after the last fault is over.
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
  // Removes a file, or a folder with what is in it. `done` runs afterwards.
  void Remove(
      const std::string& path, Done done = [](absl::Status) {});

  // Null when there is none.
  FileBytes Find(const std::string& path) const;
  std::vector<std::string> List(const std::string& folder) const;
  // Returns the paths of all files.
  std::vector<std::string> Paths() const;
  // Removes the folders of all jobs, while processes may use them: writes fail
  // until the folder is made again.
  void RemoveFolders();
  void MakeFolder(const std::string& folder);
  // Whether RemoveFolders() has removed the folder and nobody has made it
  // since.
  bool IsGone(const std::string& folder) const;
  // How often the folder was made after RemoveFolders() had removed it.
  uint32_t TimesMadeAnew(const std::string& folder) const;
  // Returns the folders that were made and are still there.
  const std::set<std::string>& Folders() const { return folders_; }
  // Flips a random bit of the file. Whoever has mapped the file keeps the bytes
  // that it has.
  void Rot(const std::string& path);
  bool has_rotten() const { return has_rotten_; }

  // How often the disk came back empty.
  uint32_t losses() const { return losses_; }

  // The process ended; no `done` of its writes runs any more.
  void OnProcessEnd(End end);

  // Factor by which operations take longer than usual.
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
  void Erase(const std::string& path);
  void Tear(const Operation& write);

  Timeline& timeline_;
  Random& random_;
  std::map<std::string, FileBytes> files_;
  std::set<std::string> folders_;
  std::set<std::string> gone_;  // folders
  std::map<std::string, uint32_t> made_anew_;
  std::deque<Operation> writes_;
  uint64_t run_ = 0;
  bool has_rotten_ = false;
  uint32_t losses_ = 0;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_DISK_H_
