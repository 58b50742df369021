// worker/daemon/revoked_orders.h
//
// Takes the cluster's list of revoked certificates from orders.
#ifndef SKERRY_WORKER_DAEMON_REVOKED_ORDERS_H_
#define SKERRY_WORKER_DAEMON_REVOKED_ORDERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/orders.h"
#include "transport/grpc/revocations.h"

namespace skerry::worker {

class RevokedOrders {
 public:
  // `revocations` is what the worker's calls are checked against.
  explicit RevokedOrders(std::shared_ptr<transport::Revocations> revocations)
      : revocations_(std::move(revocations)) {}

  // Unset when nothing has changed.
  void OnOrders(const std::optional<protocol::RevokedCertificates>& revoked);

  // Version of the newest list; 0 before one.
  uint64_t version() const { return version_; }

 private:
  const std::shared_ptr<transport::Revocations> revocations_;
  uint64_t version_ = 0;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_REVOKED_ORDERS_H_
