#include "planner/memory_model.h"

#include <cstdint>

namespace skerry::planner {
namespace {

constexpr double kF32 = 4.0;

// Bytes an element of what a worker keeps for the exchanges with other
// replicas.
double ExchangeBytesPerElement(const WorkerMemoryInputs& inputs) {
  const double others = 1.0 - inputs.owner_share;
  // Frames to owners of other spans, kept until the outcome is known.
  double bytes = others * inputs.contribution_bytes_per_element;
  // An encoded result, from its first piece until it is applied.
  bytes += inputs.result_bytes_per_element;
  // A result that is stored for the next boundary while another one arrives.
  if (inputs.delayed) bytes += inputs.result_bytes_per_element;
  // fp32 sums of owned spans, then their error until the outcome.
  bytes += inputs.owner_share * kF32;
  // Contributions to owned spans, until they are summed in member order.
  bytes += inputs.owner_share * (inputs.members - 1) *
           inputs.contribution_bytes_per_element;
  return bytes;
}

}  // namespace

WorkerMemory ModelWorkerMemory(const WorkerMemoryInputs& inputs) {
  // The anchor; live values, which trainers share; what is owed, which was
  // produced and has not reached the model yet.
  double per_element = 3 * kF32;
  per_element += inputs.momentum_bytes + inputs.round_start_bytes;
  // Bulk frames between a socket and a span.
  double fixed = static_cast<double>(inputs.pieces_in_flight_max) *
                 static_cast<double>(inputs.piece_bytes);
  // The state that a committed result makes, until the next boundary.
  if (inputs.delayed) per_element += kF32 + inputs.momentum_bytes;
  if (inputs.members > 1) {
    per_element += ExchangeBytesPerElement(inputs);
    // Scratch for a mean or a decoded result.
    fixed += kF32 * static_cast<double>(inputs.largest_span_elements);
  }
  return {
      .bytes = fixed + per_element * static_cast<double>(inputs.elements_held),
      .bytes_per_element = per_element};
}

}  // namespace skerry::planner
