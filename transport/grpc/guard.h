// transport/grpc/guard.h
//
// Looks at every call that comes to a port with TLS before any service does,
// and refuses what the policy, the list of revocations or the clock forbid.
#ifndef SKERRY_TRANSPORT_GRPC_GUARD_H_
#define SKERRY_TRANSPORT_GRPC_GUARD_H_

#include <grpcpp/security/auth_metadata_processor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/refusals.h"
#include "transport/grpc/refused_calls.h"
#include "transport/grpc/revocations.h"

namespace skerry::transport {

class Guard final : public grpc::AuthMetadataProcessor {
 public:
  // Any thread may call `now`. `refused` counts the calls that are refused.
  Guard(std::string cluster, std::shared_ptr<const Revocations> revocations,
        std::shared_ptr<RefusedCalls> refused, std::function<absl::Time()> now);

  // It never waits, so gRPC needs no thread for it.
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata,
                       grpc::AuthContext* context, OutputMetadata* consumed,
                       OutputMetadata* response) override;

 private:
  const std::string cluster_;
  const std::shared_ptr<const Revocations> revocations_;
  const std::shared_ptr<RefusedCalls> refused_;
  const std::function<absl::Time()> now_;
  Refusals refusals_;
};

// Errors: Unauthenticated (of another cluster, revoked, expired), and those of
// CheckMethod.
absl::Status CheckCaller(const Caller& caller, std::string_view method,
                         std::string_view cluster,
                         const Revocations& revocations, absl::Time now);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_GUARD_H_
