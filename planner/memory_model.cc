#include "planner/memory_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace skerry::planner {
namespace {

constexpr double kF32 = 4.0;

}  // namespace

WorkerMemory ModelWorkerMemory(const WorkerMemoryInputs& inputs) {
  WorkerMemory memory;
  const auto elements = static_cast<double>(inputs.elements_held);
  const auto per_element = [&](std::string name, double bytes,
                               std::string reason) {
    if (bytes == 0.0) return;
    memory.bytes_per_element += bytes;
    memory.bytes += bytes * elements;
    memory.buffers.push_back(
        {std::move(name), bytes, bytes * elements, std::move(reason)});
  };
  const auto fixed = [&](std::string name, double bytes, std::string reason) {
    memory.bytes += bytes;
    memory.buffers.push_back({std::move(name), 0.0, bytes, std::move(reason)});
  };

  per_element("anchor", kF32, "what the replicas agree on");
  per_element("live", kF32, "shared with the trainers: snapshot out, merge in");
  per_element("owed", kF32, "produced and not yet received by the model");
  per_element("momentum", inputs.momentum_bytes, "of the outer method");
  per_element("round start", inputs.round_start_bytes,
              "of merge rules that keep local progress");
  if (inputs.members > 1) {
    const double others = 1.0 - inputs.owner_share;
    per_element("sent frames", others * inputs.contribution_bytes_per_element,
                "spans owned by others, kept until the outcome is known");
    per_element("result in flight", inputs.result_bytes_per_element,
                "encoded, from its first piece until it is applied");
    per_element("result waiting",
                inputs.delayed ? inputs.result_bytes_per_element : 0.0,
                "stored for the next boundary while another one arrives");
    per_element("owner sums", inputs.owner_share * kF32,
                "fp32 sums of owned spans, then their error until the outcome");
    per_element("received frames",
                inputs.owner_share * (inputs.members - 1) *
                    inputs.contribution_bytes_per_element,
                "contributions to owned spans, until they are summed in member "
                "order");
    fixed("decoded span",
          kF32 * static_cast<double>(inputs.largest_span_elements),
          "scratch for a mean or a decoded result");
  }
  fixed("pieces",
        static_cast<double>(inputs.pieces_in_flight_max) *
            static_cast<double>(inputs.piece_bytes),
        "bulk frames between socket and span, at most this many");
  return memory;
}

absl::Status CheckFits(const WorkerMemory& memory, double available_bytes) {
  if (memory.bytes <= available_bytes) return absl::OkStatus();
  double fixed = 0.0;
  for (const Buffer& buffer : memory.buffers) {
    if (buffer.bytes_per_element == 0.0) fixed += buffer.bytes;
  }
  const double room = available_bytes - fixed;
  const std::string cure =
      room > 0.0
          ? absl::StrFormat(
                "spread the replica over %d times as many workers of this size",
                static_cast<int64_t>(std::ceil((memory.bytes - fixed) / room)))
          : std::string("no number of workers of this size is enough");
  return absl::ResourceExhaustedError(absl::StrFormat(
      "outer state needs %.4g GB of host memory where %.4g GB are available; "
      "%s, or choose a smaller codec.\n%s",
      memory.bytes / 1e9, available_bytes / 1e9, cure,
      DescribeWorkerMemory(memory)));
}

std::string DescribeWorkerMemory(const WorkerMemory& memory) {
  std::vector<Buffer> sorted = memory.buffers;
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  std::string text;
  for (const Buffer& buffer : sorted) {
    absl::StrAppendFormat(&text, "%-16s %6.3f B/element %10.3f MB  %s\n",
                          buffer.name, buffer.bytes_per_element,
                          buffer.bytes / 1e6, buffer.reason);
  }
  absl::StrAppendFormat(&text, "%-16s %6.3f B/element %10.3f MB\n", "total",
                        memory.bytes_per_element, memory.bytes / 1e6);
  return text;
}

}  // namespace skerry::planner
