// worker/core/history.h
//
// Keeps book of one job's log on one worker: which results are committed, which
// pieces of results and bases are on disk, and what may be deleted.
#ifndef SKERRY_WORKER_CORE_HISTORY_H_
#define SKERRY_WORKER_CORE_HISTORY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/ids.h"
#include "protocol/exchange.h"
#include "protocol/fragment_facts.h"
#include "protocol/kept_state.h"
#include "worker/core/effects.h"

namespace skerry::worker {

using protocol::CommittedEntry;
using protocol::HeldBase;
using protocol::KeptState;

class History {
 public:
  explicit History(const std::vector<StoredFile>& on_disk);

  // --- What is committed. ---

  // Adds the entries that are not known yet. The others are left as they are,
  // because a commit never changes.
  void AddCommitted(const std::vector<CommittedEntry>& entries);
  // Null when the commit is not known here.
  const CommittedEntry* Find(Sequence sequence) const;
  // Forgets entries up to `sequence`, which nobody needs any more.
  void ForgetThrough(Sequence sequence);
  // Forgets what the coordinator has lost: entries after `newest`, and all
  // entries from the first one that it has with another attempt. Returns
  // whether there were any.
  bool ForgetLost(const std::vector<CommittedEntry>& committed,
                  Sequence newest);
  // Forgets the commits of the lost history, and removes and returns its bases.
  std::vector<StoredFile> TakeLost(const KeptState& kept);
  // The job begins at `begins_at` with the values of `initial_hash`. Bases up
  // to there of other values no longer count, nor do those that name no values
  // where `unnamed` says so. They are returned, to be deleted, unless the disk
  // has results after them: an operator who finds the right journal needs both.
  // Such bases count again when the job begins with their values, and may be
  // deleted as all others may.
  std::vector<StoredFile> TakeOfOtherValues(uint64_t initial_hash,
                                            Sequence begins_at, bool unnamed);

  // --- What is on disk. ---

  void AddFile(const StoredFile& file);
  void RemoveFile(const StoredFile& file);
  // There are none on the disk any more.
  void ForgetAllFiles();
  // The file with that very piece; null when there is none.
  const StoredFile* FindPiece(const PieceKey& key) const;
  // The hash of the initial values whose state is on disk; 0 when none is.
  uint64_t initial_hash() const;
  // The newest base piece of `span` at `from` or later.
  std::optional<PieceKey> NewestBase(uint32_t span, Sequence from) const;
  // The newest result on disk: its sequence and attempt, the highest where
  // there are several. And the highest attempt of all.
  std::pair<Sequence, Attempt> last_result() const;
  Attempt highest_attempt() const;
  // Committed, and on disk for every span of [begin, end).
  bool HasResult(Sequence sequence, uint32_t begin, uint32_t end) const;
  // The end of the gapless run of such results after `applied`.
  Sequence StoredThrough(Sequence applied, uint32_t begin, uint32_t end) const;
  // Bases that hold all of [begin, end). Valid until the next call of anything.
  const std::vector<HeldBase>& Bases(uint32_t begin, uint32_t end) const;
  // The newest base of every span outside [begin, end), neighbours together.
  // Valid until the next call of anything.
  const std::vector<HeldBase>& BasesBeside(uint32_t begin, uint32_t end) const;
  // The begin of the gapless run of such results up to `last`; unset when that
  // is none.
  Sequence FirstResultKept(Sequence last, uint32_t begin, uint32_t end) const;

  // Removes and returns the files that `keep_from` and known commits allow to
  // be deleted: bases before it, results up to it, and results of attempts
  // that lost.
  std::vector<StoredFile> TakeDeletable(Sequence keep_from);

 private:
  struct FileKey {
    PieceKey::Kind kind;
    Sequence sequence;
    // Unset for a base. A disk has one base of a sequence. Of the sequence that
    // the job began at, it may have one for each hash of initial values.
    Attempt attempt;
    uint64_t initial_hash = 0;
    uint32_t first_span = 0;
    uint32_t last_span = 0;
    friend auto operator<=>(const FileKey&, const FileKey&) = default;
  };
  static FileKey KeyOf(const StoredFile& file);

  // The last question of each kind, with its answer, because every Status asks
  // the same again.
  struct Question {
    Sequence sequence;
    uint32_t begin = 0;
    uint32_t end = 0;
    friend bool operator==(const Question&, const Question&) = default;
  };
  template <typename Answer>
  using Known = std::optional<std::pair<Question, Answer>>;
  struct Answers {
    Known<std::vector<HeldBase>> bases;
    Known<std::vector<HeldBase>> beside;
    Known<Sequence> stored_through;
    Known<Sequence> first_kept;
  };
  // Returns the answer to `question`, from `known` if this was its last
  // question, else from `find`.
  template <typename Answer, typename Find>
  static const Answer& Ask(Known<Answer>& known, const Question& question,
                           Find find) {
    if (!known || known->first != question) known.emplace(question, find());
    return known->second;
  }
  // The bases of one beginning, where the disk has several.
  std::vector<const StoredFile*> BaseFiles() const;
  std::vector<HeldBase> FindBases(uint32_t begin, uint32_t end) const;
  std::vector<HeldBase> FindBasesBeside(uint32_t begin, uint32_t end) const;

  absl::btree_map<Sequence, CommittedEntry> committed_;
  absl::btree_map<FileKey, StoredFile> files_;
  std::vector<StoredFile> set_aside_;  // bases that do not count
  mutable Answers answers_;  // as long as nothing of the above changes
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_HISTORY_H_
