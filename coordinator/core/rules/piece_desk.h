// coordinator/core/rules/piece_desk.h
//
// Keeps which worker is asked for which piece of a state, to pass it on to an
// operator. None of it is durable: after a restart of the coordinator, the
// operator asks again.
#ifndef SKERRY_COORDINATOR_CORE_RULES_PIECE_DESK_H_
#define SKERRY_COORDINATOR_CORE_RULES_PIECE_DESK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "protocol/piece_order.h"

namespace skerry::coordinator {

class PieceDesk {
 public:
  explicit PieceDesk(size_t pieces_max) : pieces_max_(pieces_max) {}

  // Errors: ResourceExhausted; AlreadyExists when the number is in use.
  absl::Status Ask(const std::string& worker,
                   const protocol::PieceOrder& order);
  void Forget(uint64_t request) { asked_.erase(request); }
  // A worker begins to send. `caller` is the name in its certificate; none in
  // plaintext. It may do so once. Errors: NotFound when nobody asked, or does
  // not any more; PermissionDenied when another worker was asked;
  // AlreadyExists.
  absl::Status Begin(uint64_t request,
                     const std::optional<std::string>& caller);

  // What the worker is asked for.
  std::vector<protocol::PieceOrder> OrdersFor(std::string_view worker) const;

 private:
  struct Asked {
    std::string worker;
    protocol::PieceOrder order;
    bool has_begun = false;
  };

  const size_t pieces_max_;
  absl::btree_map<uint64_t, Asked> asked_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_PIECE_DESK_H_
