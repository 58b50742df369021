#include "cli/commands/show.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/views.h"
#include "cli/worker_view.h"

namespace skerry::cli {
namespace {

constexpr size_t kEventsShown = 10;

// Narrowed, sorted, and in the form that was asked for. What depends on what is
// listed: `table` and `names` print the chosen items.
template <typename Table, typename Names>
absl::Status PrintList(const std::string& json, const ListSchema& schema,
                       const ListArguments& list, const Output& output,
                       Table table, Names names) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<size_t> items,
                          ChooseItems(json, schema, list));
  std::string text;
  switch (output.form) {
    case OutputForm::kJson:
      output.out << ChosenJson(json, schema, items);
      return absl::OkStatus();
    case OutputForm::kJsonLines:
      output.out << ChosenLines(json, schema, items);
      return absl::OkStatus();
    case OutputForm::kName:
      output.out << names(items);
      return absl::OkStatus();
    case OutputForm::kColumns: {
      SKERRY_ASSIGN_OR_RETURN(text,
                              CustomTable(json, schema, items, list.columns));
      break;
    }
    default:
      text = table(items, output.form == OutputForm::kWide);
  }
  output.out << (list.headers ? text : WithoutTitles(text));
  return absl::OkStatus();
}

v1::ListJobsReply Chosen(const v1::ListJobsReply& all,
                         const std::vector<size_t>& items) {
  v1::ListJobsReply chosen;
  for (const size_t item : items) {
    *chosen.add_jobs() = all.jobs(static_cast<int>(item));
  }
  return chosen;
}

v1::ListWorkersReply Chosen(const v1::ListWorkersReply& all,
                            const std::vector<size_t>& items) {
  v1::ListWorkersReply chosen;
  for (const size_t item : items) {
    *chosen.add_workers() = all.workers(static_cast<int>(item));
  }
  return chosen;
}

const ListSchema& JobSchema() {
  static const ListSchema* const schema =
      new ListSchema{"jobs",
                     v1::JobView::descriptor(),
                     {{"name", "spec.name"},
                      {"owner", "spec.queue.owner"},
                      {"priority", "spec.queue.priority"},
                      {"method", "spec.outer.method"},
                      {"codec", "spec.exchange.codec"}}};
  return *schema;
}

absl::Status PrintJobs(const v1::ListJobsReply& jobs, const ListArguments& list,
                       const Output& output) {
  return PrintList(
      JsonText(jobs), JobSchema(), list, output,
      [&](const std::vector<size_t>& items, bool wide) {
        const v1::ListJobsReply chosen = Chosen(jobs, items);
        return wide ? WideJobsTable(chosen) : JobsTable(chosen);
      },
      [&](const std::vector<size_t>& items) {
        return JobNames(Chosen(jobs, items));
      });
}

absl::StatusOr<v1::WorkerView> FindWorker(Client& client,
                                          const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply all, client.ListWorkers());
  for (const v1::WorkerView& worker : all.workers()) {
    if (worker.worker() == name) return worker;
  }
  return absl::NotFoundError(absl::StrCat("no worker named ", name));
}

}  // namespace

absl::Status GetJobs(Client& client, const ListArguments& list,
                     const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListJobsReply jobs, client.ListJobs());
  return PrintJobs(jobs, list, output);
}

absl::Status GetJob(Client& client, const std::string& name,
                    const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(job);
    return absl::OkStatus();
  }
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = job;
  return PrintJobs(jobs, {}, output);
}

absl::Status GetWorkers(Client& client, const ListArguments& list,
                        const Output& output) {
  static const ListSchema* const schema = new ListSchema{
      "workers", v1::WorkerView::descriptor(), {{"name", "worker"}}};
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply workers,
                          client.ListWorkers());
  return PrintList(
      JsonText(workers), *schema, list, output,
      [&](const std::vector<size_t>& items, bool wide) {
        const v1::ListWorkersReply chosen = Chosen(workers, items);
        return wide ? WideWorkersTable(chosen) : WorkersTable(chosen);
      },
      [&](const std::vector<size_t>& items) {
        return WorkerNames(Chosen(workers, items));
      });
}

absl::Status GetIslands(Client& client, const ListArguments& list,
                        const Output& output) {
  static const ListSchema* const schema =
      new ListSchema{"islands", nullptr, {{"name", "island"}}};
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply workers,
                          client.ListWorkers());
  const std::string json = IslandsJson(workers);
  const auto columns = [&](const std::vector<size_t>& items,
                           const char* wanted) {
    return *CustomTable(json, *schema, items, wanted);
  };
  return PrintList(
      json, *schema, list, output,
      [&](const std::vector<size_t>& items, bool) {
        return columns(items, kIslandColumns);
      },
      [&](const std::vector<size_t>& items) {
        return WithoutTitles(columns(items, "NAME:island"));
      });
}

absl::Status DescribeWorker(Client& client, const std::string& name,
                            const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::WorkerView worker,
                          FindWorker(client, name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(worker);
    return absl::OkStatus();
  }
  v1::StreamEventsRequest request;
  request.set_worker(name);
  std::vector<v1::Event> events;
  SKERRY_RETURN_IF_ERROR(client.StreamEvents(
      request, [&](const v1::Event& event) { events.push_back(event); }));
  if (events.size() > kEventsShown) {
    events.erase(events.begin(), events.end() - kEventsShown);
  }
  output.out << WorkerDescription(worker, events);
  return absl::OkStatus();
}

absl::Status DescribeJob(Client& client, const std::string& name,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(name));
  output.out << (output.form == OutputForm::kJson ? JsonText(job)
                                                  : JobDescription(job));
  return absl::OkStatus();
}

absl::Status AuditData(Client& client, const std::string& name,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::AuditDataReply audit, client.Audit(name));
  output.out << (output.form == OutputForm::kJson ? JsonText(audit)
                                                  : AuditDescription(audit));
  if (audit.doubled_size() == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("job ", name, " has samples in more than one commit"));
}

absl::Status ShowVersion(Client& client, const Output& output) {
  const absl::StatusOr<v1::GetVersionReply> reply = client.GetVersion();
  if (output.form == OutputForm::kJson) {
    SKERRY_RETURN_IF_ERROR(reply.status());
    output.out << JsonText(*reply);
    return absl::OkStatus();
  }
  output.out << "skerryctl    " << kRelease << ", protocol " << kProtocolVersion
             << "\n";
  SKERRY_RETURN_IF_ERROR(reply.status());
  output.out << "coordinator  " << reply->release() << ", protocol "
             << reply->protocol_version() << "\n";
  return absl::OkStatus();
}

}  // namespace skerry::cli
