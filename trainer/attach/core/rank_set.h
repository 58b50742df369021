// trainer/attach/core/rank_set.h
//
// Decides what follows from what the ranks of a training program say and do: a
// call is complete when all have answered, one rank that fails ends all, and
// ranks that stand still are ended. Time is an argument, and signals are
// returned to the caller, who sends them.
#ifndef SKERRY_TRAINER_ATTACH_CORE_RANK_SET_H_
#define SKERRY_TRAINER_ATTACH_CORE_RANK_SET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "trainer/attach/core/rank_line.h"

namespace skerry::trainer::attach {

struct RankTimes {
  // A Run may be without a step for the larger one of `step_least` and
  // `slowest_steps` times the slowest step so far. The first step of a process
  // does not count: compilers work in it.
  absl::Duration step_least = absl::Seconds(60);
  int slowest_steps = 20;
  // For everything else: the start, a Run before the first step, another call.
  absl::Duration unknown = absl::Minutes(10);
  // From the signal that writes stacks to the one that ends.
  absl::Duration stacks = absl::Seconds(1);
  // A rank that has said why it fails may end by itself for so long.
  absl::Duration last_words = absl::Seconds(1);
  // From Exit to the end of the program's last lines.
  absl::Duration exit = absl::Seconds(10);
  // From SIGTERM to SIGKILL.
  absl::Duration terminate = absl::Milliseconds(500);
  // From SIGKILL to the moment when a process that the kernel cannot end is
  // given up.
  absl::Duration kill = absl::Seconds(10);
};

// How a process ended: by a signal when that is not 0.
struct RankEnd {
  int code = 0;
  int signal = 0;
};

// What the caller has to send to every rank that has not ended.
enum class Nudge { kWriteStacks, kTerminate, kKill };

class RankSet {
 public:
  // `now` is when the ranks were started.
  RankSet(int ranks, Instant now, const RankTimes& times = {});

  // Whether every rank has said hello, and nothing has failed.
  bool ready() const;
  // Why the ranks are of no use any more, one line; OK while there is no
  // reason. Internal. It is the first reason, unless one of another rank that
  // comes before all are ended tells more.
  const absl::Status& failure() const { return failure_; }
  // The rank that `failure` is about; -1 when it is about all.
  int failed_rank() const { return failed_rank_; }
  // Whether every rank has ended, or is given up.
  bool is_over() const { return phase_ == Phase::kOver; }
  // Inner steps since the ranks started, by the rank that noted most.
  uint64_t steps() const { return steps_; }

  // The id of the next call.
  uint64_t next_id() const { return calls_ + 1; }
  // Opens a call, which goes to all ranks with next_id(). Requires: ready(),
  // and the call before has its outcome. Exit begins the end of the ranks; its
  // answers are not waited for.
  void Begin(Call call, Instant now);
  // The outcome of the open call, once: the ranks' bodies in order when all
  // answered with OK. Otherwise the first rank's error that is not Aborted, or
  // Aborted when there is no other. Internal: the ranks have failed, and have
  // ended. Nothing while it is not known.
  std::optional<absl::StatusOr<std::vector<std::string>>> TakeOutcome();

  // What a rank has said. A line that does not belong there ends all ranks.
  void OnLine(int rank, RankLine line, Instant now);
  // A rank has said what is no line; `why` follows "rank R ".
  void OnBroken(int rank, absl::string_view why, Instant now);
  // A rank's connection has ended. Its process ends too, or is ended.
  void OnClosed(int rank, Instant now);
  // A rank's process has ended. `last_line` is what it printed last.
  void OnEnd(int rank, RankEnd end, absl::string_view last_line, Instant now);
  // What the ranks have answered does not fit together, for `reason`.
  void Refuse(absl::string_view reason, Instant now);
  // The caller wants no more of the ranks, and has no call open.
  void Stop(Instant now);

  // Does what is due. Called whenever NextDeadline() has come.
  void OnTime(Instant now);
  std::optional<Instant> NextDeadline() const;

  // The nudges since the last call, in order.
  std::vector<Nudge> TakeNudges();

 private:
  enum class Phase {
    kStarting,  // until every rank has said hello
    kLive,
    kLastWords,  // a rank has said that it fails, or has closed its
                 // connection, and may end by itself
    kStacks,     // the ranks write where they stand
    kExiting,    // they end by themselves after Exit
    kTerminating,
    kKilling,
    kOver,
  };
  struct Rank {
    bool has_greeted = false;
    bool has_ended = false;
    uint64_t steps = 0;
    std::optional<Answer> answer;  // to the open call
  };

  void OnHello(int rank, const Hello& hello, Instant now);
  void OnAnswer(int rank, Answer answer, Instant now);
  void OnStep(int rank, uint64_t steps, Instant now);
  void OnFailed(int rank, absl::string_view error, Instant now);
  // How much a reason tells of what went wrong first. Ranks that compute with
  // one that fails then fail as well, and may be heard of before it.
  enum class Tells { kEnd, kWords, kKilled };
  // Whether a reason of `rank` takes the place of another rank's.
  bool TellsMore(int rank, Tells tells) const;
  void Replace(int rank, std::string reason, Tells tells);
  // Keeps the first reason, and goes on to `next`.
  void Fail(int rank, std::string reason, Phase next, Instant now);
  void GoTo(Phase phase, Instant now);
  // How long the open call may be without a sign.
  absl::Duration Patience() const;
  std::string StandstillText(absl::Duration waited) const;
  bool HaveAllAnswered() const;

  const RankTimes times_;
  std::vector<Rank> ranks_;
  Phase phase_ = Phase::kStarting;
  // When the phase ends by itself; that of kStarting and kLive is Patience()
  // after `sign_`.
  Instant phase_end_;
  absl::Status failure_;
  int failed_rank_ = -1;
  Tells tells_ = Tells::kEnd;
  // The reason is only that its connection has ended.
  bool is_closed_ = false;

  uint64_t calls_ = 0;        // the id of the newest call
  std::optional<Call> open_;  // without an outcome
  // When the start, the call or the last step of it was.
  Instant sign_;
  uint64_t steps_ = 0;
  absl::Duration slowest_step_ = absl::ZeroDuration();
  std::vector<Nudge> nudges_;
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_RANK_SET_H_
