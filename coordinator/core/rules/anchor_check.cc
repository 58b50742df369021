#include "coordinator/core/rules/anchor_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace skerry::coordinator {
namespace {

// Replicas are never further apart than a round and what they carry.
constexpr size_t kSequencesMax = 8;

// Whether a replica in its life may still report `sequence`.
bool MayStillReport(const JobState& job, const Replica& replica,
                    FragmentId fragment, Sequence sequence) {
  for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
    const FragmentFacts* facts = FactsInLife(job, replica, rank, fragment);
    if (facts == nullptr || facts->applied < sequence) return true;
  }
  return false;
}

using Sets = absl::btree_map<uint64_t, std::vector<Life>>;

// Lives whose hash is not the one to keep.
std::vector<Life> Differing(const JobState& job, const Sets& sets) {
  const auto lowest = [&](const std::vector<Life>& lives) {
    ReplicaId low(~uint64_t{0});
    for (const Life life : lives) {
      low = std::min(low, job.replicas.Find(life)->replica);
    }
    return low;
  };
  const std::vector<Life>* keep = nullptr;
  for (const auto& [hash, lives] : sets) {
    if (keep == nullptr || lives.size() > keep->size() ||
        (lives.size() == keep->size() && lowest(lives) < lowest(*keep))) {
      keep = &lives;
    }
  }
  std::vector<Life> differing;
  for (const auto& [hash, lives] : sets) {
    if (&lives == keep) continue;
    differing.insert(differing.end(), lives.begin(), lives.end());
  }
  return differing;
}

}  // namespace

void NoteAnchors(JobState& job, const std::string& worker) {
  const Seat& seat = job.seats.at(worker);
  const Replica* replica = CurrentReplicaOf(job, worker, seat.incarnation);
  if (replica == nullptr || seat.facts.life != replica->life) return;
  const SpanHolder& holder = replica->holders[replica->RankOf(worker)];
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (facts.fragment.value() >= job.anchors.size() ||
        !facts.applied.is_set() || facts.span_begin != holder.span_begin ||
        facts.anchor_hashes.size() != holder.span_end - holder.span_begin) {
      continue;
    }
    JobState::Anchors& anchors = job.anchors[facts.fragment.value()];
    auto& spans = anchors[facts.applied];
    for (size_t i = 0; i < facts.anchor_hashes.size(); ++i) {
      spans[facts.span_begin + static_cast<uint32_t>(i)][replica->life] =
          facts.anchor_hashes[i];
    }
    while (anchors.size() > kSequencesMax) anchors.erase(anchors.begin());
  }
}

namespace {

// Adds the lives that end, and why.
void CheckFragment(JobState& job, const Decider& decider, FragmentId fragment,
                   absl::btree_map<Life, std::string>& ending) {
  JobState::Anchors& anchors = job.anchors[fragment.value()];
  for (auto it = anchors.begin(); it != anchors.end();) {
    bool waiting = false;
    for (const auto& [life, replica] : job.replicas.current()) {
      waiting |= !IsSuspected(replica, decider.workers) &&
                 MayStillReport(job, replica, fragment, it->first);
    }
    if (waiting) {
      ++it;
      continue;
    }
    for (const auto& [span, hashes] : it->second) {
      Sets sets;
      for (const auto& [life, hash] : hashes) {
        if (job.replicas.Find(life) != nullptr) sets[hash].push_back(life);
      }
      if (sets.size() < 2) continue;
      for (const Life life : Differing(job, sets)) {
        ending.emplace(life, absl::StrCat("its anchor of span ", span,
                                          " at sequence ", it->first.value(),
                                          " differs from that of the others"));
      }
    }
    it = anchors.erase(it);
  }
}

}  // namespace

void CheckAnchors(JobState& job, const Decider& decider) {
  absl::btree_map<Life, std::string> ending;
  for (size_t f = 0; f < job.anchors.size(); ++f) {
    CheckFragment(job, decider, FragmentId(f), ending);
  }
  for (auto& [life, reason] : ending) {
    EndLife(job, decider, life, std::move(reason));
  }
}

std::string DifferenceAtTheEnd(const JobState& job,
                               const WorkerTable& workers) {
  struct Reported {
    std::string worker;
    uint64_t hash = 0;
  };
  absl::btree_map<std::pair<FragmentId, uint32_t>, Reported> first;
  for (const auto& [name, seat] : job.seats) {
    if (!workers.IsCurrent(name, seat.incarnation) || !seat.unfit.empty()) {
      continue;
    }
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment.value() >= job.fragments.size()) continue;
      const Sequence newest = job.fragments[facts.fragment.value()].newest();
      if (facts.applied != newest) continue;
      for (size_t i = 0; i < facts.anchor_hashes.size(); ++i) {
        const uint32_t span = facts.span_begin + static_cast<uint32_t>(i);
        const Reported mine{name, facts.anchor_hashes[i]};
        const Reported& other =
            first.try_emplace({facts.fragment, span}, mine).first->second;
        if (other.hash == mine.hash) continue;
        return absl::StrFormat(
            "all samples are committed, but the models differ: span %d of "
            "fragment %d at sequence %d has hash %016x on worker %s and %016x "
            "on worker %s; train again, from a checkpoint if there is one, "
            "with one release on machines without faults",
            span, facts.fragment.value(), newest.value(), other.hash,
            other.worker, mine.hash, name);
      }
    }
  }
  return "";
}

bool AwaitsLastAnchors(const JobState& job, const WorkerTable& workers) {
  for (const auto& [life, replica] : job.replicas.current()) {
    if (IsSuspected(replica, workers)) continue;
    for (const RoundMachine& machine : job.fragments) {
      if (MayStillReport(job, replica, machine.fragment(), machine.newest())) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace skerry::coordinator
