#include "tests/netem/relay.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/random.h"
#include "runtime/posix/monotonic_clock.h"
#include "tests/netem/connection.h"
#include "tests/netem/network.h"
#include "tests/netem/sockets.h"

namespace skerry::netem {
namespace {

constexpr size_t kLineBytesMax = 4096;
constexpr int kEventsMax = 64;

// Who an event is for: the kind in the high half, a number in the low one.
enum class Kind : uint32_t {
  kWake,
  kLink,
  kControlListener,
  kControl,
  kSideZero,
  kSideOne
};

uint64_t KeyOf(Kind kind, uint32_t number) {
  return (uint64_t{static_cast<uint32_t>(kind)} << 32) | number;
}

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

std::string ErrorJson(const absl::Status& status) {
  const nlohmann::json json = {{"error", std::string(status.message())}};
  return json.dump();
}

}  // namespace

class Relay::Impl {
 public:
  explicit Impl(const RelayConfig& config)
      : network_(config), random_(config.seed) {
    epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    SKERRY_CHECK(epoll_fd_ >= 0 && wake_fd_ >= 0);
    Watch(wake_fd_, EPOLLIN, KeyOf(Kind::kWake, 0));
  }

  ~Impl() {
    connections_.clear();
    for (const auto& [number, control] : controls_) {
      if (control.is_owned) close(control.in);
    }
    for (const int fd : listeners_) close(fd);
    if (control_listener_ >= 0) close(control_listener_);
    close(wake_fd_);
    close(epoll_fd_);
  }

  absl::Status Listen(const RelayConfig& config) {
    for (const LinkConfig& link : config.links) {
      const absl::StatusOr<int> fd = ListenOn(link.listen);
      if (!fd.ok()) return fd.status();
      Watch(*fd, EPOLLIN,
            KeyOf(Kind::kLink, static_cast<uint32_t>(listeners_.size())));
      listeners_.push_back(*fd);
    }
    return absl::OkStatus();
  }

  std::string AddressOf(const std::string& name) const {
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (network_.links()[i]->name == name) return LocalAddress(listeners_[i]);
    }
    return "";
  }

  std::string AddressesJson() const {
    nlohmann::ordered_json json;
    json["links"] = nlohmann::ordered_json::object();
    for (size_t i = 0; i < listeners_.size(); ++i) {
      json["links"][network_.links()[i]->name] = LocalAddress(listeners_[i]);
    }
    return json.dump();
  }

  void AddControl(int in, int out, bool ends_run, bool is_owned) {
    std::lock_guard<std::mutex> lock(mutex_);
    AddControlLocked(in, out, ends_run, is_owned);
  }

  absl::Status ListenForControls(const std::string& path) {
    const absl::StatusOr<int> fd = ListenOnUnix(path);
    if (!fd.ok()) return fd.status();
    control_listener_ = *fd;
    Watch(*fd, EPOLLIN, KeyOf(Kind::kControlListener, 0));
    return absl::OkStatus();
  }

