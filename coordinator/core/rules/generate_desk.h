// coordinator/core/rules/generate_desk.h
//
// Passes prompts to a worker, and its answers back. None of it is durable:
// after a restart of the coordinator, the client asks again.
#ifndef SKERRY_COORDINATOR_CORE_RULES_GENERATE_DESK_H_
#define SKERRY_COORDINATOR_CORE_RULES_GENERATE_DESK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"

namespace skerry::coordinator {

using protocol::GenerateOrder;
using protocol::JobFacts;

// The answer to a Generate request.
struct GenerateAnswer {
  uint64_t request = 0;
  // Errors: Unavailable when the worker that was asked is gone; Internal with
  // the worker's words; DeadlineExceeded.
  absl::Status status;
  std::string text;
  Sequence sequence;
};

class GenerateDesk {
 public:
  explicit GenerateDesk(size_t requests_max) : requests_max_(requests_max) {}

  // Errors: ResourceExhausted; AlreadyExists when the number is in use.
  absl::Status Ask(JobId job, std::string worker, const GenerateOrder& order,
                   Instant deadline);
  // Answers what the worker reports to have generated.
  void OnFacts(std::string_view worker, const JobFacts& facts);
  void OnWorkerLost(std::string_view worker);
  void Expire(Instant now);
  void Forget(uint64_t request) { asked_.erase(request); }

  std::vector<GenerateOrder> OrdersFor(JobId job,
                                       std::string_view worker) const;
  std::optional<Instant> NextDeadline() const;
  std::vector<GenerateAnswer> TakeAnswers();

 private:
  struct Asked {
    JobId job;
    std::string worker;
    GenerateOrder order;
    Instant deadline;
  };

  const size_t requests_max_;
  absl::btree_map<uint64_t, Asked> asked_;
  std::vector<GenerateAnswer> answers_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_GENERATE_DESK_H_
