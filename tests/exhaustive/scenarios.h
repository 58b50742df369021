// tests/exhaustive/scenarios.h
//
// The models on the coordinator's core, and their bounds.
#ifndef SKERRY_TESTS_EXHAUSTIVE_SCENARIOS_H_
#define SKERRY_TESTS_EXHAUSTIVE_SCENARIOS_H_

#include "tests/exhaustive/scenario.h"

namespace skerry::exhaustive {

// A coordinator's crash at every step, and attempts that run out.
Scenario AttemptsAndCommit();
// A worker dies at any moment and comes back, and so does the coordinator.
Scenario AMemberDies();
// The others go on without it.
Scenario AMemberIsLeftOut();
// A replica of two workers, which hold a span each, beside one of one.
Scenario ReplicasOfTwo();
// One of the two dies, and the life of both ends.
Scenario AReplicaLosesAWorker();
// Two fragments take turns; what one of them has the other gets as well.
Scenario Fragments();
// A worker joins while the others go on and forget; the spans of its base come
// one by one.
Scenario JoinAndRetention();
// The same, while an older Status arrives again.
Scenario LateWords();
// From a checkpoint, or from where the job began.
Scenario RestoreAfterDiskLoss();
// Each trainer begins with other values, and the worker whose values are the
// job's dies.
Scenario BeginningsOfAProgram();
// Two members, two results of one attempt, nobody knows who is right.
Scenario HashTies();
// The two others agree, and the third's life ends.
Scenario OneOfThreeIsWrong();
// They may agree.
Scenario TwoOfThreeAreWrong();
// Frames that do not arrive, and the one that was left out is needed.
Scenario BlameAndForgiveness();
// Frames and results of owners that do not arrive.
Scenario BlameOfThree();

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_SCENARIOS_H_
