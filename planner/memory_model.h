// planner/memory_model.h
//
// Predicts the host memory that a worker needs for the spans that it holds.
// model/exec predicts the trainer's own memory.
#ifndef SKERRY_PLANNER_MEMORY_MODEL_H_
#define SKERRY_PLANNER_MEMORY_MODEL_H_

#include <cstdint>

namespace skerry::planner {

struct WorkerMemoryInputs {
  // Elements of the spans that the worker holds, and of the largest of them.
  uint64_t elements_held = 0;
  uint64_t largest_span_elements = 0;
  // Replicas in an exchange, and the share of the held spans that this replica
  // owns, 1 / members where links are alike.
  uint32_t members = 1;
  double owner_share = 1.0;
  // Encoded bytes an element, from the codecs of contributions and results.
  double contribution_bytes_per_element = 4.0;
  double result_bytes_per_element = 4.0;
  // What the outer method keeps, in bytes an element (optimizer/outer).
  double momentum_bytes = 0.0;
  double round_start_bytes = 0.0;
  // Whether a result may arrive while the round before it is being applied.
  bool delayed = false;
  // Pieces being received or sent at once, of at most `piece_bytes` each.
  uint32_t pieces_in_flight_max = 64;
  uint64_t piece_bytes = uint64_t{1} << 20;
};

struct WorkerMemory {
  double bytes = 0.0;
  // Sum over the buffers that grow with the elements held.
  double bytes_per_element = 0.0;
};

WorkerMemory ModelWorkerMemory(const WorkerMemoryInputs& inputs);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_MEMORY_MODEL_H_
