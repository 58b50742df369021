#include "trainer/attach/core/rank_set.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer/attach/core/one_line.h"

namespace skerry::trainer::attach {
namespace {

constexpr int kSigkill = 9;

// Whether a rank that answers so goes on. After everything else the trainer has
// to be started anew (proto/skerry/v1/trainer.proto).
bool GoesOnAfter(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

std::string EndText(int rank, const RankEnd& end) {
  if (end.signal == kSigkill) {
    return absl::StrCat("rank ", rank, " was killed (signal 9)");
  }
  if (end.signal != 0) {
    return absl::StrCat("rank ", rank, " was ended by signal ", end.signal);
  }
  return absl::StrCat("rank ", rank, " ended with code ", end.code);
}

std::string LogName(int rank) { return absl::StrCat("rank-", rank, ".log"); }

std::string WordsText(int rank, absl::string_view error) {
  std::string said = OneLine(error);
  if (said.empty()) said = absl::StrCat("rank ", rank, " failed");
  return absl::StrCat(said, "; see ", LogName(rank));
}

// What a rank says of its own failure; nothing in another line.
std::optional<std::string> LastWordsIn(const RankLine& line) {
  if (const auto* failed = std::get_if<FailedNote>(&line)) return failed->error;
  const auto* answer = std::get_if<Answer>(&line);
  if (answer == nullptr || GoesOnAfter(answer->status.code())) {
    return std::nullopt;
  }
  return std::string(answer->status.message());
}

}  // namespace

RankSet::RankSet(int ranks, Instant now, const RankTimes& times)
    : times_(times), ranks_(static_cast<size_t>(ranks)), sign_(now) {
  SKERRY_CHECK(ranks > 0);
}

bool RankSet::ready() const { return phase_ == Phase::kLive; }

void RankSet::Begin(Call call, Instant now) {
  SKERRY_CHECK(ready() && !open_.has_value());
  ++calls_;
  if (call == Call::kExit) {
    GoTo(Phase::kExiting, now);
    return;
  }
  open_ = call;
  sign_ = now;
  for (Rank& rank : ranks_) rank.answer.reset();
}

std::optional<absl::StatusOr<std::vector<std::string>>> RankSet::TakeOutcome() {
  if (!open_.has_value()) return std::nullopt;
  if (is_over()) {
    open_.reset();
    return failure_;
  }
  if (!ready() || !HaveAllAnswered()) return std::nullopt;
  open_.reset();
  absl::Status aborted;
  std::vector<std::string> bodies;
  for (Rank& rank : ranks_) {
    const absl::Status& status = rank.answer->status;
    if (absl::IsAborted(status)) {
      aborted.Update(status);
    } else if (!status.ok()) {
      return status;
    }
    bodies.push_back(std::move(rank.answer->body));
  }
  if (!aborted.ok()) return aborted;
  return bodies;
}

bool RankSet::HaveAllAnswered() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.answer.has_value(); });
}

void RankSet::OnLine(int rank, RankLine line, Instant now) {
  if (TellsMore(rank, Tells::kWords)) {
    const std::optional<std::string> words = LastWordsIn(line);
    if (words.has_value()) {
      Replace(rank, WordsText(rank, *words), Tells::kWords);
    }
    return;
  }
  if (phase_ != Phase::kStarting && phase_ != Phase::kLive) return;
  if (const auto* hello = std::get_if<Hello>(&line)) {
    return OnHello(rank, *hello, now);
  }
  if (!ranks_[static_cast<size_t>(rank)].has_greeted) {
    return OnBroken(rank, "did not say hello in its first line", now);
  }
  if (auto* answer = std::get_if<Answer>(&line)) {
    OnAnswer(rank, std::move(*answer), now);
  } else if (const auto* step = std::get_if<StepNote>(&line)) {
    OnStep(rank, step->steps, now);
  } else if (const auto* failed = std::get_if<FailedNote>(&line)) {
    OnFailed(rank, failed->error, now);
  }
}

