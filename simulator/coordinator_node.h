// simulator/coordinator_node.h
//
// One run of the coordinator's process: the real core in its shell, a simulated
// journal, and the workers' control streams.
#ifndef SKERRY_SIMULATOR_COORDINATOR_NODE_H_
#define SKERRY_SIMULATOR_COORDINATOR_NODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "coordinator/service/cluster_shell.h"
#include "proto/skerry/v1/control.pb.h"
#include "simulator/process.h"
#include "simulator/session.h"
#include "simulator/sim_journal.h"

namespace skerry::sim {

class World;

class CoordinatorNode {
 public:
  // `world` outlives the node.
  explicit CoordinatorNode(World& world);
  ~CoordinatorNode();

  // A Status has arrived; the first of a session opens it here.
  void OnStatus(const std::shared_ptr<Session>& session,
                const StatusMessage& status);
  // The session broke, or its worker closed it.
  void OnClosed(uint64_t id);

  Process& process() { return process_; }
  coordinator::ClusterShell& shell() { return shell_; }
  // False when the journal could not be folded; the process has ended then.
  bool recovered() const { return recovered_; }

 private:
  class ServerStream;
  struct Watch;

  void Take(uint64_t id);
  void Answer(uint64_t id, const std::string& worker, Boot boot,
              const absl::Status& taken);
  void MakeLive(uint64_t id, ServerStream& stream, const std::string& worker,
                Boot boot);
  void Refuse(uint64_t id, const absl::Status& why);

  void Unlink(uint64_t id);
  ServerStream* Find(uint64_t id);

  World& world_;
  const uint64_t run_;
  Process process_;
  SimJournal journal_;
  std::unique_ptr<Watch> watch_;
  coordinator::ClusterShell shell_;
  bool recovered_ = false;
  std::map<uint64_t, std::unique_ptr<ServerStream>> streams_;
  std::map<std::string, uint64_t> live_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_COORDINATOR_NODE_H_
