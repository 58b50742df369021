// bench/micro/fake_rounds.h
//
// Moves fake workers through whole exchanges, as their trainers and their peers
// would.
#ifndef SKERRY_BENCH_MICRO_FAKE_ROUNDS_H_
#define SKERRY_BENCH_MICRO_FAKE_ROUNDS_H_

#include "coordinator/core/testing/fake_worker.h"

namespace skerry::bench {

// Applies what is committed, and reports the result of the open exchange, at
// once. Returns whether the worker has something new to say.
bool FollowOrders(coordinator::FakeWorker& worker);

// Offers a round of each job whose last one is decided, at once. Returns
// whether there was one.
bool TrainRound(coordinator::FakeWorker& worker);

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_FAKE_ROUNDS_H_
