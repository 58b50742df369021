#include "runtime/posix/spdlog_log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace skerry::runtime {
namespace {

spdlog::level::level_enum LevelOf(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return spdlog::level::debug;
    case Severity::kInfo:
      return spdlog::level::info;
    case Severity::kWarning:
      return spdlog::level::warn;
    case Severity::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

nlohmann::ordered_json ToJson(const LogValue& value) {
  return std::visit(
      [](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

// Bytes that are not UTF-8 come from peers and paths; they must not cost the
// line.
std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

// The members that follow time and severity, without the opening brace.
std::string JsonTail(std::string_view event, std::span<const LogField> fields) {
  nlohmann::ordered_json json;
  json["event"] = std::string(event);
  for (const LogField& field : fields) {
    json[std::string(field.name)] = ToJson(field.value);
  }
  return Dump(json).substr(1);
}

std::string TextLine(std::string_view event, std::span<const LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.name;
    line += '=';
    const nlohmann::ordered_json value = ToJson(field.value);
    const bool is_plain =
        value.is_string() && value.get_ref<const std::string&>().find_first_of(
                                 " \"\\\n\t=") == std::string::npos;
    line += is_plain ? value.get_ref<const std::string&>() : Dump(value);
  }
  return line;
}

// spdlog's sink writes to its FILE under a lock of its own.
class FileSink final
    : public spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex> {
 public:
  explicit FileSink(std::FILE* out) : stdout_sink_base(out) {}
};

}  // namespace

struct SpdlogSink::State {
  State(std::FILE* out, LogForm form)
      : form(form), logger("skerry", std::make_shared<FileSink>(out)) {}
  LogForm form;
  spdlog::logger logger;
};

SpdlogSink::SpdlogSink(std::FILE* out, LogForm form, Severity least)
    : state_(std::make_unique<State>(out, form)) {
  const char* const pattern =
      form == LogForm::kJson
          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","severity":"%l",%v)"
          : "%H:%M:%S.%e %L %v";
  state_->logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(
      pattern, spdlog::pattern_time_type::utc));
  state_->logger.set_level(LevelOf(least));
  state_->logger.flush_on(spdlog::level::trace);
}

SpdlogSink::~SpdlogSink() = default;

void SpdlogSink::Write(Severity severity, std::string_view event,
                       std::span<const LogField> fields) {
  const spdlog::level::level_enum level = LevelOf(severity);
  if (!state_->logger.should_log(level)) return;
  const std::string line = state_->form == LogForm::kJson
                               ? JsonTail(event, fields)
                               : TextLine(event, fields);
  state_->logger.log(level, spdlog::string_view_t(line.data(), line.size()));
}

LogForm SpdlogSink::FormFor(std::FILE* out) {
  return isatty(fileno(out)) ? LogForm::kText : LogForm::kJson;
}

}  // namespace skerry::runtime
