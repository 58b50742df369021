// coordinator/core/state/reach_table.h
//
// Keeps what workers found when they dialled each other, and says who has to be
// reached in reverse although it was not started so.
//
// A worker that does not answer may be cut off, or ended. So it counts as
// hidden only when it is shown to live behind something that lets its own
// connections out and no others in: one peer could not dial it, then it dialled
// that peer, and then the peer could not dial it again.
#ifndef SKERRY_COORDINATOR_CORE_STATE_REACH_TABLE_H_
#define SKERRY_COORDINATOR_CORE_STATE_REACH_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/instant.h"
#include "protocol/reach.h"

namespace skerry::coordinator {

// What one worker found of another.
struct Finding {
  protocol::Tried tried;
  // Since when it finds it so, and when it dialled last.
  Instant since;
  Instant at;
  // When a worker that could not be dialled had dialled the finder.
  std::optional<Instant> dialled_back;
};

class ReachTable {
 public:
  using Names = absl::btree_set<std::string>;

  // Takes in all that `finder` has found, in place of what it said before. The
  // caller has left out findings of former incarnations and of workers of its
  // own island. Returns whose IsHidden() has changed.
  Names Heard(const std::string& finder,
              const std::vector<protocol::Tried>& found, Instant now);
  // The process is over. What others found of it, and it of others, is
  // forgotten, and it counts as not hidden.
  void Forget(const std::string& worker);

  // What others found of the worker, by their names.
  const absl::btree_map<std::string, Finding>& Of(
      const std::string& worker) const;
  // Nobody can dial the worker, and it can dial others.
  bool IsHidden(const std::string& worker) const {
    return hidden_.contains(worker);
  }
  const Names& hidden() const { return hidden_; }

 private:
  Finding* Find(const std::string& finder, const std::string& worker);
  // Returns whether it has changed.
  bool Decide(const std::string& worker);

  // By the worker that was dialled, then by the finder.
  absl::btree_map<std::string, absl::btree_map<std::string, Finding>> findings_;
  // Those that each worker has dialled.
  absl::btree_map<std::string, Names> dialled_;
  Names hidden_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_REACH_TABLE_H_
