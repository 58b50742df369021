// coordinator/core/testing/orders_of.h
//
// Reads the orders of one worker.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_ORDERS_OF_H_
#define SKERRY_COORDINATOR_CORE_TESTING_ORDERS_OF_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/instant.h"
#include "coordinator/core/cluster.h"

namespace skerry::coordinator {

// Errors: NotFound when the worker has no current incarnation.
inline absl::StatusOr<Orders> OrdersOf(const Cluster& cluster,
                                       std::string worker, Instant now) {
  absl::StatusOr<Orders> found =
      absl::NotFoundError("the worker has no current incarnation");
  const std::string names[] = {std::move(worker)};
  cluster.WriteOrders(names, now, [&found](const std::string&, Orders orders) {
    found = std::move(orders);
  });
  return found;
}

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_ORDERS_OF_H_