void RankSet::OnHello(int rank, const Hello& hello, Instant now) {
  Rank& self = ranks_[static_cast<size_t>(rank)];
  if (self.has_greeted) return OnBroken(rank, "said hello twice", now);
  if (hello.version != kLinesVersion) {
    return Fail(rank,
                absl::StrCat("rank ", rank, " speaks version ", hello.version,
                             " of the lines (", OneLine(hello.package),
                             "), skerry-attach speaks ", kLinesVersion,
                             "; install a package of this release"),
                Phase::kTerminating, now);
  }
  self.has_greeted = true;
  if (std::all_of(ranks_.begin(), ranks_.end(),
                  [](const Rank& one) { return one.has_greeted; })) {
    GoTo(Phase::kLive, now);
  }
}

void RankSet::OnAnswer(int rank, Answer answer, Instant now) {
  Rank& self = ranks_[static_cast<size_t>(rank)];
  if (!open_.has_value() || answer.id != calls_ || self.answer.has_value()) {
    return OnBroken(
        rank,
        absl::StrCat("answered the call ", answer.id, ", which is not open"),
        now);
  }
  if (!GoesOnAfter(answer.status.code())) {
    const std::string error(answer.status.message());
    return OnFailed(rank, error, now);
  }
  answer.status =
      absl::Status(answer.status.code(), OneLine(answer.status.message()));
  self.answer = std::move(answer);
}

void RankSet::OnStep(int rank, uint64_t steps, Instant now) {
  Rank& self = ranks_[static_cast<size_t>(rank)];
  self.steps = std::max(self.steps, steps);
  if (self.steps <= steps_) return;
  const uint64_t more = self.steps - steps_;
  if (steps_ > 0 && open_ == Call::kRun) {
    slowest_step_ =
        std::max(slowest_step_, (now - sign_) / static_cast<double>(more));
  }
  steps_ = self.steps;
  sign_ = now;
}

void RankSet::OnFailed(int rank, absl::string_view error, Instant now) {
  Fail(rank, WordsText(rank, error), Phase::kLastWords, now);
  tells_ = Tells::kWords;
}

bool RankSet::TellsMore(int rank, Tells tells) const {
  return (phase_ == Phase::kLastWords || phase_ == Phase::kTerminating) &&
         failed_rank_ >= 0 && failed_rank_ != rank && tells > tells_;
}

void RankSet::Replace(int rank, std::string reason, Tells tells) {
  failure_ = absl::InternalError(reason);
  failed_rank_ = rank;
  tells_ = tells;
  is_closed_ = false;
}

void RankSet::OnBroken(int rank, absl::string_view why, Instant now) {
  Fail(rank, absl::StrCat("rank ", rank, " ", why, "; see ", LogName(rank)),
       Phase::kTerminating, now);
}

void RankSet::OnClosed(int rank, Instant now) {
  if (phase_ != Phase::kStarting && phase_ != Phase::kLive) return;
  is_closed_ = true;
  Fail(rank,
       absl::StrCat("rank ", rank, " closed its connection; see ",
                    LogName(rank)),
       Phase::kLastWords, now);
}

void RankSet::OnEnd(int rank, RankEnd end, absl::string_view last_line,
                    Instant now) {
  Rank& self = ranks_[static_cast<size_t>(rank)];
  self.has_ended = true;
  if (is_closed_ && rank == failed_rank_ && phase_ == Phase::kLastWords) {
    // How it ended says more.
    failure_ = absl::OkStatus();
    is_closed_ = false;
    phase_ = Phase::kLive;
  }
  if (end.signal == kSigkill && TellsMore(rank, Tells::kKilled)) {
    Replace(rank, absl::StrCat(EndText(rank, end), "; see ", LogName(rank)),
            Tells::kKilled);
    if (phase_ == Phase::kLastWords) GoTo(Phase::kTerminating, now);
  }
  if (phase_ == Phase::kStarting || phase_ == Phase::kLive) {
    const std::string line = OneLine(last_line);
    Fail(rank,
         absl::StrCat(EndText(rank, end), line.empty() ? "" : ": ", line,
                      "; see ", LogName(rank)),
         Phase::kTerminating, now);
  } else if (phase_ == Phase::kLastWords && rank == failed_rank_) {
    GoTo(Phase::kTerminating, now);
  }
  if (std::all_of(ranks_.begin(), ranks_.end(),
                  [](const Rank& one) { return one.has_ended; })) {
    GoTo(Phase::kOver, now);
  }
}

