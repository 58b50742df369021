// worker/daemon/seat_answers.h
//
// Passes answers from the outside world to a seat: on its loop, with the
// current time, and only while the seat is there. After each answer it looks at
// the seat's timer.
#ifndef SKERRY_WORKER_DAEMON_SEAT_ANSWERS_H_
#define SKERRY_WORKER_DAEMON_SEAT_ANSWERS_H_

#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "runtime/event_loop.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Shared by the ports of one seat and destroyed with them, on the loop.
class SeatAnswers {
 public:
  // `after` runs when the seat has been given an answer.
  SeatAnswers(runtime::EventLoop& loop, absl::AnyInvocable<void()> after)
      : state_(std::make_shared<State>(loop, std::move(after))) {}

  runtime::EventLoop& loop() const { return state_->loop; }

  // To be called once, on the loop, with the answer; may outlive the seat.
  template <typename T>
  auto Wrap(Done<T> done) const {
    return [weak = std::weak_ptr<State>(state_),
            done = std::move(done)](T result) mutable {
      const std::shared_ptr<State> state = weak.lock();
      if (state == nullptr) return;
      std::move(done)(state->loop.Now(), std::move(result));
      state->after();
    };
  }

 private:
  struct State {
    State(runtime::EventLoop& event_loop, absl::AnyInvocable<void()> then)
        : loop(event_loop), after(std::move(then)) {}
    runtime::EventLoop& loop;
    absl::AnyInvocable<void()> after;
  };

  std::shared_ptr<State> state_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_SEAT_ANSWERS_H_
