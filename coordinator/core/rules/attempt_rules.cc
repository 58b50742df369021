#include "coordinator/core/rules/attempt_rules.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skerry::coordinator {
namespace {

using protocol::Progress;

struct SpanCount {
  size_t current = 0;
  size_t reported = 0;
  absl::btree_map<uint64_t, absl::btree_set<ReplicaId>> by_hash;
};

SpanCount CountSpan(const std::vector<MemberReport>& members, uint32_t span) {
  SpanCount count;
  for (const MemberReport& member : members) {
    if (!member.current) continue;
    ++count.current;
    if (!member.hashes[span].has_value()) continue;
    ++count.reported;
    count.by_hash[*member.hashes[span]].insert(member.replica);
  }
  return count;
}

std::vector<absl::btree_set<ReplicaId>> OrderSets(const SpanCount& count) {
  std::vector<absl::btree_set<ReplicaId>> sets;
  for (const auto& [hash, replicas] : count.by_hash) sets.push_back(replicas);
  std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    if (a.size() != b.size()) return a.size() > b.size();
    return *a.begin() < *b.begin();
  });
  return sets;
}

std::string Names(const absl::btree_set<ReplicaId>& replicas) {
  return absl::StrJoin(replicas, ", ", [](std::string* out, ReplicaId id) {
    absl::StrAppend(out, id.value());
  });
}

// Whether `progress` says that bytes of `replica` are missing.
bool Misses(const std::vector<Progress>& progress, ReplicaId replica) {
  for (const Progress& entry : progress) {
    if (entry.replica == replica) return entry.bytes < entry.bytes_expected;
  }
  return true;
}

Blame Step(absl::btree_set<ReplicaId> replicas, const char* why) {
  Blame blame;
  blame.reason = absl::StrCat("replica ", Names(replicas), " ", why);
  blame.replicas = std::move(replicas);
  return blame;
}

// The sender that most receivers miss, or unset.
ReplicaId MostMissed(const std::vector<MemberReport>& members) {
  ReplicaId worst;
  size_t most = 0;
  bool tied = false;
  for (const MemberReport& sender : members) {
    size_t missing = 0;
    for (const MemberReport& receiver : members) {
      if (receiver.replica == sender.replica || !receiver.current) continue;
      for (const auto& progress : receiver.received) {
        missing += Misses(progress, sender.replica) ? 1 : 0;
      }
    }
    if (missing == 0 || missing < most) continue;
    tied = missing == most;
    most = missing;
    worst = sender.replica;
  }
  return tied ? ReplicaId() : worst;
}

uint64_t ReceivedBytes(const MemberReport& member) {
  uint64_t bytes = 0;
  for (const auto& progress : member.received) {
    for (const Progress& entry : progress) {
      bytes +=
          std::min(entry.bytes, std::numeric_limits<uint64_t>::max() - bytes);
    }
  }
  return bytes;
}

}  // namespace

bool MemberReport::Complete() const {
  return std::all_of(hashes.begin(), hashes.end(),
                     [](const auto& hash) { return hash.has_value(); });
}

AttemptVerdict JudgeAttempt(const std::vector<MemberReport>& members,
                            uint32_t span_count, bool deadline_passed) {
  AttemptVerdict verdict;
  bool every_group = true;
  bool disagree = false;
  for (uint32_t span = 0; span < span_count; ++span) {
    const SpanCount count = CountSpan(members, span);
    const bool all = count.reported > 0 && count.reported == count.current;
    if (count.by_hash.size() > 1) {
      disagree = true;
      every_group = false;
      if (!all && !deadline_passed) continue;
      if (verdict.kind == AttemptVerdict::Kind::kDisagree) continue;
      verdict.kind = AttemptVerdict::Kind::kDisagree;
      verdict.sets = OrderSets(count);
      verdict.span = span;
      continue;
    }
    const bool majority =
        deadline_passed && 2 * count.reported > members.size();
    if (!all && !majority) {
      every_group = false;
      continue;
    }
    verdict.hashes.push_back(count.by_hash.begin()->first);
  }
  if (verdict.kind == AttemptVerdict::Kind::kDisagree) return verdict;
  if (every_group && !disagree) {
    verdict.kind = AttemptVerdict::Kind::kCommit;
  } else if (deadline_passed) {
    verdict.kind = AttemptVerdict::Kind::kExpired;
  }
  return verdict;
}

Blame ChooseBlame(const std::vector<MemberReport>& members) {
  absl::btree_set<ReplicaId> ended, overdue;
  for (const MemberReport& member : members) {
    if (!member.current) ended.insert(member.replica);
    if (member.current && member.suspected) overdue.insert(member.replica);
  }
  if (!ended.empty()) return Step(ended, "has ended");
  if (!overdue.empty()) return Step(overdue, "is silent");
  if (const ReplicaId missed = MostMissed(members); missed.is_set()) {
    return Step({missed}, "is the sender that most receivers miss");
  }
  const MemberReport* least = nullptr;
  for (const bool incomplete_only : {true, false}) {
    for (const MemberReport& member : members) {
      if (incomplete_only && member.Complete()) continue;
      if (least == nullptr || ReceivedBytes(member) <= ReceivedBytes(*least)) {
        least = &member;
      }
    }
    if (least != nullptr) break;
  }
  if (least == nullptr) return {};
  return Step({least->replica}, "has made the least progress");
}

bool IsNoLongerNeeded(const std::vector<MemberReport>& members,
                      ReplicaId replica) {
  bool somebody = false;
  for (const MemberReport& receiver : members) {
    if (receiver.replica == replica || !receiver.current) continue;
    if (receiver.Complete()) {
      somebody = true;
      continue;
    }
    if (receiver.received.empty()) return false;
    for (const auto& progress : receiver.received) {
      if (Misses(progress, replica)) return false;
    }
    somebody = true;
  }
  return somebody;
}

}  // namespace skerry::coordinator
