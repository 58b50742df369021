// tests/exhaustive/frame_scenarios.h
//
// The models of one exchange at the workers, and their bounds.
#ifndef SKERRY_TESTS_EXHAUSTIVE_FRAME_SCENARIOS_H_
#define SKERRY_TESTS_EXHAUSTIVE_FRAME_SCENARIOS_H_

#include "tests/exhaustive/frame_model.h"

namespace skerry::exhaustive {

// Two owners, each of a span; a part comes twice.
FrameScenario PartsInAnyOrderAndAgain();
FrameScenario OneHop();
// The next attempt has other owners or fewer members, and frames of the former
// are still on their way.
FrameScenario AttemptsThatReplaceEachOther();
// The same of three members with two owners.
FrameScenario AttemptsOfMany();
// Three members, of which one is late: two have the result, it is committed,
// and the third comes to it by its frames or from the others.
FrameScenario ALateMember();
// A replica of two workers, each with a span of its own.
FrameScenario AReplicaOfTwo();

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_FRAME_SCENARIOS_H_
