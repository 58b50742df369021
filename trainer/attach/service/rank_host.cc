#include "trainer/attach/service/rank_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "runtime/log.h"
#include "runtime/posix/thread_name.h"
#include "trainer/attach/convert/lines.h"
#include "trainer/attach/core/line_splitter.h"
#include "trainer/attach/core/one_line.h"

namespace skerry::trainer::attach {
namespace {

// How often a waiting call asks whether it has to stop.
constexpr absl::Duration kAskEvery = absl::Milliseconds(20);
// How often the thread looks at the clock while something is due, and at
// processes whose end the kernel does not tell.
constexpr int kLookEveryMs = 100;
// Reads of what an ended process has said. What another process goes on to
// write is not waited for.
constexpr int kLastReadsMax = 1024;

// A port on which nobody listens now, as text; "0" when there is none.
std::string FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      bind(fd, any, size) == 0 && getsockname(fd, any, &size) == 0;
  close(fd);
  return absl::StrCat(found ? ntohs(address.sin_port) : 0);
}

int SignalOf(Nudge nudge) {
  switch (nudge) {
    case Nudge::kWriteStacks:
      return SIGUSR1;
    case Nudge::kTerminate:
      return SIGTERM;
    case Nudge::kKill:
      return SIGKILL;
  }
  return SIGKILL;
}

std::vector<std::string> EnvironmentOf(const RankHostOptions& options, int rank,
                                       const std::string& port) {
  return {absl::StrCat("SKERRY_PROTOCOL=", kLinesVersion),
          absl::StrCat("SKERRY_JOB=", options.job_json),
          absl::StrCat("RANK=", rank), absl::StrCat("LOCAL_RANK=", rank),
          absl::StrCat("WORLD_SIZE=", options.ranks),
          absl::StrCat("LOCAL_WORLD_SIZE=", options.ranks),
          "MASTER_ADDR=127.0.0.1", absl::StrCat("MASTER_PORT=", port),
          // Or Python would keep lines back until there are many.
          "PYTHONUNBUFFERED=1"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankHost>> RankHost::Start(
    RankHostOptions options, StopRequested stop) {
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<ControlPage> page,
                          ControlPage::Create());
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) return absl::ErrnoToStatus(errno, "cannot make an eventfd");
  std::unique_ptr<RankHost> host(
      new RankHost(std::move(options), std::move(page), wake_fd));
  SKERRY_RETURN_IF_ERROR(host->StartThread());
  runtime::MutexLock lock(host->mutex_);
  while (!host->set_.ready()) {
    if (host->is_done_) return host->set_.failure();
    host->changed_.WaitUntil(host->mutex_, runtime::MonotonicNow() + kAskEvery);
    lock.Unlock();
    if (stop()) return absl::AbortedError("the trainer was told to stop");
    lock.Lock();
  }
  return host;
}

RankHost::RankHost(RankHostOptions options, std::unique_ptr<ControlPage> page,
                   int wake_fd)
    : options_(std::move(options)),
      page_(std::move(page)),
      wake_fd_(wake_fd),
      set_(options_.ranks, options_.now(), options_.times) {}

RankHost::~RankHost() {
  if (thread_.joinable()) {
    runtime::MutexLock lock(mutex_);
    set_.Stop(Now());
    AwaitEnd();
    lock.Unlock();
    thread_.join();
  }
  close(wake_fd_);
}

absl::Status RankHost::StartThread() {
  thread_ = std::thread([this] { Main(); });
  runtime::MutexLock lock(mutex_);
  while (!has_started_) changed_.Wait(mutex_);
  const absl::Status started = started_;
  lock.Unlock();
  if (!started.ok()) thread_.join();
  return started;
}

absl::StatusOr<std::vector<std::string>> RankHost::Call(
    attach::Call call, const google::protobuf::Message& body,
    StopRequested stop, absl::FunctionRef<void(uint64_t steps)> on_steps) {
  runtime::MutexLock lock(mutex_);
  if (!set_.ready()) {
    AwaitEnd();
    return set_.failure().ok()
               ? absl::FailedPreconditionError("the program has ended")
               : set_.failure();
  }
  const uint64_t id = set_.next_id();
  SKERRY_ASSIGN_OR_RETURN(const std::string line, CallLine(call, id, body));
  set_.Begin(call, Now());
  for (const auto& rank : ranks_) rank->Send(line);
  Wake();
  bool stopped = false;
  for (;;) {
    if (is_done_ || !set_.is_over()) {
      if (auto outcome = set_.TakeOutcome()) return *std::move(outcome);
    }
    changed_.WaitUntil(mutex_, runtime::MonotonicNow() + kAskEvery);
    const uint64_t steps = set_.steps();
    lock.Unlock();
    on_steps(steps);
    if (stop() && !std::exchange(stopped, true)) page_->Stop(id);
    lock.Lock();
  }
}

absl::Status RankHost::Refuse(const absl::Status& why) {
  runtime::MutexLock lock(mutex_);
  set_.Refuse(why.message(), Now());
  AwaitEnd();
  return set_.failure();
}

void RankHost::Exit() {
  runtime::MutexLock lock(mutex_);
  if (set_.ready()) {
    const std::string line =
        CallLine(attach::Call::kExit, set_.next_id(), v1::ExitRequest())
            .value();
    set_.Begin(attach::Call::kExit, Now());
    for (const auto& rank : ranks_) rank->Send(line);
  }
  AwaitEnd();
}

uint64_t RankHost::steps() {
  const runtime::MutexLock lock(mutex_);
  return set_.steps();
}

void RankHost::AwaitEnd() {
  Wake();
  while (!is_done_) changed_.Wait(mutex_);
}

void RankHost::Wake() {
  const uint64_t one = 1;
  SKERRY_CHECK(write(wake_fd_, &one, sizeof(one)) == sizeof(one));
}

absl::Status RankHost::StartRanks() {
  const std::string port = FreePort();
  for (int rank = 0; rank < options_.ranks; ++rank) {
    SKERRY_ASSIGN_OR_RETURN(
        std::unique_ptr<RankProcess> process,
        RankProcess::Start({.rank = rank,
                            .argv = options_.argv,
                            .environment = EnvironmentOf(options_, rank, port),
                            .control_fd = page_->fd(),
                            .log_directory = options_.log_directory}));
    runtime::Log(runtime::Severity::kInfo, "attach.rank.start",
                 {{"rank", rank}, {"pid", process->pid()}});
    const runtime::MutexLock lock(mutex_);
    ranks_.push_back(std::move(process));
  }
  return absl::OkStatus();
}

void RankHost::Main() {
  runtime::NameThisThread("skerry-ranks");
  const absl::Status started = StartRanks();
  if (!started.ok()) ranks_.clear();
  {
    const runtime::MutexLock lock(mutex_);
    started_ = started;
    has_started_ = true;
  }
  changed_.NotifyAll();
  if (!started.ok()) return;
  for (;;) {
    runtime::MutexLock lock(mutex_);
    const std::vector<Nudge> nudges = set_.TakeNudges();
    const bool has_deadline = set_.NextDeadline().has_value();
    const bool is_over = set_.is_over();
    lock.Unlock();
    SendNudges(nudges);
    if (is_over) break;
    Turn(has_deadline);
    lock.Lock();
    set_.OnTime(Now());
    lock.Unlock();
    changed_.NotifyAll();
  }
  LogFailure();
  {
    const runtime::MutexLock lock(mutex_);
    is_done_ = true;
  }
  changed_.NotifyAll();
}

// The thread is the only one that changes the set's failure.
void RankHost::LogFailure() {
  runtime::MutexLock lock(mutex_);
  const absl::Status failure = set_.failure();
  const int failed = set_.failed_rank();
  lock.Unlock();
  if (failure.ok()) return;
  // Where all stand still, rank 0 stands for them.
  const RankProcess& rank = *ranks_[static_cast<size_t>(std::max(failed, 0))];
  for (const std::string& line : rank.log().tail()) {
    runtime::Log(runtime::Severity::kWarning, "attach.rank.output",
                 {{"rank", rank.rank()}, {"line", OneLine(line)}});
  }
  runtime::Log(runtime::Severity::kError, "attach.failed",
               {{"reason", std::string(failure.message())}});
}

void RankHost::SendNudges(const std::vector<Nudge>& nudges) {
  for (const Nudge nudge : nudges) {
    for (const auto& rank : ranks_) {
      rank->Signal(SignalOf(nudge), nudge != Nudge::kWriteStacks);
    }
  }
}

void RankHost::Turn(bool has_deadline) {
  std::vector<pollfd> fds = {{wake_fd_, POLLIN, 0}};
  bool must_look = has_deadline;
  {
    const runtime::MutexLock lock(mutex_);
    for (const auto& rank : ranks_) {
      must_look |= rank->pid() >= 0 && rank->end_fd() < 0;
      const short more = rank->has_more_to_send() ? POLLOUT : 0;
      fds.push_back({rank->end_fd(), POLLIN, 0});
      fds.push_back({rank->output(), POLLIN, 0});
      fds.push_back({rank->socket(), static_cast<short>(POLLIN | more), 0});
    }
  }
  if (poll(fds.data(), fds.size(), must_look ? kLookEveryMs : -1) < 0) {
    SKERRY_CHECK(errno == EINTR);
    return;
  }
  uint64_t wakes = 0;
  // It is readable or not; either is fine.
  [[maybe_unused]] const ssize_t n = read(wake_fd_, &wakes, sizeof(wakes));
  // How a process ended says more than what the others then complain of.
  for (const auto& rank : ranks_) Reap(*rank);
  for (size_t i = 0; i < ranks_.size(); ++i) {
    RankProcess& rank = *ranks_[i];
    const pollfd* ready = &fds[1 + 3 * i];
    if (rank.output() >= 0 && ready[1].revents != 0) rank.ReadOutput();
    if (rank.socket() < 0 || ready[2].revents == 0) continue;
    if ((ready[2].revents & POLLOUT) != 0) {
      const runtime::MutexLock lock(mutex_);
      rank.SendMore();
    }
    if ((ready[2].revents & ~POLLOUT) != 0) ReadLines(rank);
  }
}

RankProcess::Heard RankHost::ReadLines(RankProcess& rank) {
  const RankProcess::Heard heard =
      rank.ReadLines([&](std::string_view line) { return OnLine(rank, line); });
  if (heard != RankProcess::Heard::kEnd) return heard;
  const runtime::MutexLock lock(mutex_);
  rank.Disconnect();
  set_.OnClosed(rank.rank(), Now());
  return heard;
}

bool RankHost::OnLine(RankProcess& rank, std::string_view line) {
  absl::StatusOr<RankLine> parsed =
      line.size() < kLineBytesMax
          ? ParseRankLine(line)
          : absl::InvalidArgumentError(
                absl::StrCat("has more than ", kLineBytesMax, " bytes"));
  const runtime::MutexLock lock(mutex_);
  if (parsed.ok()) {
    set_.OnLine(rank.rank(), *std::move(parsed), Now());
    return true;
  }
  set_.OnBroken(
      rank.rank(),
      absl::StrCat("sent a line that ", OneLine(parsed.status().message())),
      Now());
  rank.Disconnect();
  return false;
}

void RankHost::Reap(RankProcess& rank) {
  const std::optional<RankEnd> end = rank.Reap();
  if (!end.has_value()) return;
  runtime::Log(
      runtime::Severity::kInfo, "attach.rank.end",
      {{"rank", rank.rank()}, {"code", end->code}, {"signal", end->signal}});
  // What it has said before it ended.
  for (int reads = 0; rank.socket() >= 0 && reads < kLastReadsMax; ++reads) {
    if (ReadLines(rank) == RankProcess::Heard::kNothing) break;
  }
  const runtime::MutexLock lock(mutex_);
  rank.Disconnect();
  set_.OnEnd(rank.rank(), *end, rank.log().LastLine(), Now());
}

}  // namespace skerry::trainer::attach
