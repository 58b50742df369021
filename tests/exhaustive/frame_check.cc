// What must hold in an exchange: every result is the mean of exactly its
// members, nothing is owed twice or lost (A2, A7; PROTOCOL 4.3, 4.4).
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/exhaustive/frame_model.h"
#include "worker/core/result_piece.h"

namespace skerry::exhaustive {
namespace {

// Largest rounding error of a sum over the elements of a few spans.
constexpr double kRounding = 1e-3;

double ErrorOf(const std::string& codec) {
  return codec == "raw_f32" ? 1e-6 : 0.002;
}

}  // namespace

void FrameModel::Check() {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (!IsUp(i)) continue;
    if (!hosts_[i].worker->failure().empty()) {
      Break(absl::StrCat("a seat fails: ", hosts_[i].worker->failure()));
    }
    CheckStored(i);
    CheckOwed(i);
  }
  if (IsDone()) CheckConserved();
}

void FrameModel::CheckStored(size_t index) {
  const Host& host = hosts_[index];
  const protocol::FragmentFacts facts = host.worker->fragment().Facts(true);
  if (!facts.stored.has_value()) return;
  const protocol::OpenExchange* open = nullptr;
  for (const protocol::OpenExchange& one : attempts_) {
    if (one.attempt == facts.stored->attempt) open = &one;
  }
  if (open == nullptr) return Break("a result of no attempt is reported");
  for (size_t k = 0; k < facts.stored->hashes.size(); ++k) {
    const auto span = static_cast<uint32_t>(scenario_.places[index].begin + k);
    const auto piece = host.worker->Find(
        {worker::PieceKey::Kind::kResult, facts.stored->sequence,
         facts.stored->attempt, span, facts.stored->hashes[k]});
    if (!piece.ok()) {
      Break("A6: a result is reported that is not on the disk");
      continue;
    }
    std::vector<float> mean(scenario_.spans[span]);
    if (!worker::DecodeMean(piece->bytes(), open->total_weight, mean).ok()) {
      Break("a result cannot be read");
      continue;
    }
    std::vector<double> sum(mean.size());
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const FrameScenario::Place& place = scenario_.places[i];
      if (span < place.begin || span >= place.end ||
          !IsMember(*open, place.replica)) {
        continue;
      }
      const std::vector<float>& owed = *hosts_[i].owed[span - place.begin];
      for (size_t e = 0; e < sum.size(); ++e) sum[e] += owed[e];
    }
    for (size_t e = 0; e < sum.size(); ++e) {
      if (std::abs(mean[e] - sum[e] / open->total_weight) >
          ErrorOf(scenario_.codec)) {
        return Break("A2: a result is not the mean of its members");
      }
    }
  }
}

void FrameModel::CheckOwed(size_t index) {
  const Host& host = hosts_[index];
  const worker::OwedBook& book = host.worker->fragment().book();
  const worker::Audit audit = book.GetAudit();
  if (std::abs(audit.produced - audit.taken - audit.lost - audit.owed) >
      kRounding) {
    Break("A7: produced is not taken, lost and owed");
  }
  // What is owed does not change from when a contribution is ready until its
  // outcome.
  if (!book.pending().has_value()) {
    if (!committed_.has_value()) Break("4.4: an outcome before the commit");
    return;
  }
  for (size_t k = 0; k < host.owed.size(); ++k) {
    const auto span = static_cast<uint32_t>(scenario_.places[index].begin + k);
    if (*host.worker->fragment().OwedOf(span) != *host.owed[k]) {
      Break("4.4: what is owed changes before the outcome");
    }
  }
}

// Checks that what the members no longer owe adds up to what the commit brought
// into the model.
void FrameModel::CheckConserved() {
  double taken = 0;
  double brought = 0;
  for (uint32_t span = 0; span < scenario_.spans.size(); ++span) {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const FrameScenario::Place& place = scenario_.places[i];
      if (!IsMember(attempts_.back(), place.replica)) continue;
      // A dead member's book is lost, so the sum cannot be checked.
      if (!IsAlive(place.replica)) return;
      if (span != place.begin) continue;
      taken += hosts_[i].worker->fragment().book().GetAudit().taken;
    }
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const auto piece = hosts_[i].worker->Find(
          {worker::PieceKey::Kind::kResult, committed_->sequence,
           committed_->attempt, span, committed_->hashes[span]});
      if (!piece.ok()) continue;
      std::vector<float> mean(scenario_.spans[span]);
      if (!worker::DecodeMean(piece->bytes(), committed_->total_weight, mean)
               .ok()) {
        continue;
      }
      for (const float value : mean)
        brought += committed_->total_weight * value;
      break;
    }
  }
  if (std::abs(taken - brought) > kRounding) {
    Break(absl::StrCat("A7: members gave ", taken, " and the model got ",
                       brought));
  }
}

}  // namespace skerry::exhaustive
