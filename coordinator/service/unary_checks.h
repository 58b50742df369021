// coordinator/service/unary_checks.h
//
// Checks what every unary call must have, and answers a wrong call without the
// loop.
#ifndef SKERRY_COORDINATOR_SERVICE_UNARY_CHECKS_H_
#define SKERRY_COORDINATOR_SERVICE_UNARY_CHECKS_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "proto/skerry/v1/types.pb.h"

namespace skerry::coordinator {

// Errors: InvalidArgument.
absl::Status RequireDeadline(grpc::CallbackServerContext& context);
// Errors: InvalidArgument.
absl::Status CheckKey(const v1::IdempotencyKey& idempotency);

grpc::ServerUnaryReactor* AnswerNow(grpc::CallbackServerContext* context,
                                    const absl::Status& why);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_UNARY_CHECKS_H_
