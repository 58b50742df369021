#include "coordinator/core/state/round_timers.h"

#include <algorithm>

namespace skerry::coordinator {
namespace {

constexpr double kGraceQuantile = 0.95;
constexpr double kGraceMargin = 1.5;
constexpr absl::Duration kGraceLeast = absl::Milliseconds(20);
// Replicas whose rounds last longer by up to this share take part in every
// exchange, however long a round is.
constexpr double kWaitedShare = 0.5;
// A false exclusion costs a whole attempt, so a deadline is far above the
// slowest exchange that was seen.
constexpr double kDeadlineMargin = 3.0;
constexpr absl::Duration kDeadlineSlack = absl::Milliseconds(250);
constexpr uint32_t kDoublingsMax = 16;
// An exchange that takes longer than the inner steps of so many rounds is not
// worth the wait. One that takes as long leaves trainers a fifth of their time.
constexpr double kRoundsMax = 4.0;
// The same in leases, until a trainer has said how long inner steps take.
constexpr double kLeasesMax = 10.0;

}  // namespace

void RoundTimers::OnReady(Life life, Round round, absl::Duration compute,
                          Instant now) {
  const auto it = seen_.find(life);
  if (it != seen_.end()) {
    if (it->second.round >= round) return;
    // The other fragments of the job had the rounds between.
    const auto rounds =
        static_cast<double>(round.value() - it->second.round.value());
    const absl::Duration took = (now - it->second.at) / rounds;
    rounds_.Observe(took);
    // No trainer's word makes a round longer than it was.
    compute = std::min(compute / rounds, took);
  }
  if (compute > absl::ZeroDuration()) computes_.Observe(compute);
  seen_[life] = {round, now};
  if (first_ready_.has_value()) spreads_.Observe(now - *first_ready_);
}

void RoundTimers::Window(bool any_ready, bool quorum_ready, Instant now) {
  if (any_ready && !first_ready_.has_value()) first_ready_ = now;
  if (quorum_ready && !quorum_ready_.has_value()) quorum_ready_ = now;
  if (!any_ready) first_ready_.reset();
  if (!quorum_ready) quorum_ready_.reset();
}

bool RoundTimers::GraceOver(Instant now) const {
  return quorum_ready_.has_value() && *quorum_ready_ + Grace() <= now;
}

bool RoundTimers::MaxWaitOver(Instant now) const {
  return first_ready_.has_value() && *first_ready_ + MaxWait() <= now;
}

void RoundTimers::OnOpened(uint32_t tries, absl::Duration predicted,
                           Instant now) {
  opened_at_ = now;
  predicted_ = predicted;
  deadline_ = now + AttemptTime(tries);
  troubled_.clear();
}

void RoundTimers::Extend(uint32_t tries, Instant now) {
  deadline_ = now + AttemptTime(tries + 1);
  troubled_.clear();
}

bool RoundTimers::Reconsider(uint32_t tries, absl::Duration predicted,
                             Instant now) {
  // It has come early, because of a member in trouble.
  if (now < deadline_) return false;
  predicted_ = predicted;
  const Instant later = opened_at_ + AttemptTime(tries);
  if (later <= now) return false;
  deadline_ = later;
  return true;
}

void RoundTimers::OnClosed() {
  troubled_.clear();
  first_ready_.reset();
  quorum_ready_.reset();
}

absl::Duration RoundTimers::OnCommitted(Instant now) {
  const absl::Duration took = now - opened_at_;
  exchanges_.Observe(took);
  OnClosed();
  return took;
}

void RoundTimers::Trouble(const absl::btree_set<ReplicaId>& replicas,
                          Instant now) {
  for (auto it = troubled_.begin(); it != troubled_.end();) {
    it = replicas.contains(it->first) ? std::next(it) : troubled_.erase(it);
  }
  for (const ReplicaId replica : replicas) troubled_.emplace(replica, now);
}

Instant RoundTimers::Deadline() const {
  Instant deadline = deadline_;
  for (const auto& [replica, since] : troubled_) {
    deadline = std::min(deadline, since + options_.reconnect_allowance);
  }
  return deadline;
}

void RoundTimers::Collect(bool attempt_open, Earliest& earliest) const {
  if (attempt_open) {
    earliest.Consider(Deadline());
    return;
  }
  if (first_ready_.has_value()) earliest.Consider(*first_ready_ + MaxWait());
  if (quorum_ready_.has_value()) earliest.Consider(*quorum_ready_ + Grace());
}

absl::Duration RoundTimers::Grace() const {
  const auto spread = spreads_.Quantile(kGraceQuantile);
  if (!spread.has_value()) return MaxWait();
  return ClampDuration(kGraceMargin * *spread, kGraceLeast, MaxWait());
}

absl::Duration RoundTimers::MaxWait() const {
  const auto round = rounds_.Quantile(0.5);
  if (!round.has_value()) return options_.lease;
  return ClampDuration(2.0 * *round, kGraceLeast,
                       std::max(options_.lease, kWaitedShare * *round));
}

absl::Duration RoundTimers::LongestAttempt() const {
  // A whole round has the wait for its exchange in it. A bound made of those
  // would grow with every attempt that hangs.
  const auto compute = computes_.Quantile(0.5);
  return std::max(options_.lease, compute.has_value()
                                      ? kRoundsMax * *compute
                                      : kLeasesMax * options_.lease);
}

absl::Duration RoundTimers::AttemptTime(uint32_t tries) const {
  const absl::Duration longest = LongestAttempt();
  const auto slowest = exchanges_.Quantile(1.0);
  absl::Duration time = options_.lease;
  // An exchange whose links need even longer is left without its slowest
  // members after a lease.
  if (predicted_ <= longest) {
    // A link that is slower now than in the exchanges that were seen, or that
    // none of them crossed, would be left out of every one.
    const absl::Duration learned = ClampDuration(
        kDeadlineMargin *
                std::max(slowest.value_or(absl::ZeroDuration()), predicted_) +
            kDeadlineSlack,
        options_.attempt_deadline_min, longest);
    time = slowest.has_value() ? learned : std::max(time, learned);
  }
  const absl::Duration most = std::max(options_.lease, time);
  for (uint32_t i = 1; i < std::min(tries, kDoublingsMax); ++i) time *= 2;
  return std::min(time, most);
}

}  // namespace skerry::coordinator
