// worker/core/compute.h
//
// Runs work in the background and hands its result to the loop.
#ifndef SKERRY_WORKER_CORE_COMPUTE_H_
#define SKERRY_WORKER_CORE_COMPUTE_H_

#include <memory>
#include <optional>
#include <utility>

#include "base/instant.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Runs `work()` through `host`, then `done(now, its result)` on the loop.
template <typename Work, typename Finish>
void Compute(HostPort& host, Work work, Finish done) {
  using Result = decltype(work());
  auto slot = std::make_shared<std::optional<Result>>();
  host.Compute(
      [slot, work = std::move(work)]() mutable { slot->emplace(work()); },
      [slot, done = std::move(done)](Instant now) mutable {
        done(now, std::move(**slot));
      });
}

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_COMPUTE_H_
