// simulator/worker_session.h
//
// The connection of a worker's process to the coordinator, over the simulated
// network.
#ifndef SKERRY_SIMULATOR_WORKER_SESSION_H_
#define SKERRY_SIMULATOR_WORKER_SESSION_H_

#include <memory>

#include "simulator/network.h"
#include "simulator/process.h"
#include "simulator/session.h"
#include "worker/shell/session.h"

namespace skerry::sim {

class World;

class WorkerSession final : public worker::SessionPort {
 public:
  // `world` and `process` outlive the connection.
  WorkerSession(World& world, Process& process, HostId host)
      : world_(world), process_(process), host_(host) {}

  void Open(Events& events) override;
  void Write(const protocol::StatusFacts& status) override;
  void Cancel() override;
  bool IsConnected() override;

 private:
  // Runs `task` on the loop, unless that stream is over by then.
  void Post(uint64_t id, runtime::Task task);
  void OnMessage(uint64_t id, const OrdersMessage& message);
  void OnBroken(uint64_t id, const absl::Status& why);

  World& world_;
  Process& process_;
  const HostId host_;
  Events* events_ = nullptr;
  // Null while there is no stream.
  std::shared_ptr<Session> stream_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORKER_SESSION_H_
