#include "runtime/posix/admin_server.h"

#include <civetweb.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::runtime {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kTextType[] = "text/plain; charset=utf-8";

int Answer(mg_connection* connection, int code, const char* type,
           const std::string& body) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            code, mg_get_response_code_text(connection, code), type,
            body.size());
  const mg_request_info* request = mg_get_request_info(connection);
  if (std::strcmp(request->request_method, "HEAD") != 0) {
    mg_write(connection, body.data(), body.size());
  }
  return code;
}

int AnswerStatus(mg_connection* connection, const absl::Status& status) {
  if (status.ok()) return Answer(connection, 200, kTextType, "ok\n");
  return Answer(connection, 503, kTextType,
                absl::StrCat(status.message(), "\n"));
}

bool IsRead(mg_connection* connection) {
  const char* method = mg_get_request_info(connection)->request_method;
  return std::strcmp(method, "GET") == 0 || std::strcmp(method, "HEAD") == 0;
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
  // Whoever is slow loses the call, not the two threads.
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "2",
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
  return server;
}

AdminServer::~AdminServer() {
  if (context_ != nullptr) mg_stop(context_);
}

}  // namespace skerry::runtime
