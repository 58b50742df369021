// simulator/worker_node.h
//
// One run of a worker's process: its session with the coordinator, its bulk
// links, and a real seat for each job, with the daemon's own ports where they
// need no machine.
#ifndef SKERRY_SIMULATOR_WORKER_NODE_H_
#define SKERRY_SIMULATOR_WORKER_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "proto/skerry/v1/control.pb.h"
#include "simulator/bulk.h"
#include "simulator/process.h"
#include "simulator/session.h"
#include "simulator/trainer.h"
#include "transport/directory.h"
#include "worker/core/effects.h"
#include "worker/core/state_folders.h"
#include "worker/daemon/peer_access.h"

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

class WorkerNode final : public transport::BulkReceiver {
 public:
  // `world` outlives the node.
  WorkerNode(World& world, HostId host, uint64_t run);
  ~WorkerNode() override;

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
                                 const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher& fetcher,
                                      const protocol::PieceKey& key) override;
  // A member of the replica asks for the cut.
  void OnAgreeCut(JobId job, const worker::CutRequest& request,
                  const std::string& worker,
                  std::function<void(absl::StatusOr<worker::CutReply>)> answer);

 private:
  void OnOrders(uint64_t session, const OrdersMessage& orders);
  void OnJobOrders(Revision revision, const protocol::JobOrders& orders);
  // Removes the folders that may go.
  void KeepFolders(const protocol::Orders& orders);
  void OnSessionEnd(const absl::Status& why);
  void TakeNewBoot(const std::string& reason);
  void SetJobsDraining();
  void StatusChanged();
  void SendStatus();
  void KeepSendingStatus();
  void Open();
  void Flush();
  void AfterTask();

  World& world_;
  const HostId host_;
  const uint64_t run_;
  Process process_;
  transport::Directory directory_;
  SimBulk bulk_;
  uint64_t boot_;
  const uint64_t first_boot_;
  Incarnation incarnation_;
  Revision revision_;
  Revision seen_;
  uint64_t counter_ = 0;
  absl::Duration status_interval_ = absl::Seconds(1);
  bool status_due_ = false;
  bool draining_ = false;
  bool told_to_drain_ = false;
  std::map<uint64_t, std::unique_ptr<SeatNode>> jobs_;
  worker::StateFolders folders_;
  worker::PeerAccess access_;

  std::shared_ptr<Session> session_;
  bool writing_ = false;
  bool waiting_ = false;
  absl::Duration backoff_;
  // Not sent yet.
  StatusMessage newest_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_NODE_H_
