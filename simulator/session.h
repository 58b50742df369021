// simulator/session.h
//
// A control stream between a worker's process and the coordinator's. Each
// message travels by itself, so it may be lost, repeated or late. PROTOCOL 3
// allows all of that.
#ifndef SKERRY_SIMULATOR_SESSION_H_
#define SKERRY_SIMULATOR_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "proto/skerry/v1/control.pb.h"
#include "simulator/network.h"

namespace skerry::sim {

// Messages on their way, repeated or not.
using StatusMessage = std::shared_ptr<const v1::Status>;
using OrdersMessage = std::shared_ptr<const v1::Orders>;

struct Session {
  static constexpr int kWorkerEnd = 0;
  static constexpr int kCoordinatorEnd = 1;

  // Unique in a simulation.
  uint64_t id = 0;
  HostId worker = 0;
  std::shared_ptr<Stream> stream;
  // Orders at the worker, while its process lives.
  std::function<void(const OrdersMessage& orders)> on_orders;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SESSION_H_
