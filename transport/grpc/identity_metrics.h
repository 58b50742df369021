// transport/grpc/identity_metrics.h
//
// What a daemon tells Prometheus of its identity.
#ifndef SKERRY_TRANSPORT_GRPC_IDENTITY_METRICS_H_
#define SKERRY_TRANSPORT_GRPC_IDENTITY_METRICS_H_

#include <vector>

#include "runtime/metrics.h"
#include "transport/grpc/credentials.h"

namespace skerry::transport {

// Adds nothing in plaintext. docs/metrics.md lists them.
void AddIdentityMetrics(const Credentials& credentials,
                        std::vector<runtime::Metric>& metrics);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_IDENTITY_METRICS_H_
