#include "planner/memory_model.h"

#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

// A delayed method without momentum over fp32 links between four replicas.
WorkerMemoryInputs DelayedFourReplicas() {
  return {.elements_held = 1'000'000,
          .largest_span_elements = 16'384,
          .members = 4,
          .owner_share = 0.25,
          .contribution_bytes_per_element = 4.0,
          .result_bytes_per_element = 4.0,
          .delayed = true,
          .pieces_in_flight_max = 2};
}

TEST(MemoryModelTest, BuffersAddUpByHand) {
  const WorkerMemory memory = ModelWorkerMemory(DelayedFourReplicas());
  // anchor, the next one, live, owed 16; sent .75 * 4; results 4 + 4; sums 1;
  // received 3.
  EXPECT_DOUBLE_EQ(memory.bytes_per_element, 16 + 3 + 8 + 1 + 3);
  EXPECT_DOUBLE_EQ(memory.bytes, 31e6 + 4 * 16'384 + 2 * (1 << 20));
}

TEST(MemoryModelTest, BlockInt8OnTheLinksSavesTenBytes) {
  WorkerMemoryInputs inputs = DelayedFourReplicas();
  inputs.contribution_bytes_per_element = 1.015625;
  inputs.result_bytes_per_element = 1.015625;
  const double without_momentum = ModelWorkerMemory(inputs).bytes_per_element;
  EXPECT_NEAR(without_momentum, 20.55, 0.01);
  // The anchor and the next one have momentum.
  inputs.momentum_bytes = 4.0;
  EXPECT_NEAR(ModelWorkerMemory(inputs).bytes_per_element,
              without_momentum + 8.0, 1e-9);
}

TEST(MemoryModelTest, ALoneReplicaNeedsNoExchangeBuffers) {
  WorkerMemoryInputs inputs = DelayedFourReplicas();
  inputs.members = 1;
  EXPECT_DOUBLE_EQ(ModelWorkerMemory(inputs).bytes_per_element, 16.0);
  inputs.delayed = false;
  EXPECT_DOUBLE_EQ(ModelWorkerMemory(inputs).bytes_per_element, 12.0);
}

}  // namespace
}  // namespace skerry::planner
