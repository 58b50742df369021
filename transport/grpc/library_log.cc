#include "transport/grpc/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "runtime/log.h"
#include "transport/grpc/plain_cause.h"
#include "transport/grpc/refusals.h"

namespace skerry::transport {
namespace {

using runtime::Log;
using runtime::Severity;

absl::Time MonotonicNow() {
  const gpr_timespec now = gpr_now(GPR_CLOCK_MONOTONIC);
  return absl::FromUnixSeconds(now.tv_sec) + absl::Nanoseconds(now.tv_nsec);
}

std::atomic<uint64_t> failed_handshakes = 0;

// The library tells of refused handshakes in its log alone.
void LogHandshake(std::string_view cause) {
  ++failed_handshakes;
  static auto* const refusals = new Refusals();
  if (const auto unsaid = refusals->Count(MonotonicNow())) {
    Log(Severity::kWarning, "transport.handshake.failed",
        {{"cause", cause}, {"more_failed", *unsaid}});
  }
}

void LogForGrpc(gpr_log_func_args* said) {
  if (const auto cause = HandshakeCause(said->message)) LogHandshake(*cause);
  Log(Severity::kDebug, "library.grpc",
      {{"message", said->message}, {"file", said->file}, {"line", said->line}});
}

void LogForProtobuf(google::protobuf::LogLevel, const char* file, int line,
                    const std::string& message) {
  Log(Severity::kDebug, "library.protobuf",
      {{"message", message}, {"file", file}, {"line", line}});
}

}  // namespace

uint64_t FailedHandshakes() { return failed_handshakes; }

void TakeLibraryLogs() {
  gpr_set_log_function(LogForGrpc);
  google::protobuf::SetLogHandler(LogForProtobuf);
}

}  // namespace skerry::transport
