#include "worker/core/owed_book.h"

#include <cmath>
#include <memory>
#include <utility>

#include "base/check.h"
#include "worker/core/compute.h"

namespace skerry::worker {
namespace {

// The results of one span operation each, and who waits for all of them.
template <typename T>
struct Gathering {
  std::vector<absl::StatusOr<T>> results;
  size_t missing = 0;
  OwedBook::Finish finish;

  Gathering(size_t count, OwedBook::Finish done)
      : results(count, absl::UnknownError("")),
        missing(count),
        finish(std::move(done)) {}
  // Whether this was the last.
  bool Put(size_t index, absl::StatusOr<T> result) {
    results[index] = std::move(result);
    return --missing == 0;
  }
  absl::Status status() const {
    for (const auto& result : results) {
      if (!result.ok()) return result.status();
    }
    return absl::OkStatus();
  }
};

absl::Status LifeEnded() { return absl::AbortedError("the life has ended"); }

}  // namespace

void OwedBook::Begin(const Layout& layout, uint32_t begin, uint32_t end) {
  layout_ = &layout;
  begin_ = begin;
  owed_.clear();
  for (uint32_t span = begin; span < end; ++span) {
    owed_.push_back(NothingOwed(layout.elements(span)));
  }
}

void OwedBook::Abandon() {
  LoseAll();
  ++life_count_;
  busy_ = false;
  owed_.clear();
}

void OwedBook::LoseAll() {
  audit_.lost += OwedSum();
  lost_norm_ += owed_norm();
  for (OwedSpan& span : owed_) span = NothingOwed(span.values->size());
  pending_.reset();
}

void OwedBook::Add(Contribution contribution, const std::vector<RoundEnd>& ends,
                   Finish finish) {
  SKERRY_CHECK(!pending_ && !busy_ && ends.size() == owed_.size());
  busy_ = true;
  auto all =
      std::make_shared<Gathering<Produced>>(ends.size(), std::move(finish));
  auto shared = std::make_shared<Contribution>(std::move(contribution));
  for (size_t i = 0; i < ends.size(); ++i) {
    Compute(
        host_,
        [owed = owed_[i], end = ends[i], weight = shared->weight] {
          const std::span<const float> live =
              end.memory.values.subspan(end.range.begin, end.range.size());
          if (end.copy != nullptr) {
            *end.copy = std::make_shared<const std::vector<float>>(live.begin(),
                                                                   live.end());
          }
          if (end.start == nullptr) return AddValues(owed, weight, live);
          return AddRound(owed, weight,
                          std::span<const float>(*end.start).first(live.size()),
                          live);
        },
        scope_.Wrap([this, i, all, shared, life = life_count_](
                        Instant now, absl::StatusOr<Produced> produced) {
          if (!all->Put(i, std::move(produced))) return;
          if (life != life_count_) return all->finish(now, LifeEnded());
          busy_ = false;
          const absl::Status status = all->status();
          if (!status.ok()) return all->finish(now, status);
          for (size_t k = 0; k < owed_.size(); ++k) {
            owed_[k] = std::move(all->results[k]->owed);
            audit_.produced += all->results[k]->sum;
            shared->scalars.delta_squared_norm +=
                all->results[k]->delta_squared;
          }
          pending_ = std::move(*shared);
          all->finish(now, status);
        }));
  }
}

bool OwedBook::Settle(const Exchange& exchange, double beta, Finish finish) {
  SKERRY_CHECK(pending_ && !busy_);
  std::vector<Exchange::Sent> sent;
  for (size_t i = 0; i < owed_.size(); ++i) {
    auto one = exchange.SentOf(begin_ + static_cast<uint32_t>(i));
    if (!one) return false;
    sent.push_back(*std::move(one));
  }
  busy_ = true;
  auto all =
      std::make_shared<Gathering<Settled>>(owed_.size(), std::move(finish));
  for (size_t i = 0; i < owed_.size(); ++i) {
    Compute(
        host_,
        [owed = owed_[i], one = std::move(sent[i]),
         beta = IsAveraged(i) ? 0.0 : beta]() -> absl::StatusOr<Settled> {
          if (one.owned) return SettleOwned(owed, *one.error, beta);
          return SettleSent(owed, one.codec, one.bytes.bytes(), beta);
        },
        scope_.Wrap([this, i, all, life = life_count_](
                        Instant now, absl::StatusOr<Settled> settled) {
          if (!all->Put(i, std::move(settled))) return;
          if (life != life_count_) return all->finish(now, LifeEnded());
          busy_ = false;
          const absl::Status status = all->status();
          if (!status.ok()) return all->finish(now, status);
          double lost_squared = 0;
          for (size_t k = 0; k < owed_.size(); ++k) {
            Settled& one = *all->results[k];
            owed_[k] = std::move(one.owed);
            audit_.taken += one.taken;
            audit_.lost += one.lost;
            if (!IsAveraged(k)) lost_squared += one.lost_squared;
          }
          lost_norm_ += std::sqrt(lost_squared);
          pending_.reset();
          all->finish(now, status);
        }));
  }
  return true;
}

void OwedBook::Drop() {
  SKERRY_CHECK(!busy_);
  LoseAll();
}

double OwedBook::OwedSum() const {
  double sum = 0;
  for (const OwedSpan& span : owed_) sum += span.sum;
  return sum;
}

Audit OwedBook::GetAudit() const {
  Audit audit = audit_;
  audit.owed = OwedSum();
  return audit;
}

double OwedBook::owed_norm() const {
  double squared = 0;
  for (size_t i = 0; i < owed_.size(); ++i) {
    if (!IsAveraged(i)) squared += owed_[i].squared;
  }
  return std::sqrt(squared);
}

}  // namespace skerry::worker
