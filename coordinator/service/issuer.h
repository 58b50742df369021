// coordinator/service/issuer.h
//
// Holds what services need to write certificates and tokens.
#ifndef SKERRY_COORDINATOR_SERVICE_ISSUER_H_
#define SKERRY_COORDINATOR_SERVICE_ISSUER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "coordinator/service/cluster_identity.h"

namespace skerry::coordinator {

struct Issuer {
  // Null: the state folder has no cluster, and the other two are not used.
  std::shared_ptr<const ClusterIdentity> cluster;
  std::function<absl::Time()> wall;
  // Random bits that nobody can guess.
  std::function<uint64_t()> draw;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_ISSUER_H_
