#include "cli/commands/get.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/json.h"
#include "cli/listing.h"
#include "cli/shared_options.h"
#include "cli/views.h"
#include "cli/worker_view.h"

namespace skerry::cli {
namespace {

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
                              CustomTable(json, schema, items, output.columns));
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

absl::Status GetJobs(const ListArguments& list, Client& client,
                     const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListJobsReply jobs, client.ListJobs());
  return PrintJobs(jobs, list, output);
}

absl::Status GetJob(const JobArguments& arguments, Client& client,
                    const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(arguments.name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(job);
    return absl::OkStatus();
  }
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = job;
  return PrintJobs(jobs, {}, output);
}

absl::Status GetWorkers(const ListArguments& list, Client& client,
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

absl::Status GetIslands(const ListArguments& list, Client& client,
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

void AddListOptions(CLI::App& app, ListArguments& wanted) {
  app.add_option("-l,--selector", wanted.selector,
                 "FIELD=VALUE or FIELD!=VALUE, several with commas between "
                 "them: only those of which all hold; default: all")
      ->type_name("TESTS");
  app.add_option("--sort-by", wanted.sort_by,
                 "a field, as counters.tokens_per_s; default: as the "
                 "coordinator lists them")
      ->type_name("FIELD");
  app.add_flag_callback(
      "--no-headers", [&wanted] { wanted.headers = false; },
      "a table without its titles");
}

}  // namespace

Command GetJobsCommand() {
  return MakeCommand<ListArguments>({.words = "get jobs",
                                     .about = "all jobs",
                                     .prints = Prints::kList,
                                     .add_options = AddListOptions,
                                     .run = GetJobs});
}

Command GetJobCommand() {
  return MakeCommand<JobArguments>({.words = "get job",
                                    .about = "one job",
                                    .prints = Prints::kList,
                                    .add_options = AddJob,
                                    .run = GetJob});
}

Command GetWorkersCommand() {
  return MakeCommand<ListArguments>({.words = "get workers",
                                     .about = "workers and how they are",
                                     .prints = Prints::kList,
                                     .add_options = AddListOptions,
                                     .run = GetWorkers});
}

Command GetIslandsCommand() {
  return MakeCommand<ListArguments>({.words = "get islands",
                                     .about = "islands and their workers",
                                     .prints = Prints::kList,
                                     .add_options = AddListOptions,
                                     .run = GetIslands});
}

}  // namespace skerry::cli
