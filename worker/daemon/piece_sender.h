// worker/daemon/piece_sender.h
//
// Sends pieces of states to the coordinator, which passes them on to operators
// who cannot dial this worker.
#ifndef SKERRY_WORKER_DAEMON_PIECE_SENDER_H_
#define SKERRY_WORKER_DAEMON_PIECE_SENDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "protocol/piece_order.h"
#include "transport/grpc/credentials.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace skerry::worker {

// Members are called on the loop.
class PieceSender {
 public:
  // Answers what this worker gives to an operator who fetches from it.
  using Find =
      std::function<absl::StatusOr<SharedBytes>(const protocol::PieceKey& key)>;

  // `coordinator` is host:port.
  PieceSender(std::string coordinator,
              std::shared_ptr<transport::Credentials> credentials, Find find);
  // Cancels the calls on their way.
  ~PieceSender();
  PieceSender(const PieceSender&) = delete;
  PieceSender& operator=(const PieceSender&) = delete;

  // All that is wanted now. An order that it has not seen yet gets its answer,
  // and one that is missing is not sent any further.
  void OnOrders(const std::vector<protocol::PieceOrder>& orders);

 private:
  class Call;

  void Send(const protocol::PieceOrder& order);

  const std::string coordinator_;
  const std::shared_ptr<transport::Credentials> credentials_;
  const Find find_;
  std::shared_ptr<grpc::Channel> channel_;
  // By request: those in the newest orders.
  absl::btree_map<uint64_t, std::shared_ptr<Call>> calls_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PIECE_SENDER_H_
