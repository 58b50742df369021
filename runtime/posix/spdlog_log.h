// runtime/posix/spdlog_log.h
//
// Writes events to standard error: a readable line on a terminal, one JSON
// object a line otherwise, {"time","severity","event", fields...}.
#ifndef SKERRY_RUNTIME_POSIX_SPDLOG_LOG_H_
#define SKERRY_RUNTIME_POSIX_SPDLOG_LOG_H_

#include <cstdio>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/log.h"

namespace skerry::runtime {

enum class LogForm { kText, kJson };

class SpdlogSink final : public LogSink {
 public:
  // Writes to `out`, which is borrowed; events below `least` are dropped.
  SpdlogSink(std::FILE* out, LogForm form, Severity least);
  ~SpdlogSink() override;

  void Write(Severity severity, std::string_view event,
             std::span<const LogField> fields) override;

  // kText when `out` is a terminal.
  static LogForm FormFor(std::FILE* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_SPDLOG_LOG_H_
