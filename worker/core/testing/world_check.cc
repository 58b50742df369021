// What must hold in a World after every event.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "worker/core/result_piece.h"
#include "worker/core/testing/world.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

using protocol::FragmentFacts;

bool SameForCoordinator(const FragmentFacts& a, const FragmentFacts& b) {
  return a.applied == b.applied && a.stored_through == b.stored_through &&
         a.stored.has_value() == b.stored.has_value() &&
         a.ready.has_value() == b.ready.has_value() &&
         a.anchor_hashes.size() == b.anchor_hashes.size();
}

bool SameForCoordinator(const JobFacts& a, const JobFacts& b) {
  if (a.fragments.size() != b.fragments.size()) return false;
  for (size_t f = 0; f < a.fragments.size(); ++f) {
    if (!SameForCoordinator(a.fragments[f], b.fragments[f])) return false;
  }
  return a.life == b.life && a.state == b.state;
}

}  // namespace

void World::Check() {
  for (const auto& worker : workers_) {
    if (worker->seat == nullptr) continue;
    const JobFacts facts = worker->seat->Facts();
    const std::string& name = worker->self.worker;
    if (facts.state == protocol::SeatState::kFailed) {
      failures_.push_back(absl::StrCat(name, ": ", facts.error));
    }
    for (uint32_t f = 0; f < fragments(); ++f) {
      const FragmentFacts& one = facts.fragments[f];
      if (one.applied > newest(f)) failures_.push_back(name + ": A1");
      for (size_t i = 0; i < one.anchor_hashes.size(); ++i) {
        const auto span = static_cast<uint32_t>(one.span_begin + i);
        const auto [it, fresh] = anchors_.emplace(
            std::tuple(f, span, one.applied.value()), one.anchor_hashes[i]);
        if (fresh) {
          Log(absl::StrCat("anchor ", f, "/", span, "@", one.applied.value(),
                           " ", one.anchor_hashes[i]));
        } else if (it->second != one.anchor_hashes[i]) {
          failures_.push_back(absl::StrCat(name, ": anchor of span ", span,
                                           " at ", one.applied.value()));
        }
      }
    }
    // What the coordinator decides by may not wait for the next heartbeat.
    if (!std::exchange(worker->told, false) &&
        !SameForCoordinator(worker->last, facts)) {
      failures_.push_back(absl::StrCat(name, ": changed without a Status, at ",
                                       facts.life.value()));
    }
    worker->last = facts;
    for (uint32_t f = 0; f < fragments(); ++f) {
      const Audit audit = worker->seat->GetAudit(f);
      const double rest =
          audit.produced - audit.taken - audit.lost - audit.owed;
      const double scale = 1 + std::abs(audit.produced) + std::abs(audit.taken);
      if (std::abs(rest) > 1e-5 * scale) {
        failures_.push_back(absl::StrCat(name, ": A7, off by ", rest));
      }
    }
  }
}

std::vector<std::vector<planner::SpanRange>> World::Cut() const {
  return *planner::CutFragments(options_.element_count, fragments(),
                                options_.settings.spans,
                                options_.average_begin);
}

ElementRange World::ElementsOf(uint32_t fragment) const {
  const auto cut = Cut();
  return {cut[fragment].front().begin, cut[fragment].back().end};
}

double World::Decoded(uint32_t fragment, const CommittedEntry& entry) {
  double sum = 0;
  const std::vector<planner::SpanRange> spans = Cut()[fragment];
  for (uint32_t span = 0; span < spans.size(); ++span) {
    const PieceKey key{PieceKey::Kind::kResult, entry.sequence,
                       entry.attempt,           span,
                       entry.hashes[span],      fragment};
    std::vector<float> mean(spans[span].size());
    for (const auto& worker : workers_) {
      if (worker->seat == nullptr) continue;
      const auto piece = worker->seat->PieceOf(key);
      if (!piece.ok()) continue;
      SKERRY_CHECK(DecodeMean(piece->bytes(), entry.total_weight, mean).ok());
      for (const float value : mean) sum += value * entry.total_weight;
      break;
    }
  }
  return sum;
}

}  // namespace skerry::worker
