// coordinator/core/state/owner_hold.h
//
// Remembers the measured links by which owners were given their shares, and
// decides how long these shares stay.
//
// Measured rates tell how wide links are only while all shares are equal. Under
// uneven shares the rates follow the shares. So links are measured during some
// exchanges with equal shares, and the shares that follow from them are kept
// for a while. They are given up earlier if exchanges take longer than with
// equal shares. Nothing is durable, because records name the owners.
#ifndef SKERRY_COORDINATOR_CORE_STATE_OWNER_HOLD_H_
#define SKERRY_COORDINATOR_CORE_STATE_OWNER_HOLD_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "planner/exchange_time.h"

namespace skerry::coordinator {

class OwnerHold {
 public:
  // A first attempt of a sequence opens. `measured` has equal shares, and links
  // as they are measured now; `lives` are those of its members. Returns true
  // where shares are to follow the links in `measured`, which then are those
  // that are held. A life that joined since counts as the slowest of them.
  bool OnOpened(const std::vector<Life>& lives,
                const std::vector<double>& bytes_per_element,
                planner::ExchangeShape& measured);
  // One opens with equal shares, and no link is measured yet.
  void OnUnmeasured() { open_ = Open::kEqual; }
  // An attempt opens that teaches nothing.
  void OnOther() { open_ = Open::kOther; }
  // The attempt that was opened last has its commit.
  void OnCommitted(absl::Duration took);

 private:
  enum class Open { kOther, kEqual, kByLinks };

  void Measure();
  void Hold(const std::vector<Life>& lives,
            const planner::ExchangeShape& measured);

  Open open_ = Open::kOther;
  // With equal shares, by the links that are held.
  absl::Duration predicted_;
  // Exchanges with equal shares since this began, how many there have to be,
  // and the longest.
  uint32_t equal_ = 0;
  uint32_t equal_needed_ = kEqualLeast;
  absl::Duration equal_took_;
  // Empty while links are measured.
  absl::btree_map<Life, planner::LinkFacts> held_;
  uint32_t by_links_ = 0;
  // How many times as long as predicted exchanges take with equal shares.
  double slowdown_ = 0;

  static constexpr uint32_t kEqualLeast = 3;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_OWNER_HOLD_H_
