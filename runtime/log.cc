#include "runtime/log.h"

#include <atomic>

namespace skerry::runtime {
namespace {

std::atomic<LogSink*> installed_sink = nullptr;

}  // namespace

void InstallLogSink(LogSink* sink) {
  installed_sink.store(sink, std::memory_order_release);
}

void Log(Severity severity, std::string_view event,
         std::initializer_list<LogField> fields) {
  LogSink* sink = installed_sink.load(std::memory_order_acquire);
  if (sink == nullptr) return;
  sink->Write(severity, event,
              std::span<const LogField>(fields.begin(), fields.size()));
}

}  // namespace skerry::runtime
