#include "tests/sim/isolated.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/sim/run.h"

namespace skerry::sim {
namespace {

Verdict VerdictOf(const Schedule& schedule) {
  const RunResult result = Run(schedule);
  Verdict verdict;
  verdict.seed = schedule.seed;
  verdict.profile = schedule.profile;
  verdict.hash = result.hash;
  verdict.events = result.events;
  verdict.commits = result.commits;
  verdict.faults = schedule.faults.size();
  verdict.took_ms = absl::ToInt64Milliseconds(result.took);
  verdict.resumed_ms = absl::ToInt64Milliseconds(result.resumed_after);
  if (!result.violations.empty()) verdict.violation = result.violations[0];
  return verdict;
}

std::string ToLine(const Verdict& verdict) {
  return absl::StrCat("done ", verdict.seed, " ", verdict.profile, " ",
                      verdict.hash, " ", verdict.events, " ", verdict.commits,
                      " ", verdict.faults, " ", verdict.took_ms, " ",
                      verdict.resumed_ms, " ", absl::CEscape(verdict.violation),
                      "\n");
}

Verdict FromLine(const std::string& line) {
  std::istringstream in(line);
  std::string word, rest;
  Verdict verdict;
  in >> word >> verdict.seed >> verdict.profile >> verdict.hash >>
      verdict.events >> verdict.commits >> verdict.faults >> verdict.took_ms >>
      verdict.resumed_ms;
  std::getline(in, rest);
  if (!rest.empty()) absl::CUnescape(rest.substr(1), &verdict.violation);
  return verdict;
}

void WriteAll(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    SKERRY_CHECK(n > 0);
    done += static_cast<size_t>(n);
  }
}

// Runs every `step`-th schedule from `next` on in a process, and begins another
// behind the schedule that ended one.
class Lane {
 public:
  Lane(uint64_t first, uint64_t step, uint64_t count,
       const std::function<Schedule(uint64_t)>& schedules,
       const std::function<void(const Verdict&)>& take)
      : next_(first),
        step_(step),
        count_(count),
        schedules_(schedules),
        take_(take) {
    Fork();
  }

  bool over() const { return fd_ < 0; }
  int fd() const { return fd_; }

  void Read() {
    char buffer[4096];
    const ssize_t n = read(fd_, buffer, sizeof buffer);
    if (n > 0) {
      text_.append(buffer, static_cast<size_t>(n));
      TakeLines();
      return;
    }
    close(fd_);
    fd_ = -1;
    int status = 0;
    waitpid(child_, &status, 0);
    if (next_ >= count_) return;
    const Schedule schedule = schedules_(next_);
    Verdict verdict;
    verdict.seed = schedule.seed;
    verdict.profile = schedule.profile;
    verdict.faults = schedule.faults.size();
    verdict.violation = absl::StrCat(
        "the process ended: ",
        WIFSIGNALED(status) ? absl::StrCat("signal ", WTERMSIG(status))
                            : absl::StrCat("exit ", WEXITSTATUS(status)),
        "; a broken invariant is named above");
    take_(verdict);
    next_ += step_;
    text_.clear();
    Fork();
  }

 private:
  void Fork() {
    if (next_ >= count_) return;
    int ends[2];
    SKERRY_CHECK(pipe(ends) == 0);
    std::fflush(nullptr);
    child_ = fork();
    SKERRY_CHECK(child_ >= 0);
    if (child_ == 0) {
      close(ends[0]);
      for (uint64_t i = next_; i < count_; i += step_) {
        WriteAll(ends[1], ToLine(VerdictOf(schedules_(i))));
      }
      _exit(0);
    }
    close(ends[1]);
    fd_ = ends[0];
  }

  void TakeLines() {
    for (size_t end; (end = text_.find('\n')) != std::string::npos;) {
      take_(FromLine(text_.substr(0, end)));
      text_.erase(0, end + 1);
      next_ += step_;
    }
  }

  uint64_t next_;
  const uint64_t step_;
  const uint64_t count_;
  const std::function<Schedule(uint64_t)>& schedules_;
  const std::function<void(const Verdict&)>& take_;
  pid_t child_ = -1;
  int fd_ = -1;
  std::string text_;
};

}  // namespace

void RunIsolated(uint64_t count, int processes,
                 const std::function<Schedule(uint64_t)>& schedules,
                 const std::function<void(const Verdict&)>& take) {
  std::vector<Lane> lanes;
  lanes.reserve(static_cast<size_t>(processes));
  for (int i = 0; i < processes; ++i) {
    lanes.emplace_back(static_cast<uint64_t>(i),
                       static_cast<uint64_t>(processes), count, schedules,
                       take);
  }
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Lane*> owners;
    for (Lane& lane : lanes) {
      if (lane.over()) continue;
      waiting.push_back({lane.fd(), POLLIN, 0});
      owners.push_back(&lane);
    }
    if (waiting.empty()) return;
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) owners[i]->Read();
    }
  }
}

Verdict RunIsolated(const Schedule& schedule) {
  Verdict found;
  RunIsolated(
      1, 1, [&schedule](uint64_t) { return schedule; },
      [&found](const Verdict& verdict) { found = verdict; });
  return found;
}

}  // namespace skerry::sim
