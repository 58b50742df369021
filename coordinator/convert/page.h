// coordinator/convert/page.h
//
// Puts what operators see into the page's change log: the messages of
// operator.proto as JSON, with the field names of the API. Of a message, the
// page gets only the fields that it shows.
#ifndef SKERRY_COORDINATOR_CONVERT_PAGE_H_
#define SKERRY_COORDINATOR_CONVERT_PAGE_H_

#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "coordinator/core/views/logged_event.h"
#include "coordinator/core/views/views.h"
#include "coordinator/page/change_log.h"

namespace skerry::coordinator {

// What a look at the core has found.
struct PageFacts {
  std::vector<JobView> jobs;
  std::vector<WorkerView> workers;
  std::vector<LoggedEvent> events;  // oldest first
  // When the core was looked at, by its own time.
  Instant now;
};

// Makes one turn of `log`. `thorough` turns also look at what seldom changes:
// jobs that have ended. Others leave those as they are.
//
// A job is spread over several JobViews of the same id, so that little is sent
// when little changes; a reader merges their fields, and collects the losses by
// sequence. At most about 1,000 losses of a job are sent, evenly spread, and
// each validation loss. A worker's links are the slowest one to each island, in
// a WorkerView of its own.
void PutViews(const PageFacts& facts, bool thorough, ChangeLog& log);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_PAGE_H_
