// runtime/log.h
//
// Logs events for operators. An event has a stable lower-case name such as
// "transport.stream.lost"; the values that vary are in its fields. Users grep
// for both, so a released name keeps its meaning.
#ifndef SKERRY_RUNTIME_LOG_H_
#define SKERRY_RUNTIME_LOG_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/status.h"

namespace skerry::runtime {

enum class Severity { kDebug, kInfo, kWarning, kError };

using LogValue = std::variant<bool, int64_t, uint64_t, double, std::string>;

// One named value. Units are in the name: "wait_ms", "payload_bytes".
struct LogField {
  LogField(std::string_view name, bool value) : name(name), value(value) {}
  LogField(std::string_view name, double value) : name(name), value(value) {}
  LogField(std::string_view name, std::string value)
      : name(name), value(std::move(value)) {}
  LogField(std::string_view name, std::string_view value)
      : name(name), value(std::string(value)) {}
  LogField(std::string_view name, const char* value)
      : name(name), value(std::string(value)) {}
  LogField(std::string_view name, const absl::Status& value)
      : name(name), value(value.ToString()) {}
  template <std::signed_integral T>
  LogField(std::string_view name, T value)
      : name(name), value(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  LogField(std::string_view name, T value)
      : name(name), value(static_cast<uint64_t>(value)) {}

  std::string_view name;
  LogValue value;
};

// Where events go. Write() may be called from several threads at once.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(Severity severity, std::string_view event,
                     std::span<const LogField> fields) = 0;
};

// Sends every later event to `sink`, which must outlive the last of them; null
// drops them, as before the first call. Called by main and by tests.
void InstallLogSink(LogSink* sink);

// Any thread; never with a lock held.
void Log(Severity severity, std::string_view event,
         std::initializer_list<LogField> fields = {});

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_LOG_H_
