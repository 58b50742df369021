#include "coordinator/core/rules/generate_desk.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {

absl::Status GenerateDesk::Ask(JobId job, std::string worker,
                               const GenerateOrder& order, Instant deadline) {
  if (asked_.size() >= requests_max_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(asked_.size(), " prompts are waiting; try again later"));
  }
  const bool fresh =
      asked_
          .try_emplace(order.request,
                       Asked{job, std::move(worker), order, deadline})
          .second;
  if (fresh) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("request ", order.request, " is in use"));
}

void GenerateDesk::OnFacts(std::string_view worker, const JobFacts& facts) {
  for (const protocol::GeneratedFact& fact : facts.generated) {
    const auto it = asked_.find(fact.request);
    if (it == asked_.end() || it->second.worker != worker ||
        it->second.job != facts.job) {
      continue;
    }
    GenerateAnswer answer{fact.request, absl::OkStatus(), fact.text, {}};
    if (!fact.error.empty()) answer.status = absl::InternalError(fact.error);
    uint64_t state = 0;
    for (const protocol::FragmentFacts& fragment : facts.fragments) {
      state += fragment.applied.value();
    }
    answer.sequence = Sequence(state);
    answers_.push_back(std::move(answer));
    asked_.erase(it);
  }
}

void GenerateDesk::OnWorkerLost(std::string_view worker) {
  for (auto it = asked_.begin(); it != asked_.end();) {
    if (it->second.worker != worker) {
      ++it;
      continue;
    }
    answers_.push_back({it->first,
                        absl::UnavailableError(absl::StrCat(
                            "worker ", it->second.worker,
                            ", which was asked, is gone; ask again")),
                        "",
                        {}});
    it = asked_.erase(it);
  }
}

void GenerateDesk::Expire(Instant now) {
  for (auto it = asked_.begin(); it != asked_.end();) {
    if (it->second.deadline > now) {
      ++it;
      continue;
    }
    answers_.push_back(
        {it->first,
         absl::DeadlineExceededError(absl::StrCat("worker ", it->second.worker,
                                                  " has not answered in time")),
         "",
         {}});
    it = asked_.erase(it);
  }
}

std::vector<GenerateOrder> GenerateDesk::OrdersFor(
    JobId job, std::string_view worker) const {
  std::vector<GenerateOrder> orders;
  for (const auto& [request, asked] : asked_) {
    if (asked.job == job && asked.worker == worker) {
      orders.push_back(asked.order);
    }
  }
  return orders;
}

std::optional<Instant> GenerateDesk::NextDeadline() const {
  std::optional<Instant> next;
  for (const auto& [request, asked] : asked_) {
    if (!next.has_value() || asked.deadline < *next) next = asked.deadline;
  }
  return next;
}

std::vector<GenerateAnswer> GenerateDesk::TakeAnswers() {
  return std::exchange(answers_, {});
}

}  // namespace skerry::coordinator
