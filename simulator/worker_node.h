// simulator/worker_node.h
//
// One run of a worker's process: the real shell, with simulated ports to the
// coordinator, other workers and the disk, and simulated jobs.
#ifndef SKERRY_SIMULATOR_WORKER_NODE_H_
#define SKERRY_SIMULATOR_WORKER_NODE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "simulator/bulk.h"
#include "simulator/process.h"
#include "simulator/trainer.h"
#include "simulator/worker_folders.h"
#include "simulator/worker_session.h"
#include "transport/directory.h"
#include "worker/shell/worker_shell.h"

namespace skerry::sim {

class SeatNode;
class World;

// The name of a worker whose shape has none.
std::string PlainNameOf(HostId host);

// Where one run of a worker's process listens: each run has a port of its own.
struct Endpoint {
  HostId host = 0;
  uint64_t run = 0;
};
std::string EndpointText(const Endpoint& endpoint);
// Requires: EndpointText made `text`.
Endpoint EndpointOf(const std::string& text);

class WorkerNode final : public transport::BulkReceiver, worker::MachinePort {
 public:
  // `world` outlives the node.
  WorkerNode(World& world, HostId host, uint64_t run);
  void Drain();
  // The trainers of all jobs die.
  void KillTrainers();
  void HangTrainers(Hang how);

  HostId host() const { return host_; }
  uint64_t run() const { return run_; }
  Process& process() { return process_; }
  SimBulk& bulk() { return bulk_; }
  const transport::Directory& directory() const { return directory_; }
  // In the order of the jobs.
  void EachSeat(const std::function<void(SeatNode&)>& look) const;

  protocol::FrameVerdict OnFrame(const std::string& from,
                                 const compression::FrameHeader& header,
                                 const SharedBytes& payload) override {
    return shell_.OnFrame(from, header, payload);
  }
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher& fetcher,
                                      const protocol::PieceKey& key) override {
    return shell_.OnFetch(fetcher, key);
  }
  worker::WorkerShell& shell() { return shell_; }

 private:
  worker::ShellOptions Options();
  worker::ShellPorts Ports();
  void AfterTask();
  // worker::MachinePort.
  void OnOrders(const protocol::Orders& orders) override;
  void OnJobsTakenUp(const protocol::Orders&) override {}
  void AddFacts(protocol::StatusFacts& facts) const override;

  World& world_;
  const HostId host_;
  const uint64_t run_;
  Process process_;
  transport::Directory directory_;
  SimBulk bulk_;
  WorkerSession session_;
  WorkerFolders folders_;
  worker::WorkerShell shell_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_NODE_H_
