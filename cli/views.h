// cli/views.h
//
// The coordinator's answers as people read them. Pure: messages in, text out.
#ifndef SKERRY_CLI_VIEWS_H_
#define SKERRY_CLI_VIEWS_H_

#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

std::string JobsTable(const v1::ListJobsReply& jobs);
// Shows the method, codec, traffic and reason of the phase as well.
std::string WideJobsTable(const v1::ListJobsReply& jobs);
std::string WorkersTable(const v1::ListWorkersReply& workers);
// Shows the operator's intent as well.
std::string WideWorkersTable(const v1::ListWorkersReply& workers);
// One name a line.
std::string JobNames(const v1::ListJobsReply& jobs);
std::string WorkerNames(const v1::ListWorkersReply& workers);
// {"islands": [{"island", "workers", "connected", "suspected", "lost",
// "draining", "cordoned", "drained", "jobs"}]}, by name.
std::string IslandsJson(const v1::ListWorkersReply& workers);
// The columns with which CustomTable prints IslandsJson as a table.
inline constexpr char kIslandColumns[] =
    "NAME:island,WORKERS:workers,CONNECTED:connected,SUSPECTED:suspected,"
    "LOST:lost,DRAINING:draining,CORDONED:cordoned,DRAINED:drained,JOBS:jobs";
std::string AuditDescription(const v1::AuditDataReply& audit);

// One line of `watch job`, without the line end.
std::string ProgressLine(const v1::JobView& job);
// The same with what trainers report beside the loss.
std::string WideProgressLine(const v1::JobView& job);
// True when the progress lines of two views of a job differ in more than the
// speed. The speed is an average, so between two commits it is lower in every
// view.
bool ProgressDiffers(const v1::JobView& before, const v1::JobView& now);
// One line of `logs`, without the line end.
std::string EventLine(const v1::Event& event);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_VIEWS_H_
