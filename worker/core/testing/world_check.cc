// What must hold in a World after every event.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "planner/spans.h"
#include "worker/core/result_piece.h"
#include "worker/core/testing/world.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

bool SameForCoordinator(const JobFacts& a, const JobFacts& b) {
  return a.life == b.life && a.state == b.state && a.applied == b.applied &&
         a.stored_through == b.stored_through &&
         a.stored.has_value() == b.stored.has_value() &&
         a.ready.has_value() == b.ready.has_value() &&
         a.anchor_hashes.size() == b.anchor_hashes.size();
}

}  // namespace

void World::Check() {
  for (const auto& worker : workers_) {
    if (worker->seat == nullptr) continue;
    const JobFacts facts = worker->seat->Facts();
    const std::string& name = worker->address.worker;
    if (facts.state == SeatState::kFailed) {
      failures_.push_back(absl::StrCat(name, ": ", facts.error));
    }
    if (facts.applied > newest()) failures_.push_back(name + ": A1");
    for (size_t i = 0; i < facts.anchor_hashes.size(); ++i) {
      const auto span = static_cast<uint32_t>(facts.span_begin + i);
      const auto [it, fresh] = anchors_.emplace(
          std::pair(span, facts.applied.value()), facts.anchor_hashes[i]);
      if (fresh) {
        Log(absl::StrCat("anchor ", span, "@", facts.applied.value(), " ",
                         facts.anchor_hashes[i]));
      } else if (it->second != facts.anchor_hashes[i]) {
        failures_.push_back(absl::StrCat(name, ": anchor of span ", span,
                                         " at ", facts.applied.value()));
      }
    }
    // What the coordinator decides by may not wait for the next heartbeat.
    if (!std::exchange(worker->told, false) &&
        !SameForCoordinator(worker->last, facts)) {
      failures_.push_back(absl::StrCat(name, ": changed without a Status, at ",
                                       facts.applied.value()));
    }
    worker->last = facts;
    const Audit audit = worker->seat->GetAudit();
    const double rest = audit.produced - audit.taken - audit.lost - audit.owed;
    const double scale = 1 + std::abs(audit.produced) + std::abs(audit.taken);
    if (std::abs(rest) > 1e-5 * scale) {
      failures_.push_back(absl::StrCat(name, ": A7, off by ", rest));
    }
  }
}

double World::Decoded(const CommittedEntry& entry) {
  double sum = 0;
  const auto spans =
      planner::CutSpans(options_.element_count, options_.settings.spans);
  for (uint32_t span = 0; span < spans->size(); ++span) {
    const PieceKey key{PieceKey::Kind::kResult, entry.sequence, entry.attempt,
                       span, entry.hashes[span]};
    std::vector<float> mean((*spans)[span].size());
    for (const auto& worker : workers_) {
      if (worker->seat == nullptr) continue;
      const auto piece = worker->seat->OnFetch(key);
      if (!piece.ok()) continue;
      SKERRY_CHECK(DecodeMean(piece->bytes, entry.total_weight, mean).ok());
      for (const float value : mean) sum += value * entry.total_weight;
      break;
    }
  }
  return sum;
}

uint64_t World::parts_repeated() const {
  uint64_t repeated = 0;
  for (const auto& worker : workers_) {
    if (worker->seat != nullptr) {
      repeated += worker->seat->Facts().counters.parts_repeated;
    }
  }
  return repeated;
}

}  // namespace skerry::worker
