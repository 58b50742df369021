// worker/daemon/codec_speeds.h
//
// Measures how fast this machine encodes and decodes. The codecs of an adaptive
// job are chosen by these speeds.
#ifndef SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_
#define SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "protocol/job_facts.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"

namespace skerry::worker {

// Encodes and decodes 4 MiB of values with every codec on the calling thread.
// These values and what they become do not fit into the cache of one core, just
// as spans of large models do not. More of them would keep a restarted worker
// from other work for a second. Each of three turns goes through all codecs in
// the order of their numbers, and the best turn counts for each codec. The
// measurement ends early when `budget_s` seconds have passed, which is checked
// before each codec. A codec that no turn has reached is left out. `seconds` is
// the clock.
std::vector<protocol::CodecSpeed> MeasureCodecs(
    absl::FunctionRef<double()> seconds, double budget_s);

// Does so on `executor`, for a second at most: a slow machine goes without the
// speeds of what it does not reach. `done` runs on `loop`, unless `owner` is
// gone by then. `loop` outlives the measurement.
void MeasureCodecsOn(
    runtime::Executor& executor, runtime::EventLoop& loop,
    std::weak_ptr<char> owner,
    absl::AnyInvocable<void(std::vector<protocol::CodecSpeed>) &&> done);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_
