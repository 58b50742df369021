#include "worker/core/preemption/notice_book.h"

namespace skerry::worker {

NoticeBook::Change NoticeBook::Take(const std::string& source,
                                    const std::optional<Notice>& found,
                                    Instant now) {
  if (!found.has_value()) {
    return entries_.erase(source) > 0 ? Change::kWithdrawn : Change::kNone;
  }
  const auto it = entries_.find(source);
  if (it != entries_.end() && it->second.id == found->id) return Change::kNone;
  entries_[source] = {found->id, {source, found->what, now + found->remaining}};
  return Change::kNew;
}

const PendingNotice* NoticeBook::Of(const std::string& source) const {
  const auto it = entries_.find(source);
  return it == entries_.end() ? nullptr : &it->second.notice;
}

const PendingNotice* NoticeBook::Earliest() const {
  const PendingNotice* earliest = nullptr;
  for (const auto& [source, entry] : entries_) {
    if (earliest == nullptr || entry.notice.deadline < earliest->deadline) {
      earliest = &entry.notice;
    }
  }
  return earliest;
}

}  // namespace skerry::worker
