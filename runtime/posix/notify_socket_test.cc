#include "runtime/posix/notify_socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "runtime/testing/manual_loop.h"

namespace skerry::runtime {
namespace {

// Listens as a service manager does, at a name that is free.
class NotifySocketTest : public testing::Test {
 protected:
  // `abstract`: a name without a file.
  std::string Listen(bool abstract) {
    Close();
    // Folders of tests have longer names than a socket may have.
    const std::string path = (abstract ? "@" : "/tmp/") + Name();
    if (!abstract) path_ = path;
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    if (abstract) address.sun_path[0] = '\0';
    const auto bytes =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), bytes),
              0);
    return path;
  }
  ~NotifySocketTest() override { Close(); }

  // The next message, or nothing when none has come.
  std::string Heard() {
    char text[512];
    const ssize_t bytes = recv(socket_, text, sizeof(text), MSG_DONTWAIT);
    return bytes < 0 ? "" : std::string(text, bytes);
  }
  void Set(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
  }
  // What the first turn of the loop says to the manager.
  std::string Fed() {
    ManualLoop loop;
    ServiceNotices notices = NoticesToManager();
    notices.FeedFrom(loop, [] { return "x"; });
    return Heard();
  }

 private:
  static std::string Name() {
    return "skerry-notify-" + std::to_string(getpid());
  }
  void Close() {
    if (socket_ >= 0) close(socket_);
    if (!path_.empty()) unlink(path_.c_str());
    socket_ = -1;
    path_.clear();
  }

  int socket_ = -1;
  std::string path_;
};

TEST_F(NotifySocketTest, MessagesReachAFileAndAName) {
  for (const bool abstract : {false, true}) {
    SCOPED_TRACE(abstract);
    Set("NOTIFY_SOCKET", Listen(abstract));
    NoticesToManager().Ready("serves");
    EXPECT_EQ(Heard(), "READY=1\nSTATUS=serves");
  }
}

TEST_F(NotifySocketTest, ChildrenDoNotSpeakInItsName) {
  Set("NOTIFY_SOCKET", "/run/x");
  Set("WATCHDOG_USEC", "1");
  Set("WATCHDOG_PID", "1");
  NoticesToManager();
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
    EXPECT_EQ(getenv(name), nullptr) << name;
  }
}

TEST_F(NotifySocketTest, TheWatchdogOfThisProcessIsFed) {
  const std::string path = Listen(false);
  for (const std::string& pid : {std::to_string(getpid()), std::string()}) {
    Set("NOTIFY_SOCKET", path);
    Set("WATCHDOG_USEC", "30000000");
    if (!pid.empty()) Set("WATCHDOG_PID", pid);
    EXPECT_EQ(Fed(), "WATCHDOG=1\nSTATUS=x");
  }
}

TEST_F(NotifySocketTest, AnotherProcessesWatchdogAndNonsenseAreNotFed) {
  const std::string path = Listen(false);
  for (const auto& [time, pid] :
       {std::pair<const char*, const char*>{"30000000", "1"},
        {"0", ""},
        {"-1", ""},
        {"soon", ""},
        {"18446744073709551615", ""}}) {
    SCOPED_TRACE(time);
    Set("NOTIFY_SOCKET", path);
    Set("WATCHDOG_USEC", time);
    Set("WATCHDOG_PID", pid);
    EXPECT_EQ(Fed(), "STATUS=x");
  }
}

TEST_F(NotifySocketTest, ASocketThatIsNoneOrGoneSaysNothing) {
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("relative"),
        std::string("/nowhere/at/all"), "/" + std::string(200, 'x')}) {
    Set("NOTIFY_SOCKET", path);
    NoticesToManager().Ready("serves");
  }
}

}  // namespace
}  // namespace skerry::runtime
