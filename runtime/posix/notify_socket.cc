#include "runtime/posix/notify_socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"

namespace skerry::runtime {
namespace {

std::string Take(const char* name) {
  const char* value = getenv(name);
  std::string taken = value == nullptr ? "" : value;
  unsetenv(name);
  return taken;
}

absl::Duration TakeWatchdog() {
  const std::string time = Take("WATCHDOG_USEC");
  const std::string pid = Take("WATCHDOG_PID");
  int64_t time_us = 0;
  if (!absl::SimpleAtoi(time, &time_us) || time_us <= 0 ||
      time_us == std::numeric_limits<int64_t>::max() ||
      (!pid.empty() && pid != std::to_string(getpid()))) {
    return absl::ZeroDuration();
  }
  return absl::Microseconds(time_us);
}

// A socket that messages to `path` are sent from.
class Sender {
 public:
  explicit Sender(const std::string& path) {
    memcpy(address_.sun_path, path.data(), path.size());
    // The name of a socket without a file begins with a zero byte.
    if (path[0] == '@') address_.sun_path[0] = '\0';
    bytes_ =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  ~Sender() {
    if (socket_ >= 0) close(socket_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void Send(const std::string& message) const {
    static_cast<void>(sendto(
        socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
        reinterpret_cast<const sockaddr*>(&address_), bytes_));
  }

 private:
  const int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address_ = {.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t bytes_ = 0;
};

}  // namespace

ServiceNotices NoticesToManager() {
  const std::string path = Take("NOTIFY_SOCKET");
  const absl::Duration watchdog = TakeWatchdog();
  if (path.size() < 2 || path.size() >= sizeof(sockaddr_un::sun_path) ||
      (path[0] != '/' && path[0] != '@')) {
    return ServiceNotices(nullptr, absl::ZeroDuration());
  }
  return ServiceNotices(
      [sender = std::make_shared<const Sender>(path)](
          const std::string& message) { sender->Send(message); },
      watchdog);
}

}  // namespace skerry::runtime
