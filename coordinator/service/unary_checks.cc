#include "coordinator/service/unary_checks.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "coordinator/service/grpc_status.h"

namespace skerry::coordinator {
namespace {

constexpr size_t kIdempotencyKeyBytesMax = 128;

}  // namespace

absl::Status RequireDeadline(grpc::CallbackServerContext& context) {
  if (context.raw_deadline().tv_sec != std::numeric_limits<int64_t>::max()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the call has no deadline; set one");
}

absl::Status CheckKey(const v1::IdempotencyKey& idempotency) {
  if (idempotency.key().empty() ||
      idempotency.key().size() > kIdempotencyKeyBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("idempotency.key: has to be of 1 to ",
                     kIdempotencyKeyBytesMax, " bytes"));
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* AnswerNow(grpc::CallbackServerContext* context,
                                    const absl::Status& why) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(why));
  return reactor;
}

}  // namespace skerry::coordinator
