#include "cli/commands/state.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/json.h"
#include "coordinator/convert/snapshot.h"
#include "coordinator/service/state_copy.h"
#include "proto/skerry/v1/journal.pb.h"

namespace skerry::cli {
namespace {

using coordinator::ClusterOptions;
using coordinator::FoldedJournal;
using coordinator::FoldJournal;
using coordinator::JournalEntry;
using coordinator::JournalFile;
using coordinator::StateCopy;

// `line` ends with a line end, which is moved behind the brace.
std::string Wrapped(const std::string& head, const std::string& line) {
  return absl::StrCat(head, absl::string_view(line).substr(0, line.size() - 1),
                      "}\n");
}

absl::Status ExportRecords(JournalFile& file, std::ostream& out) {
  SKERRY_ASSIGN_OR_RETURN(const auto snapshot, file.ReadSnapshot());
  if (snapshot.has_value()) {
    v1::JournalSnapshot message;
    if (!message.ParseFromString(snapshot->payload)) {
      return absl::DataLossError(absl::StrCat(
          "snapshot ", snapshot->index.value(), ": its bytes are none"));
    }
    out << Wrapped("{\"snapshot\":", JsonLine(message));
  }
  return file.Read([&](const JournalEntry& entry) -> absl::Status {
    v1::JournalRecord message;
    if (!message.ParseFromString(entry.payload)) {
      return absl::DataLossError(
          absl::StrCat("record ", entry.index.value(), ": its bytes are none"));
    }
    out << Wrapped(
        absl::StrCat("{\"index\":\"", entry.index.value(), "\",\"record\":"),
        JsonLine(message));
    return absl::OkStatus();
  });
}

// Samples that a job's commits hold twice.
absl::Status CheckAudits(const FoldedJournal& folded) {
  for (const auto& job : folded.cluster.ViewJobs(Instant())) {
    SKERRY_ASSIGN_OR_RETURN(const coordinator::AuditReport report,
                            folded.cluster.Audit(job.id));
    if (report.doubled.empty()) continue;
    const data::SampleRange first = report.doubled.ranges().front();
    return absl::DataLossError(
        absl::StrCat("job ", job.id.value(), ": samples from ", first.begin,
                     " to ", first.end, " are in more than one commit"));
  }
  return absl::OkStatus();
}

struct Verified {
  int64_t schema_version = 0;
  uint64_t term = 0;
  FoldedJournal folded;
};

absl::StatusOr<Verified> Verify(const std::string& folder) {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<StateCopy> copy,
                          StateCopy::Take(folder));
  SKERRY_ASSIGN_OR_RETURN(FoldedJournal folded,
                          FoldJournal(copy->file(), ClusterOptions()));
  SKERRY_RETURN_IF_ERROR(CheckAudits(folded));
  return Verified{copy->file().schema_version(), copy->file().term(),
                  std::move(folded)};
}

void Print(const Verified& verified, const std::string& folder,
           const Output& output) {
  const FoldedJournal& folded = verified.folded;
  const std::string hash = absl::StrFormat("%016x", folded.cluster.StateHash());
  const size_t jobs = folded.cluster.ViewJobs(Instant()).size();
  const size_t workers = folded.cluster.ViewWorkers(Instant()).size();
  if (output.form == OutputForm::kJson) {
    const nlohmann::ordered_json object = {
        {"folder", folder},
        {"schema_version", verified.schema_version},
        {"term", absl::StrCat(verified.term)},
        {"revision", absl::StrCat(folded.cluster.revision().value())},
        {"state_hash", hash},
        {"snapshot_index", absl::StrCat(folded.snapshot_index)},
        {"snapshot_bytes", absl::StrCat(folded.snapshot_bytes)},
        {"records", absl::StrCat(folded.records)},
        {"jobs", jobs},
        {"workers", workers}};
    output.out << object.dump(2) << "\n";
    return;
  }
  output.out << absl::StrFormat(
      "%s is whole\n"
      "state hash  %s\n"
      "revision    %d (snapshot at %d of %d bytes, %d records after it)\n"
      "holds       %d jobs, %d workers\n"
      "term        %d\n"
      "schema      %d\n",
      folder, hash, folded.cluster.revision().value(), folded.snapshot_index,
      folded.snapshot_bytes, folded.records, jobs, workers, verified.term,
      verified.schema_version);
}

}  // namespace

absl::Status ExportState(const StateArguments& arguments,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<StateCopy> copy,
                          StateCopy::Take(arguments.folder));
  if (arguments.records) return ExportRecords(copy->file(), output.out);
  SKERRY_ASSIGN_OR_RETURN(const FoldedJournal folded,
                          FoldJournal(copy->file(), ClusterOptions()));
  output.out << JsonText(
      coordinator::SnapshotToProto(folded.cluster.Save(), folded.events));
  return absl::OkStatus();
}

absl::Status VerifyState(const StateArguments& arguments,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const Verified verified, Verify(arguments.folder));
  Print(verified, arguments.folder, output);
  return absl::OkStatus();
}

absl::Status BackUpState(const StateArguments& arguments,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<StateCopy> copy,
                          StateCopy::Take(arguments.folder));
  std::error_code error;
  std::filesystem::create_directories(arguments.to, error);
  if (error) {
    return absl::ErrnoToStatus(
        error.value(), absl::StrCat("cannot make folder ", arguments.to));
  }
  SKERRY_RETURN_IF_ERROR(copy->file().BackUp(arguments.to + "/journal.db"));
  SKERRY_ASSIGN_OR_RETURN(const Verified verified, Verify(arguments.to));
  Print(verified, arguments.to, output);
  return absl::OkStatus();
}

namespace {

void AddFolder(CLI::App& app, StateArguments& wanted) {
  app.add_option("--state", wanted.folder,
                 "state folder of a stopped coordinator")
      ->type_name("FOLDER")
      ->required();
}

void AddExportOptions(CLI::App& app, StateArguments& wanted) {
  AddFolder(app, wanted);
  app.add_flag("--records", wanted.records,
               "records instead of what they come to");
}

void AddBackUpOptions(CLI::App& app, StateArguments& wanted) {
  AddFolder(app, wanted);
  app.add_option("--to", wanted.to, "folder to make")
      ->type_name("FOLDER")
      ->required();
}

}  // namespace

Command ExportStateCommand() {
  return MakeCommand<StateArguments>({.words = "state export",
                                      .about = "what it holds, as JSON",
                                      .add_options = AddExportOptions,
                                      .run = ExportState});
}

Command VerifyStateCommand() {
  return MakeCommand<StateArguments>(
      {.words = "state verify",
       .about = "whether it is whole, and its state hash",
       .add_options = AddFolder,
       .run = VerifyState});
}

Command BackUpStateCommand() {
  return MakeCommand<StateArguments>({.words = "state backup",
                                      .about = "copies it to one checked file",
                                      .add_options = AddBackUpOptions,
                                      .run = BackUpState});
}

}  // namespace skerry::cli
