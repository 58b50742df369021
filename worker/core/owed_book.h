// worker/core/owed_book.h
//
// Keeps what one life owes, and its pending contribution. Owed changes when a
// round is added and when an outcome is settled, and nowhere else. Between the
// two the contribution is immutable. Every element produced is counted as
// taken, lost or still owed.
#ifndef SKERRY_WORKER_CORE_OWED_BOOK_H_
#define SKERRY_WORKER_CORE_OWED_BOOK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/instant.h"
#include "protocol/contribution.h"
#include "worker/core/audit.h"
#include "worker/core/effects.h"
#include "worker/core/exchange.h"
#include "worker/core/layout.h"
#include "worker/core/owed.h"
#include "worker/core/scope.h"

namespace skerry::worker {

using protocol::Contribution;

class OwedBook {
 public:
  using Finish = absl::AnyInvocable<void(Instant now, absl::Status status)>;

  // `host` outlives the book.
  explicit OwedBook(HostPort& host) : host_(host) {}

  // A life begins with spans [begin, end): nothing is owed.
  void Begin(const Layout& layout, uint32_t begin, uint32_t end);
  // The life is over: what was owed is lost, whatever was under way.
  void Abandon();

  // The contribution whose outcome is not settled.
  const std::optional<Contribution>& pending() const { return pending_; }
  // Adding or settling.
  bool busy() const { return busy_; }
  // By held span. Requires: between Begin() and Abandon().
  const std::vector<OwedSpan>& owed() const { return owed_; }

  // What a round's end reads of a held span. The first elements of `start` are
  // the values the round started from; it is null for a span that is averaged.
  // `live` and `start` do not change until `finish` has run.
  struct RoundEnd {
    Values start;
    TrainerMemory memory;
    ElementRange range;
    // Gets a copy of the live values, when it is not null. It is there until
    // `finish` has run.
    Values* copy = nullptr;
  };
  // Adds a round; on success `contribution` is pending, its delta norm filled
  // in. `finish` always runs: Aborted when the life ended first,
  // InvalidArgument when a parameter is not finite; then nothing was added.
  // Requires: nothing pending, not busy.
  void Add(Contribution contribution, const std::vector<RoundEnd>& ends,
           Finish finish);

  // The pending contribution was committed in `exchange`. False, and nothing
  // done, when the exchange has not encoded all of it yet. Spans that are
  // averaged keep no error of it, whatever `beta` is. `finish` as above.
  bool Settle(const Exchange& exchange, double beta, Finish finish);
  // It was dropped.
  void Drop();

  Audit GetAudit() const;
  // Norms leave out spans that are averaged, of which nothing is a distance.
  double owed_norm() const;
  double lost_norm() const { return lost_norm_; }

 private:
  bool IsAveraged(size_t index) const {
    return layout_->rule(begin_ + static_cast<uint32_t>(index)) ==
           SpanRule::kAverage;
  }
  double OwedSum() const;
  void LoseAll();

  HostPort& host_;
  const Layout* layout_ = nullptr;
  uint32_t begin_ = 0;
  std::vector<OwedSpan> owed_;
  std::optional<Contribution> pending_;
  bool busy_ = false;
  uint64_t life_count_ = 0;
  Audit audit_;  // without owed
  double lost_norm_ = 0;
  Scope scope_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_OWED_BOOK_H_
