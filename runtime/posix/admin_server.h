// runtime/posix/admin_server.h
//
// Serves a daemon's admin port: `/metrics` in Prometheus' text form, `/healthz`
// (the process works), `/readyz` (it can be used), and the daemon's pages under
// all other paths, if it has any. It only reads. Everything else is 404 or 405.
#ifndef SKERRY_RUNTIME_POSIX_ADMIN_SERVER_H_
#define SKERRY_RUNTIME_POSIX_ADMIN_SERVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "runtime/metrics.h"
#include "runtime/web.h"

struct mg_connection;
struct mg_context;

namespace skerry::runtime {

// These run on the server's threads, also at the same time. An error is
// answered as 503 with its message.
struct AdminFacts {
  std::function<absl::StatusOr<std::vector<Metric>>()> metrics;
  std::function<absl::Status()> healthy;
  std::function<absl::Status()> ready;
  // Not set: the daemon has no pages.
  WebPages pages;
};

// Answers that are streams and may be open at the same time. One more is
// answered with 503.
inline constexpr int kWebStreamsMax = 16;

class AdminServer {
 public:
  // Listens on `address`, host:port; port 0 takes a free one. Errors:
  // Unavailable, naming the address.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(
      const std::string& address, AdminFacts facts);
  // Ends streams, and waits for calls that are on their way.
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  int port() const { return port_; }

 private:
  explicit AdminServer(AdminFacts facts) : facts_(std::move(facts)) {}
  static int OnPage(mg_connection* connection, void* data);
  int Stream(mg_connection* connection, const WebAnswer& answer);

  const AdminFacts facts_;
  mg_context* context_ = nullptr;
  std::atomic<int> streams_ = 0;
  absl::Notification stops_;
  int port_ = 0;
};

// Metrics in Prometheus' text form. Samples without a finite value are left
// out.
std::string MetricsText(const std::vector<Metric>& metrics);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_ADMIN_SERVER_H_
