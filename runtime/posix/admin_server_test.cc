#include "runtime/posix/admin_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  return fd;
}

void Send(int fd, const std::string& text) {
  EXPECT_EQ(send(fd, text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
}

// The whole answer to one request.
std::string Ask(int port, const std::string& request) {
  const int fd = Connect(port);
  Send(fd, absl::StrCat(request,
                        " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<size_t>(count));
  }
  close(fd);
  return answer;
}

AdminFacts Facts() {
  AdminFacts facts;
  facts.metrics = [] {
    return std::vector<Metric>{
        {"skerry_things_total",
         "Things.",
         Metric::Kind::kCounter,
         {{{{"job", "a\"b"}}, 3}, {{{"job", "c"}}, 4}}},
        {"skerry_level_bytes", "Level.", Metric::Kind::kGauge, {{{}, 0.5}}}};
  };
  facts.healthy = [] { return absl::OkStatus(); };
  facts.ready = [] { return absl::UnavailableError("recovers"); };
  return facts;
}

TEST(AdminServerTest, MetricsAreInPrometheusTextForm) {
  const auto server = AdminServer::Start("127.0.0.1:0", Facts());
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string answer = Ask((*server)->port(), "GET /metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("# TYPE skerry_things_total counter\n"
                                "skerry_things_total{job=\"a\\\"b\"} 3\n"
                                "skerry_things_total{job=\"c\"} 4\n"));
  EXPECT_THAT(answer, HasSubstr("# TYPE skerry_level_bytes gauge\n"
                                "skerry_level_bytes 0.5\n"));
}

TEST(AdminServerTest, HealthAndReadinessAreDifferentQuestions) {
  const auto server = AdminServer::Start("127.0.0.1:0", Facts());
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Ask((*server)->port(), "GET /healthz"),
              StartsWith("HTTP/1.1 200 "));
  const std::string answer = Ask((*server)->port(), "GET /readyz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nrecovers\n"));
}

TEST(AdminServerTest, NothingElseIsThereAndNothingCanBeChanged) {
  const auto server = AdminServer::Start("127.0.0.1:0", Facts());
  ASSERT_TRUE(server.ok()) << server.status();
  for (const char* path : {"/", "/metricsx", "/../etc/passwd"}) {
    const std::string answer =
        Ask((*server)->port(), absl::StrCat("GET ", path));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 4")) << path;
  }
  EXPECT_THAT(Ask((*server)->port(), "DELETE /metrics"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask((*server)->port(), "HEAD /metrics"),
              Not(HasSubstr("skerry_")));
}

// A daemon that has pages: "/echo" tells what was asked, and "/stream" is a
// stream of one piece after the other.
AdminFacts WithPages() {
  AdminFacts facts = Facts();
  facts.pages = [](const WebRequest& request) {
    WebAnswer answer;
    answer.type = "text/plain";
    answer.headers = {{"X-Kind", "page"}};
    if (request.path == "/stream") {
      answer.next = [] { return std::string("piece\n"); };
    } else if (request.path == "/echo") {
      answer.body = absl::StrCat(
          request.address, "|", request.path, "|", request.query, "|",
          request.host, "|", request.fetch_site, "|", request.last_event_id);
    } else {
      answer.code = 404;
    }
    return answer;
  };
  return facts;
}

TEST(AdminServerTest, OtherPathsAreThePages) {
  const auto server = AdminServer::Start("127.0.0.1:0", WithPages());
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string answer =
      Ask((*server)->port(),
          "GET /echo?a=%20b HTTP/1.1\r\nSec-Fetch-Site: none\r\n"
          "Last-Event-ID: 4-2\r\nX:");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("\r\nX-Kind: page\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n127.0.0.1|/echo|a=%20b|x|none|4-2"));
  EXPECT_THAT(Ask((*server)->port(), "GET /healthz"), HasSubstr("ok\n"));
  EXPECT_THAT(Ask((*server)->port(), "GET /other"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask((*server)->port(), "POST /echo"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask((*server)->port(), "HEAD /stream"), Not(HasSubstr("piece")));
}

// A reader of a stream that has read its first piece and then reads no more.
class StalledReader {
 public:
  explicit StalledReader(int port) : fd_(Connect(port)) {
    Send(fd_, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    char buffer[4096];
    while (said_.find("piece") == std::string::npos &&
           said_.find(" 503 ") == std::string::npos) {
      const ssize_t count = recv(fd_, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      said_.append(buffer, static_cast<size_t>(count));
    }
  }
  ~StalledReader() { close(fd_); }
  StalledReader(const StalledReader&) = delete;
  const std::string& said() const { return said_; }

 private:
  const int fd_;
  std::string said_;
};

TEST(AdminServerTest, StreamsAreBoundedAndHoldUpNothingElse) {
  auto server = AdminServer::Start("127.0.0.1:0", WithPages());
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = (*server)->port();
  std::vector<std::unique_ptr<StalledReader>> readers;
  for (int i = 0; i < kWebStreamsMax; ++i) {
    readers.push_back(std::make_unique<StalledReader>(port));
    EXPECT_THAT(readers.back()->said(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(readers.back()->said(), Not(HasSubstr("Content-Length")));
  }
  EXPECT_THAT(StalledReader(port).said(), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(port, "GET /healthz"), HasSubstr("ok\n"));
  // It ends although streams are open.
  server->reset();
}

TEST(AdminServerTest, ABusyPortIsNamed) {
  const auto first = AdminServer::Start("127.0.0.1:0", Facts());
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->port());
  const auto second = AdminServer::Start(address, Facts());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.status().ToString(), HasSubstr(address));
}

TEST(AdminServerTest, WhatIsNoNumberIsLeftOut) {
  const std::string text =
      MetricsText({{"skerry_loss",
                    "Loss.",
                    Metric::Kind::kGauge,
                    {{{}, std::numeric_limits<double>::quiet_NaN()}}}});
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("Nan")));
}

}  // namespace
}  // namespace skerry::runtime
