// coordinator/service/grpc_status.h
//
// Converts a status for the wire, with the same code and words.
#ifndef SKERRY_COORDINATOR_SERVICE_GRPC_STATUS_H_
#define SKERRY_COORDINATOR_SERVICE_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace skerry::coordinator {

inline grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_GRPC_STATUS_H_
