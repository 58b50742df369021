// simulator/worker_folders.h
//
// The folders of jobs on a simulated worker's disk.
#ifndef SKERRY_SIMULATOR_WORKER_FOLDERS_H_
#define SKERRY_SIMULATOR_WORKER_FOLDERS_H_

#include <cstdint>
#include <string>

#include "simulator/network.h"
#include "simulator/process.h"
#include "worker/shell/folder_keeper.h"

namespace skerry::sim {

class World;

class WorkerFolders final : public worker::FoldersPort {
 public:
  // `world` and `process` outlive the port.
  WorkerFolders(World& world, Process& process, HostId host)
      : world_(world), process_(process), host_(host) {}

  void List(Listed done) override;
  void MarkEnded(const protocol::StoredJobKey& folder,
                 int64_t unix_ms) override;
  void Remove(const protocol::StoredJobKey& folder, Removed done) override;

 private:
  void RemoveRest(const std::string& path, Removed done);

  World& world_;
  Process& process_;
  const HostId host_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_FOLDERS_H_
