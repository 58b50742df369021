// worker/daemon/worker_daemon.h
//
// Puts a worker together: the shell, which decides, and what it needs of a real
// machine around it.
#ifndef SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_
#define SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/skerry/v1/peer.pb.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"
#include "runtime/machine.h"
#include "runtime/metrics.h"
#include "worker/daemon/control_channel.h"
#include "worker/daemon/data_looks.h"
#include "worker/daemon/job_environment.h"
#include "worker/daemon/job_folder_disk.h"
#include "worker/daemon/peer_service.h"
#include "worker/daemon/peer_tries.h"
#include "worker/daemon/piece_sender.h"
#include "worker/daemon/revoked_orders.h"
#include "worker/shell/worker_shell.h"

namespace skerry::worker {

struct WorkerOptions {
  // Without `unix_ms`, which the daemon sets.
  ShellOptions shell;
  ControlChannelOptions coordinator;
  // How it finds out whether it can dial others.
  DialPeer dial_peer;
  // Looks at this machine. Every Status says what it found.
  runtime::LookAtMachine look;
};

// Members are called on the loop. worker_peers.cc has what other workers of a
// replica ask.
class WorkerDaemon final : public PeerReceiver, MachinePort {
 public:
  // `environment.loop` runs already. Start() has to follow.
  WorkerDaemon(WorkerOptions options, const JobEnvironment& environment);
  // Requires: the shell has stopped.
  ~WorkerDaemon() override;

  void Start();

  WorkerShell& shell() { return shell_; }
  const WorkerShell& shell() const { return shell_; }

  // PeerReceiver.
  void OnAgreeCut(const v1::AgreeCutRequest& request,
                  const std::optional<std::string>& worker,
                  Answer<v1::AgreeCutReply> answer) override;
  void OnMeet(const v1::MeetRequest& request,
              const std::optional<std::string>& worker,
              Answer<v1::MeetReply> answer) override;

  // What there is to tell Prometheus.
  std::vector<runtime::Metric> Metrics() const;

 private:
  ShellPorts Ports();
  // MachinePort.
  void OnOrders(const protocol::Orders& orders) override;
  void OnJobsTakenUp(const protocol::Orders& orders) override;
  void AddFacts(protocol::StatusFacts& facts) const override;

  const JobEnvironment environment_;
  const runtime::LookAtMachine look_;
  const std::shared_ptr<transport::Credentials> credentials_;
  const bool relays_;
  ControlChannel channel_;
  JobFolderDisk folders_;
  DataLooks data_;
  RevokedOrders revoked_;
  PeerTries tries_;
  PieceSender pieces_;
  WorkerShell shell_;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_