  void Run() {
    epoll_event events[kEventsMax];
    for (;;) {
      std::optional<Instant> next;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (is_stopped_) return;
        next = PumpAll(runtime::MonotonicNow());
      }
      const int count = Wait(events, next);
      std::lock_guard<std::mutex> lock(mutex_);
      for (int i = 0; i < count; ++i) OnEvent(events[i]);
    }
  }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_stopped_ = true;
    }
    Wake();
  }

  std::string Execute(const std::string& command) {
    std::string answer;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      answer = ExecuteLocked(command);
    }
    Wake();
    return answer;
  }

 private:
  struct Control {
    int in;
    int out;
    bool ends_run;
    bool is_owned;
    std::string line = {};
  };
  struct Relayed {
    Link* link;
    std::unique_ptr<Connection> connection;
  };

  void Watch(int fd, uint32_t what, uint64_t key) {
    epoll_event event = {};
    event.events = what;
    event.data.u64 = key;
    // A regular file as control is always readable, which epoll cannot watch.
    SKERRY_CHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0 ||
                 errno == EPERM);
  }

  void Wake() {
    const uint64_t one = 1;
    SKERRY_CHECK(write(wake_fd_, &one, sizeof(one)) == sizeof(one));
  }

  int Wait(epoll_event* events, std::optional<Instant> next) {
    timespec timeout;
    if (next.has_value()) {
      timeout = absl::ToTimespec(
          std::max(absl::ZeroDuration(), *next - runtime::MonotonicNow()));
    }
    const int count =
        epoll_pwait2(epoll_fd_, events, kEventsMax,
                     next.has_value() ? &timeout : nullptr, nullptr);
    SKERRY_CHECK(count >= 0 || errno == EINTR);
    return std::max(count, 0);
  }

  // Below, the caller holds mutex_.

  void AddControlLocked(int in, int out, bool ends_run, bool is_owned) {
    const uint32_t number = next_control_++;
    controls_.emplace(number, Control{in, out, ends_run, is_owned});
    Watch(in, EPOLLIN, KeyOf(Kind::kControl, number));
  }

  // Returns when there is next something to do.
  std::optional<Instant> PumpAll(Instant now) {
    std::optional<Instant> next;
    for (auto it = connections_.begin(); it != connections_.end();) {
      Connection& connection = *it->second.connection;
      const std::array<CutMode, 2> cuts = network_.CutsOf(*it->second.link);
      connection.Pump(now, cuts);
      const bool is_whole =
          std::find(cuts.begin(), cuts.end(), CutMode::kDrop) != cuts.end() ||
          !connection.has_lost_bytes();
      if (it->second.link->wants_reset || !is_whole) {
        connection.ResetOnClose();
        it = connections_.erase(it);
        continue;
      }
      if (connection.is_over()) {
        it = connections_.erase(it);
        continue;
      }
      const std::optional<Instant> due = connection.NextWork(now, cuts);
      if (due.has_value() && (!next.has_value() || *due < *next)) next = due;
      ++it;
    }
    for (const auto& link : network_.links()) link->wants_reset = false;
    return next;
  }

  void OnEvent(const epoll_event& event) {
    const auto number = static_cast<uint32_t>(event.data.u64);
    switch (static_cast<Kind>(event.data.u64 >> 32)) {
      case Kind::kWake: {
        uint64_t count;
        if (read(wake_fd_, &count, sizeof(count)) < 0) return;
        return;
      }
      case Kind::kLink:
        return AcceptFrom(number);
      case Kind::kControlListener: {
        const int fd = Accept(control_listener_);
        if (fd >= 0) AddControlLocked(fd, fd, false, true);
        return;
      }
      case Kind::kControl:
        return OnControl(number);
      case Kind::kSideZero:
        return OnSide(number, 0, event.events);
      case Kind::kSideOne:
        return OnSide(number, 1, event.events);
    }
  }

  void OnSide(uint32_t number, int side, uint32_t events) {
    const auto it = connections_.find(number);
    if (it == connections_.end()) return;
    // A hang-up or an error shows in the next read or write.
    const bool is_broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    it->second.connection->OnEvent(
        side, is_broken || (events & (EPOLLIN | EPOLLRDHUP)) != 0,
        is_broken || (events & EPOLLOUT) != 0);
  }

  void AcceptFrom(uint32_t index) {
    Link& link = *network_.links()[index];
    const int accepted = Accept(listeners_[index]);
    if (accepted < 0) return;
    const absl::StatusOr<int> target = ConnectTo(link.target);
    if (!target.ok()) {
      close(accepted);
      return;
    }
    const uint32_t number = next_connection_++;
    std::array<DelayLine, 2> lines = {
        DelayLine(link.path[kOut], network_.BucketsOf(link, kOut), random_()),
        DelayLine(link.path[kIn], network_.BucketsOf(link, kIn), random_())};
    connections_.emplace(
        number,
        Relayed{&link,
                std::make_unique<Connection>(
                    std::array<int, 2>{accepted, *target}, std::move(lines),
                    std::array<PathCounters*, 2>{&link.counters[kOut],
                                                 &link.counters[kIn]})});
    const uint32_t all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    Watch(accepted, all, KeyOf(Kind::kSideZero, number));
    Watch(*target, all, KeyOf(Kind::kSideOne, number));
  }

  void OnControl(uint32_t number) {
    const auto it = controls_.find(number);
    if (it == controls_.end()) return;
    Control& control = it->second;
    char buffer[512];
    const ssize_t n = read(control.in, buffer, sizeof(buffer));
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) control.line.append(buffer, static_cast<size_t>(n));
    size_t end;
    while ((end = control.line.find('\n')) != std::string::npos) {
      const std::string command = control.line.substr(0, end);
      control.line.erase(0, end + 1);
      WriteAll(control.out, ExecuteLocked(command) + "\n");
    }
    if (n > 0 && control.line.size() <= kLineBytesMax) return;
    is_stopped_ = is_stopped_ || control.ends_run;
    epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, control.in, nullptr);
    if (control.is_owned) close(control.in);
    controls_.erase(it);
  }

  std::string ExecuteLocked(const std::string& command) {
    const std::vector<std::string> words =
        absl::StrSplit(command, ' ', absl::SkipWhitespace());
    if (words.empty()) {
      return ErrorJson(absl::InvalidArgumentError("an empty command"));
    }
    if (words[0] == "stats") return network_.StatsJson();
    if (words[0] == "addresses") return AddressesJson();
    absl::Status status;
    if (words[0] == "quit") {
      is_stopped_ = true;
    } else {
      status = network_.Execute(words);
    }
    return status.ok() ? R"({"ok":true})" : ErrorJson(status);
  }

  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  int control_listener_ = -1;
  std::vector<int> listeners_;  // by link

  std::mutex mutex_;
  // All below are guarded by mutex_.
  Network network_;
  Random random_;
  bool is_stopped_ = false;
  uint32_t next_connection_ = 0;
  uint32_t next_control_ = 0;
  std::map<uint32_t, Relayed> connections_;
  std::map<uint32_t, Control> controls_;
};

absl::StatusOr<std::unique_ptr<Relay>> Relay::Listen(
    const RelayConfig& config) {
  auto impl = std::make_unique<Impl>(config);
  const absl::Status status = impl->Listen(config);
  if (!status.ok()) return status;
  return std::unique_ptr<Relay>(new Relay(std::move(impl)));
}

Relay::Relay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Relay::~Relay() = default;

std::string Relay::AddressOf(const std::string& link) const {
  return impl_->AddressOf(link);
}

std::string Relay::AddressesJson() const { return impl_->AddressesJson(); }

void Relay::AddControl(int in, int out, bool ends_run) {
  impl_->AddControl(in, out, ends_run, false);
}

absl::Status Relay::ListenForControls(const std::string& path) {
  return impl_->ListenForControls(path);
}

void Relay::Run() { impl_->Run(); }

void Relay::Stop() { impl_->Stop(); }

std::string Relay::Execute(const std::string& command) {
  return impl_->Execute(command);
}

}  // namespace skerry::netem