void RankSet::Refuse(absl::string_view reason, Instant now) {
  if (ready()) Fail(-1, std::string(reason), Phase::kTerminating, now);
}

void RankSet::Stop(Instant now) {
  if (phase_ == Phase::kTerminating || phase_ == Phase::kKilling || is_over()) {
    return;
  }
  SKERRY_CHECK(!open_.has_value());
  GoTo(Phase::kTerminating, now);
}

void RankSet::Fail(int rank, std::string reason, Phase next, Instant now) {
  if (failure_.ok()) {
    failure_ = absl::InternalError(reason);
    failed_rank_ = rank;
    tells_ = Tells::kEnd;
  }
  GoTo(next, now);
}

void RankSet::GoTo(Phase phase, Instant now) {
  phase_ = phase;
  switch (phase) {
    case Phase::kLastWords:
      phase_end_ = now + times_.last_words;
      break;
    case Phase::kStacks:
      nudges_.push_back(Nudge::kWriteStacks);
      phase_end_ = now + times_.stacks;
      break;
    case Phase::kExiting:
      phase_end_ = now + times_.exit;
      break;
    case Phase::kTerminating:
      nudges_.push_back(Nudge::kTerminate);
      phase_end_ = now + times_.terminate;
      break;
    case Phase::kKilling:
      nudges_.push_back(Nudge::kKill);
      phase_end_ = now + times_.kill;
      break;
    case Phase::kStarting:
    case Phase::kLive:
    case Phase::kOver:
      break;
  }
}

absl::Duration RankSet::Patience() const {
  if (open_ != Call::kRun || steps_ == 0) return times_.unknown;
  return std::max(times_.step_least, slowest_step_ * times_.slowest_steps);
}

std::string RankSet::StandstillText(absl::Duration waited) const {
  const std::string how_long =
      absl::StrCat(" for ", absl::ToInt64Seconds(waited), " s; see ");
  if (phase_ == Phase::kStarting) {
    return absl::StrCat("no hello", how_long, LogName(0));
  }
  return absl::StrCat(open_ == Call::kRun
                          ? "no step"
                          : absl::StrCat("no answer to ", NameOf(*open_)),
                      how_long, LogName(0), " for where each thread stood");
}

std::optional<Instant> RankSet::NextDeadline() const {
  switch (phase_) {
    case Phase::kLive:
      if (!open_.has_value()) return std::nullopt;
      [[fallthrough]];
    case Phase::kStarting:
      return sign_ + Patience();
    case Phase::kOver:
      return std::nullopt;
    default:
      return phase_end_;
  }
}

void RankSet::OnTime(Instant now) {
  const std::optional<Instant> deadline = NextDeadline();
  if (!deadline.has_value() || now < *deadline) return;
  switch (phase_) {
    case Phase::kStarting:
    case Phase::kLive:
      return Fail(-1, StandstillText(now - sign_), Phase::kStacks, now);
    case Phase::kLastWords:
    case Phase::kStacks:
    case Phase::kExiting:
      return GoTo(Phase::kTerminating, now);
    case Phase::kTerminating:
      return GoTo(Phase::kKilling, now);
    case Phase::kKilling:
    case Phase::kOver:
      return GoTo(Phase::kOver, now);
  }
}

std::vector<Nudge> RankSet::TakeNudges() { return std::exchange(nudges_, {}); }

}  // namespace skerry::trainer::attach
