#include "runtime/posix/curl_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Takes one connection, reads a request and answers with given bytes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    SKERRY_CHECK(bind(listener_, raw, size) == 0);
    SKERRY_CHECK(listen(listener_, 1) == 0);
    SKERRY_CHECK(getsockname(listener_, raw, &size) == 0);
    url_ = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneAnswer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const std::string& url() const { return url_; }
  // The request, once it is whole.
  const std::string& request() {
    asked_.WaitForNotification();
    return request_;
  }

 private:
  void Serve() {
    const int peer = accept(listener_, nullptr, nullptr);
    if (peer < 0) return;
    char buffer[4096];
    while (!absl::EndsWith(request_, "\r\n\r\n")) {
      const ssize_t got = read(peer, buffer, sizeof(buffer));
      if (got <= 0) break;
      request_.append(buffer, got);
    }
    asked_.Notify();
    (void)!send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    // An empty answer keeps the client waiting until it goes.
    while (answer_.empty() && read(peer, buffer, sizeof(buffer)) > 0) {
    }
    close(peer);
  }

  const std::string answer_;
  int listener_ = -1;
  std::string url_;
  std::string request_;
  absl::Notification asked_;
  std::thread thread_;
};

HttpRequest Get(const std::string& url) {
  return {"GET", url, {}, absl::Seconds(30), 100};
}

TEST(CurlHttpTest, AReplyHasCodeHeadersAndBody) {
  OneAnswer server(
      "HTTP/1.1 404 Not Found\r\nETag:  e1 \r\nContent-Length: 5\r\n\r\nhello");
  CurlHttp http;
  const auto reply = http.Fetch(Get(server.url() + "/a?b=c"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->code, 404);
  EXPECT_EQ(reply->headers.at("etag"), "e1");
  EXPECT_EQ(reply->body, "hello");
  EXPECT_THAT(server.request(), HasSubstr("GET /a?b=c HTTP/1.1\r\n"));
}

TEST(CurlHttpTest, MethodAndHeadersAreSentWithoutABody) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  CurlHttp http;
  HttpRequest request = Get(server.url());
  request.method = "PUT";
  request.headers = {{"X-Lifetime", "60"}};
  ASSERT_TRUE(http.Fetch(request).ok());
  EXPECT_THAT(server.request(), AllOf(HasSubstr("PUT / HTTP/1.1\r\n"),
                                      HasSubstr("X-Lifetime: 60\r\n"),
                                      Not(HasSubstr("Content-Length"))));
}

TEST(CurlHttpTest, ALongBodyIsAnErrorHoweverItIsSent) {
  const std::string body(101, 'a');
  for (const std::string& answer :
       {absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", body),
        absl::StrCat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "65\r\n",
                     body, "\r\n0\r\n\r\n"),
        absl::StrCat("HTTP/1.0 200 OK\r\n\r\n", body)}) {
    OneAnswer server(answer);
    CurlHttp http;
    EXPECT_EQ(http.Fetch(Get(server.url())).status(),
              absl::UnavailableError("the reply has more than 100 bytes"));
  }
}

TEST(CurlHttpTest, LongHeadersAreAnError) {
  OneAnswer server(absl::StrCat(
      "HTTP/1.1 200 OK\r\nA: ", std::string(20000, 'a'), "\r\n\r\n"));
  CurlHttp http;
  EXPECT_TRUE(absl::IsUnavailable(http.Fetch(Get(server.url())).status()));
}

TEST(CurlHttpTest, WhatIsNoHttpIsAnError) {
  OneAnswer server("SSH-2.0-OpenSSH_9.2\r\n");
  CurlHttp http;
  EXPECT_TRUE(absl::IsUnavailable(http.Fetch(Get(server.url())).status()));
  EXPECT_TRUE(
      absl::IsUnavailable(http.Fetch(Get("file:///etc/passwd")).status()));
}

TEST(CurlHttpTest, ARedirectionIsAReply) {
  OneAnswer server(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
      "Content-Length: 0\r\n\r\n");
  CurlHttp http;
  EXPECT_EQ(http.Fetch(Get(server.url()))->code, 302);
}

TEST(CurlHttpTest, TheProxyOfTheEnvironmentIsNotAsked) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  CurlHttp http;
  EXPECT_TRUE(http.Fetch(Get(server.url())).ok());
  unsetenv("http_proxy");
}

TEST(CurlHttpTest, AServerThatIsSilentIsGivenUp) {
  OneAnswer server("");
  CurlHttp http;
  HttpRequest request = Get(server.url());
  request.timeout = absl::Milliseconds(20);
  EXPECT_EQ(http.Fetch(request).status(),
            absl::UnavailableError("no reply within 20ms"));
}

TEST(CurlHttpTest, AWaitIsCancelledByAnotherThread) {
  OneAnswer server("");
  CurlHttp http;
  absl::Status status;
  std::thread waits([&] { status = http.Fetch(Get(server.url())).status(); });
  server.request();
  http.Cancel();
  waits.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_TRUE(absl::IsCancelled(http.Fetch(Get(server.url())).status()));
}

}  // namespace
}  // namespace skerry::runtime
