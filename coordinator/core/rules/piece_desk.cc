#include "coordinator/core/rules/piece_desk.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {

absl::Status PieceDesk::Ask(const std::string& worker,
                            const protocol::PieceOrder& order) {
  if (asked_.size() >= pieces_max_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        asked_.size(), " pieces are on their way; try again later"));
  }
  if (asked_.try_emplace(order.request, Asked{worker, order}).second) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      absl::StrCat("request ", order.request, " is in use"));
}

absl::Status PieceDesk::Begin(uint64_t request,
                              const std::optional<std::string>& caller) {
  const auto it = asked_.find(request);
  if (it == asked_.end()) {
    return absl::NotFoundError(
        absl::StrCat("nobody waits for piece ", request));
  }
  if (caller.has_value() && *caller != it->second.worker) {
    return absl::PermissionDeniedError(
        absl::StrCat("worker ", it->second.worker, " was asked for piece ",
                     request, ", and the certificate is of worker ", *caller));
  }
  if (std::exchange(it->second.has_begun, true)) {
    return absl::AlreadyExistsError(
        absl::StrCat("piece ", request, " is being sent already"));
  }
  return absl::OkStatus();
}

std::vector<protocol::PieceOrder> PieceDesk::OrdersFor(
    std::string_view worker) const {
  std::vector<protocol::PieceOrder> orders;
  for (const auto& [request, asked] : asked_) {
    if (asked.worker == worker) orders.push_back(asked.order);
  }
  return orders;
}

}  // namespace skerry::coordinator
