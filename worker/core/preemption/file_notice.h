// worker/core/preemption/file_notice.h
//
// Interprets the content of a file whose existence is the notice.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_FILE_NOTICE_H_
#define SKERRY_WORKER_CORE_PREEMPTION_FILE_NOTICE_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "worker/core/preemption/finding.h"

namespace skerry::worker {

// More of the file is not read.
inline constexpr size_t kNoticeFileBytesMax = 4096;

// The notice of a file with the content `text`. A number is the seconds that
// remain, and a time as in 2026-11-26T07:00:00Z is the deadline, by the wall
// clock `now`. With any other text, or none, 30 s remain.
Notice NoticeOfFile(absl::string_view text, absl::Time now);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_FILE_NOTICE_H_
