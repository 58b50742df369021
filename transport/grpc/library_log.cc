#include "transport/grpc/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "runtime/log.h"

namespace skerry::transport {
namespace {

using runtime::Log;
using runtime::Severity;

void LogForGrpc(gpr_log_func_args* said) {
  Log(Severity::kDebug, "library.grpc",
      {{"message", said->message}, {"file", said->file}, {"line", said->line}});
}

void LogForProtobuf(google::protobuf::LogLevel, const char* file, int line,
                    const std::string& message) {
  Log(Severity::kDebug, "library.protobuf",
      {{"message", message}, {"file", file}, {"line", line}});
}

}  // namespace

void TakeLibraryLogs() {
  gpr_set_log_function(LogForGrpc);
  google::protobuf::SetLogHandler(LogForProtobuf);
}

}  // namespace skerry::transport
