// worker/core/testing/world_cases.h
//
// Makes worlds that several tests start from, and checks the end that all of
// them expect.
#ifndef SKERRY_WORKER_CORE_TESTING_WORLD_CASES_H_
#define SKERRY_WORKER_CORE_TESTING_WORLD_CASES_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "worker/core/testing/world.h"

namespace skerry::worker {

using Spans = std::vector<std::pair<uint32_t, uint32_t>>;

inline const Spans kAll = {{0, 3}};
inline const Spans kHalves = {{0, 1}, {1, 3}};

inline WorldOptions Options(std::vector<Spans> replicas, const char* method,
                            compression::CodecId codec, uint64_t seed = 1) {
  WorldOptions options;
  options.seed = seed;
  options.replicas = std::move(replicas);
  options.settings.outer = *optimizer::OuterPreset(method);
  options.settings.beta = codec == compression::CodecId::kRawF32 ? 0.0 : 1.0;
  options.settings.codec = codec;
  options.settings.samples = 100000;
  options.settings.batch_samples = 2;
  options.settings.tau = 3;
  options.settings.spans = 3;
  return options;
}

inline std::string Failures(const World& world) {
  return absl::StrJoin(world.failures(), "\n");
}

inline Audit Total(World& world, uint32_t workers, uint32_t fragment = 0) {
  Audit total;
  for (uint32_t i = 0; i < workers; ++i) {
    const Audit one = world.seat(i)->GetAudit(fragment);
    total.produced += one.produced;
    total.taken += one.taken;
    total.lost += one.lost;
    total.owed += one.owed;
  }
  return total;
}

// Every commit is in; what was produced is in the model, owed or lost.
inline void ExpectConserved(World& world, uint32_t workers) {
  world.PauseOpening(true);
  world.Settle();
  for (uint32_t f = 0; f < world.fragments(); ++f) {
    const Audit total = Total(world, workers, f);
    const double scale = 1 + std::abs(total.produced);
    EXPECT_NEAR(total.taken / scale, world.decoded_into_model(f) / scale, 1e-4);
    EXPECT_NEAR(
        (total.produced - total.taken - total.lost - total.owed) / scale, 0,
        1e-5);
  }
}

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TESTING_WORLD_CASES_H_
