#include "simulator/process.h"

#include <cmath>

namespace skerry::sim {
namespace {

// How long a loop takes from one task to the next.
constexpr uint64_t kTaskNanosMax = 20'000;

// What is later than this does not happen.
constexpr absl::Duration kNever = absl::Hours(100'000);

double Nanos(absl::Duration duration) {
  return static_cast<double>(absl::ToInt64Nanoseconds(duration));
}

}  // namespace

Instant Clock::At(Instant moment) const {
  const double passed = Nanos(moment - moment_) * rate_;
  return shown_ + absl::Nanoseconds(static_cast<int64_t>(std::floor(passed)));
}

Instant Clock::When(Instant shown) const {
  if (shown <= shown_) return moment_;
  if (shown - shown_ > kNever) return Instant(absl::InfiniteDuration());
  const double wait = std::ceil(Nanos(shown - shown_) / rate_);
  // Two more make up for the parts of a nanosecond that were cut off.
  return moment_ + absl::Nanoseconds(static_cast<int64_t>(wait) + 2);
}

void Clock::SetRate(Instant moment, double rate) {
  shown_ = At(moment);
  moment_ = moment;
  rate_ = rate;
}

void Clock::Leap(Instant moment, absl::Duration ahead) {
  SetRate(moment, rate_);
  shown_ = shown_ + ahead;
}

Process::Process(Timeline& timeline, Random& random, const Clock& clock,
                 absl::AnyInvocable<void()> after_task)
    : timeline_(timeline),
      random_(random),
      clock_(clock),
      after_task_(std::move(after_task)) {}

void Process::Post(runtime::Task task) {
  ready_.push_back(std::move(task));
  Wake();
}

void Process::RunAt(Instant when, runtime::Task task) {
  timers_.emplace(std::pair(when, ++timers_made_), std::move(task));
  Arm();
}

void Process::Resume() {
  paused_ = false;
  FireTimers();
  if (!ready_.empty()) Wake();
}

void Process::ClockChanged() {
  armed_for_ = Instant(absl::InfiniteDuration());
  Arm();
}

void Process::Wake() {
  if (waking_ || paused_) return;
  waking_ = true;
  timeline_.After(absl::Nanoseconds(random_.Below(kTaskNanosMax)),
                  [this, alive = alive()] {
                    if (alive.expired()) return;
                    waking_ = false;
                    RunOne();
                  });
}

void Process::RunOne() {
  if (paused_ || ready_.empty()) return;
  runtime::Task task = std::move(ready_.front());
  ready_.pop_front();
  std::move(task)();
  after_task_();
  if (!ready_.empty()) Wake();
}

void Process::Arm() {
  if (timers_.empty()) return;
  const Instant when = clock_.When(timers_.begin()->first.first);
  if (armed_for_ <= when) return;
  armed_for_ = when;
  timeline_.At(when, [this, alive = alive(), own = ++armed_] {
    if (!alive.expired() && own == armed_) FireTimers();
  });
}

void Process::FireTimers() {
  armed_for_ = Instant(absl::InfiniteDuration());
  const Instant now = Now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto timer = timers_.extract(timers_.begin());
    Post(std::move(timer.mapped()));
  }
  Arm();
}

}  // namespace skerry::sim
