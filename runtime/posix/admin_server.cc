#include "runtime/posix/admin_server.h"

#include <civetweb.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace skerry::runtime {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kTextType[] = "text/plain; charset=utf-8";
constexpr absl::Duration kStreamPause = absl::Seconds(1);

// False when the other end is gone or does not read.
bool Write(mg_connection* connection, const std::string& text) {
  return mg_write(connection, text.data(), text.size()) ==
         static_cast<int>(text.size());
}

bool IsHead(mg_connection* connection) {
  const char* method = mg_get_request_info(connection)->request_method;
  return std::strcmp(method, "HEAD") == 0;
}

// `fields`: further header fields, each with its line end.
bool WriteHead(mg_connection* connection, int code, const std::string& type,
               const std::string& fields) {
  return Write(connection,
               absl::StrCat("HTTP/1.1 ", code, " ",
                            mg_get_response_code_text(connection, code),
                            "\r\nContent-Type: ", type, "\r\n", fields,
                            "Cache-Control: no-store\r\n"
                            "Connection: close\r\n\r\n"));
}

int Answer(mg_connection* connection, int code, const std::string& type,
           const std::string& body, const std::string& fields = "") {
  const bool open =
      WriteHead(connection, code, type,
                absl::StrCat("Content-Length: ", body.size(), "\r\n", fields));
  if (open && !IsHead(connection)) Write(connection, body);
  return code;
}

int AnswerStatus(mg_connection* connection, const absl::Status& status) {
  if (status.ok()) return Answer(connection, 200, kTextType, "ok\n");
  return Answer(connection, 503, kTextType,
                absl::StrCat(status.message(), "\n"));
}

bool IsRead(mg_connection* connection) {
  const char* method = mg_get_request_info(connection)->request_method;
  return std::strcmp(method, "GET") == 0 || IsHead(connection);
}

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

WebRequest RequestOf(const mg_connection* connection) {
  const mg_request_info* info = mg_get_request_info(connection);
  const auto header = [&](const char* name) {
    return TextOf(mg_get_header(connection, name));
  };
  return {TextOf(info->remote_addr),  TextOf(info->local_uri),
          TextOf(info->query_string), header("Host"),
          header("Sec-Fetch-Site"),   header("Last-Event-ID")};
}

std::string FieldsOf(const WebAnswer& answer) {
  std::string fields;
  for (const auto& [name, value] : answer.headers) {
    absl::StrAppend(&fields, name, ": ", value, "\r\n");
  }
  return fields;
}

int OnMetrics(mg_connection* connection, void* data) {
  if (!IsRead(connection)) return Answer(connection, 405, kTextType, "");
  const auto metrics = static_cast<const AdminFacts*>(data)->metrics();
  if (!metrics.ok()) return AnswerStatus(connection, metrics.status());
  return Answer(connection, 200, kMetricsType, MetricsText(*metrics));
}

int OnHealth(mg_connection* connection, void* data) {
  if (!IsRead(connection)) return Answer(connection, 405, kTextType, "");
  return AnswerStatus(connection,
                      static_cast<const AdminFacts*>(data)->healthy());
}

int OnReady(mg_connection* connection, void* data) {
  if (!IsRead(connection)) return Answer(connection, 405, kTextType, "");
  return AnswerStatus(connection,
                      static_cast<const AdminFacts*>(data)->ready());
}

// The library would write to standard error; our own errors say what follows.
int DropMessage(const mg_connection*, const char*) { return 1; }

prometheus::ClientMetric ToPrometheus(const Sample& sample) {
  prometheus::ClientMetric out;
  for (const auto& [name, value] : sample.labels) {
    out.label.push_back({name, value});
  }
  out.gauge.value = sample.value;
  out.counter.value = sample.value;
  return out;
}

}  // namespace

std::string MetricsText(const std::vector<Metric>& metrics) {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : metrics) {
    prometheus::MetricFamily family;
    family.name = metric.name;
    family.help = metric.help;
    family.type = metric.kind == Metric::Kind::kCounter
                      ? prometheus::MetricType::Counter
                      : prometheus::MetricType::Gauge;
    for (const Sample& sample : metric.samples) {
      if (!std::isfinite(sample.value)) continue;
      family.metric.push_back(ToPrometheus(sample));
    }
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(
    const std::string& address, AdminFacts facts) {
  std::unique_ptr<AdminServer> server(new AdminServer(std::move(facts)));
  // Whoever is slow loses the call, not the two threads. A stream has a thread
  // of its own.
  const std::string threads =
      absl::StrCat(2 + (server->facts_.pages ? kWebStreamsMax : 0));
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           threads.c_str(),
                           "request_timeout_ms",
                           "5000",
                           "enable_directory_listing",
                           "no",
                           nullptr};
  mg_callbacks callbacks = {};
  callbacks.log_message = DropMessage;
  server->context_ = mg_start(&callbacks, nullptr, options);
  mg_server_port port = {};
  if (server->context_ == nullptr ||
      mg_get_server_ports(server->context_, 1, &port) != 1) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address,
                     " for --admin; is another process using the port?"));
  }
  server->port_ = port.port;
  void* data = const_cast<AdminFacts*>(&server->facts_);
  mg_set_request_handler(server->context_, "/metrics$", OnMetrics, data);
  mg_set_request_handler(server->context_, "/healthz$", OnHealth, data);
  mg_set_request_handler(server->context_, "/readyz$", OnReady, data);
  if (server->facts_.pages) {
    mg_set_request_handler(server->context_, "/", OnPage, server.get());
  }
  return server;
}

int AdminServer::OnPage(mg_connection* connection, void* data) {
  if (!IsRead(connection)) return Answer(connection, 405, kTextType, "");
  AdminServer& self = *static_cast<AdminServer*>(data);
  const WebAnswer answer = self.facts_.pages(RequestOf(connection));
  if (answer.next && !IsHead(connection)) {
    return self.Stream(connection, answer);
  }
  return Answer(connection, answer.code, answer.type, answer.body,
                FieldsOf(answer));
}

int AdminServer::Stream(mg_connection* connection, const WebAnswer& answer) {
  const absl::Cleanup leave = [this] { --streams_; };
  if (++streams_ > kWebStreamsMax) {
    return Answer(connection, 503, kTextType,
                  "too many streams are open; try again later\n");
  }
  bool open =
      WriteHead(connection, answer.code, answer.type, FieldsOf(answer)) &&
      Write(connection, answer.body);
  while (open) {
    const std::string text = answer.next();
    open = (text.empty() || Write(connection, text)) &&
           !stops_.WaitForNotificationWithTimeout(kStreamPause);
  }
  return answer.code;
}

AdminServer::~AdminServer() {
  stops_.Notify();
  if (context_ != nullptr) mg_stop(context_);
}

}  // namespace skerry::runtime
