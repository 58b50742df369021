#include "cli/commands/describe.h"

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "cli/find_worker.h"
#include "cli/job_description.h"
#include "cli/json.h"
#include "cli/shared_options.h"
#include "cli/worker_view.h"

namespace skerry::cli {
namespace {

constexpr size_t kEventsShown = 10;

absl::Status DescribeJob(const JobArguments& arguments, Client& client,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(arguments.name));
  output.out << (output.form == OutputForm::kJson ? JsonText(job)
                                                  : JobDescription(job));
  return absl::OkStatus();
}

absl::Status DescribeWorker(const WorkerArguments& arguments, Client& client,
                            const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::WorkerView worker,
                          FindWorker(client, arguments.name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(worker);
    return absl::OkStatus();
  }
  v1::StreamEventsRequest request;
  request.set_worker(arguments.name);
  std::vector<v1::Event> events;
  SKERRY_RETURN_IF_ERROR(client.StreamEvents(
      request, [&](const v1::Event& event) { events.push_back(event); }));
  if (events.size() > kEventsShown) {
    events.erase(events.begin(), events.end() - kEventsShown);
  }
  output.out << WorkerDescription(worker, events);
  return absl::OkStatus();
}

}  // namespace

Command DescribeJobCommand() {
  return MakeCommand<JobArguments>({.words = "describe job",
                                    .about = "replicas, losses, counters",
                                    .add_options = AddJob,
                                    .run = DescribeJob});
}

Command DescribeWorkerCommand() {
  return MakeCommand<WorkerArguments>(
      {.words = "describe worker",
       .about = "lease, clock, disk, links, events",
       .add_options = AddWorker,
       .run = DescribeWorker});
}

}  // namespace skerry::cli
