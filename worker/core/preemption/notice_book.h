// worker/core/preemption/notice_book.h
//
// Keeps the notices of all sources, and tells when the worker has to begin to
// drain.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_NOTICE_BOOK_H_
#define SKERRY_WORKER_CORE_PREEMPTION_NOTICE_BOOK_H_

#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "worker/core/preemption/finding.h"

namespace skerry::worker {

// A notice that holds.
struct PendingNotice {
  std::string source;
  std::string what;
  // When the machine is taken away.
  Instant deadline;
  bool operator==(const PendingNotice&) const = default;
};

class NoticeBook {
 public:
  enum class Change { kNone, kNew, kWithdrawn };

  // The worker drains `lead` before the deadline, or at once when less remains.
  explicit NoticeBook(absl::Duration lead) : lead_(lead) {}

  // Takes what `source` has found. kNew says that it has a notice which it had
  // not before.
  Change Take(const std::string& source, const std::optional<Notice>& found,
              Instant now);

  // The notice of `source`; none when it has none.
  const PendingNotice* Of(const std::string& source) const;

  // The notice with the earliest deadline. None when there is none.
  const PendingNotice* Earliest() const;

  // When the worker begins to drain for that notice.
  Instant DrainAt(const PendingNotice& notice) const {
    return notice.deadline + -lead_;
  }

 private:
  struct Entry {
    std::string id;
    PendingNotice notice;
  };
  const absl::Duration lead_;
  absl::btree_map<std::string, Entry> entries_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_NOTICE_BOOK_H_
