// coordinator/service/page_feed.h
//
// Answers the requests of the page (docs/page.md). It asks the core for views
// at most once a second, however many readers there are, and only while
// somebody reads. Readers wait for it, and it never waits for a reader.
#ifndef SKERRY_COORDINATOR_SERVICE_PAGE_FEED_H_
#define SKERRY_COORDINATOR_SERVICE_PAGE_FEED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/instant.h"
#include "coordinator/convert/page.h"
#include "coordinator/page/change_log.h"
#include "coordinator/page/page_request.h"
#include "runtime/posix/mutex.h"
#include "runtime/web.h"

namespace skerry::coordinator {

class PageFeed {
 public:
  // Returns the views, and the newest events after a revision: at most
  // kEventsMax that are routine, and as many that are not. Blocks for a moment
  // at most. Errors: Unavailable, why not.
  using Look = std::function<absl::StatusOr<PageFacts>(Revision after)>;

  static constexpr size_t kEventsMax = 200;

  // `term`: the journal's. `now`: a monotonic clock. Both functions may be
  // called on any thread.
  PageFeed(uint64_t term, Look look, std::function<Instant()> now);

  // May be called on several threads at once. The stream of changes in an
  // answer refers to this object.
  runtime::WebAnswer Answer(const runtime::WebRequest& request);

 private:
  // A reader of changes.
  struct Reader {
    PageMark seen;
    // Calls since anything was sent.
    int silent = 0;
  };

  absl::Status Refresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Everything that is new since `seen`, as a JSON object that also has the
  // mark up to which it goes; empty when nothing is. Moves `seen` there.
  absl::StatusOr<std::string> News(PageMark& seen);
  // The next piece of a stream of server-sent events.
  std::string Next(Reader& reader);

  const uint64_t term_;
  const Look look_;
  const std::function<Instant()> now_;
  runtime::Mutex mutex_;
  std::optional<Instant> looked_ ABSL_GUARDED_BY(mutex_);
  absl::Status found_ ABSL_GUARDED_BY(mutex_);
  uint64_t turns_ ABSL_GUARDED_BY(mutex_) = 0;
  // When the core was looked at, by its own time.
  Instant core_now_ ABSL_GUARDED_BY(mutex_);
  std::vector<LoggedEvent> events_ ABSL_GUARDED_BY(mutex_);
  ChangeLog log_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_PAGE_FEED_H_
