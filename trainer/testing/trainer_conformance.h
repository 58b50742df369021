// trainer/testing/trainer_conformance.h
//
// What every Trainer must do. A test of an implementation says
//   INSTANTIATE_TEST_SUITE_P(X, TrainerConformance, ::testing::Values(MakeX));
#ifndef SKERRY_TRAINER_TESTING_TRAINER_CONFORMANCE_H_
#define SKERRY_TRAINER_TESTING_TRAINER_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

// Makes trainers of one job: all alike, with at least 100 samples, a
// validation split, and a model that learns in 20 steps of 16 samples.
using TrainerFactory = std::function<std::unique_ptr<Trainer>()>;

class TrainerConformance : public ::testing::TestWithParam<TrainerFactory> {};

// All live values.
std::vector<float> StateOf(Trainer& trainer);

// Samples [begin, end) in steps of `batch`.
RunRequest Samples(uint64_t begin, uint64_t end, uint64_t batch);

// For calls that nobody stops.
bool NeverStop();

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_TRAINER_CONFORMANCE_H_
