#include "coordinator/core/log/replica_table.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {

int Replica::RankOf(std::string_view worker) const {
  for (size_t rank = 0; rank < holders.size(); ++rank) {
    if (holders[rank].peer.worker == worker) return static_cast<int>(rank);
  }
  return -1;
}

absl::Status ReplicaTable::Apply(Life index, const ReplicaAdmitted& record) {
  if (record.holders.empty() ||
      record.holders.size() != record.incarnations.size()) {
    return absl::DataLossError("a replica is admitted without its workers");
  }
  for (const auto& [life, replica] : current_) {
    if (replica.island == record.island || replica.replica == record.replica) {
      return absl::DataLossError(absl::StrCat("island ", record.island,
                                              " is admitted while its life ",
                                              life.value(), " is current"));
    }
  }
  const auto number = numbers_.find(record.island);
  if (number != numbers_.end() && number->second != record.replica) {
    return absl::DataLossError(
        absl::StrCat("island ", record.island, " changed its replica number"));
  }
  numbers_[record.island] = record.replica;
  Add({index, record.replica, record.island, record.holders,
       record.incarnations});
  ++lives_;
  return absl::OkStatus();
}

absl::Status ReplicaTable::Apply(const ReplicaEnded& record) {
  const auto ended = current_.find(record.life);
  if (ended == current_.end()) {
    return absl::DataLossError(
        absl::StrCat("life ", record.life.value(), " ends twice"));
  }
  for (const SpanHolder& holder : ended->second.holders) {
    const auto it = lives_of_.find(holder.peer.worker);
    // A record may name a worker twice.
    if (it == lives_of_.end()) continue;
    it->second.erase(record.life);
    if (it->second.empty()) lives_of_.erase(it);
  }
  current_.erase(ended);
  return absl::OkStatus();
}

void ReplicaTable::Add(Replica replica) {
  for (const SpanHolder& holder : replica.holders) {
    lives_of_[holder.peer.worker].insert(replica.life);
  }
  current_[replica.life] = std::move(replica);
}

ReplicaTableSnapshot ReplicaTable::Save() const {
  ReplicaTableSnapshot saved;
  for (const auto& [life, replica] : current_) {
    saved.current.push_back({life, replica.replica, replica.island,
                             replica.holders, replica.incarnations});
  }
  saved.numbers.assign(numbers_.begin(), numbers_.end());
  saved.lives = lives_;
  return saved;
}

absl::Status ReplicaTable::Restore(const ReplicaTableSnapshot& saved) {
  for (const ReplicaSnapshot& one : saved.current) {
    if (one.holders.empty() || one.holders.size() != one.incarnations.size()) {
      return absl::DataLossError("a replica is saved without its workers");
    }
    if (current_.contains(one.life)) {
      return absl::DataLossError(
          absl::StrCat("life ", one.life.value(), " is saved twice"));
    }
    Add({one.life, one.replica, one.island, one.holders, one.incarnations});
  }
  numbers_.insert(saved.numbers.begin(), saved.numbers.end());
  lives_ = saved.lives;
  return absl::OkStatus();
}

const Replica* ReplicaTable::Find(Life life) const {
  const auto it = current_.find(life);
  return it == current_.end() ? nullptr : &it->second;
}

const Replica* ReplicaTable::FindIsland(std::string_view island) const {
  for (const auto& [life, replica] : current_) {
    if (replica.island == island) return &replica;
  }
  return nullptr;
}

const Replica* ReplicaTable::FindWorker(std::string_view worker) const {
  const auto it = lives_of_.find(worker);
  return it == lives_of_.end() ? nullptr : Find(*it->second.begin());
}

ReplicaId ReplicaTable::NumberOf(std::string_view island) const {
  const auto it = numbers_.find(std::string(island));
  if (it != numbers_.end()) return it->second;
  return ReplicaId(numbers_.size() + 1);
}

void ReplicaTable::HashInto(StateHasher& hasher) const {
  hasher.Add(lives_);
  hasher.Add(uint64_t{current_.size()});
  for (const auto& [life, replica] : current_) {
    hasher.Add(life);
    hasher.Add(replica.replica);
    hasher.Add(std::string_view(replica.island));
    for (const SpanHolder& holder : replica.holders) hasher.Add(holder);
    for (const Incarnation inc : replica.incarnations) hasher.Add(inc);
  }
  hasher.Add(uint64_t{numbers_.size()});
  for (const auto& [island, number] : numbers_) {
    hasher.Add(std::string_view(island));
    hasher.Add(number);
  }
}

}  // namespace skerry::coordinator
