#include "cli/commands/checkpoint.h"

#include <CLI/CLI.hpp>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/data_tokenizer.h"
#include "checkpoint/model_files.h"
#include "cli/fetch_state.h"
#include "cli/places.h"
#include "cli/shared_options.h"
#include "cli/table.h"
#include "nlohmann/json.hpp"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/word_option.h"

namespace skerry::cli {
namespace {

using checkpoint::CheckpointStore;
using checkpoint::CheckpointWriter;
using checkpoint::Listed;
using checkpoint::ModelState;

// How often the workers may move on while their state is fetched.
constexpr int kTriesMax = 3;

absl::Status WriteCheckpoint(CheckpointWriter writer, const ModelState& state,
                             uint64_t file_bytes_max) {
  SKERRY_RETURN_IF_ERROR(checkpoint::WriteState(
      state, file_bytes_max,
      [&writer](const std::string& file, runtime::ByteSpan bytes) {
        return writer.Add(file, bytes);
      }));
  return writer.Seal();
}

// Which samples the state has taken in, when the coordinator knows.
void AddSamples(const v1::StateView& where, checkpoint::Manifest& about) {
  std::vector<data::SampleRange> consumed;
  for (const v1::SampleRange& range : where.consumed()) {
    consumed.push_back({range.begin(), range.end()});
  }
  if (data::RangeSet(consumed).total() != where.samples_committed()) return;
  about.order = checkpoint::SampleOrder{
      .data_sha256 = where.spec().data().manifest_sha256(),
      .seed = where.spec().data().seed(),
      .sequence_tokens = where.spec().data().sequence_tokens()};
  about.consumed = std::move(consumed);
}

// The name of the checkpoint of `where`, which is there afterwards. Errors:
// Aborted when the workers moved on.
absl::StatusOr<std::string> Make(const v1::StateView& where, Client& client,
                                 const CheckpointArguments& arguments,
                                 CheckpointStore& store, runtime::Files& files,
                                 const Output& output) {
  if (where.spec().model().has_program()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", where.spec().name(),
        " has a program, and only its workers know the model's tensors; name "
        "checkpoint.directory in the job, and they save there"));
  }
  const std::string name = checkpoint::CheckpointName(where.sequence());
  checkpoint::Manifest about{.job = where.spec().name(),
                             .job_id = where.job(),
                             .sequence = where.sequence(),
                             .samples = where.samples_committed(),
                             .files = {}};
  AddSamples(where, about);
  absl::StatusOr<CheckpointWriter> writer = store.Begin(std::move(about));
  if (absl::IsAlreadyExists(writer.status())) {
    output.err << writer.status().message() << "\n";
    return name;
  }
  SKERRY_RETURN_IF_ERROR(writer.status());
  SKERRY_ASSIGN_OR_RETURN(
      FetchedState fetched,
      FetchState(where, client.credentials(), [&client](const auto& request) {
        return client.FetchPiece(request);
      }));
  const auto& data = where.spec().data();
  const ModelState state{.config_json = where.spec().model().config_json(),
                         .tokenizer = checkpoint::DataTokenizer(
                             data.path(), data.manifest_sha256(), files),
                         .anchor = std::move(fetched.anchor),
                         .outer_momentum = std::move(fetched.outer_momentum)};
  if (state.tokenizer.empty()) {
    output.err << "no tokenizer is written: " << data.path()
               << " is not here as the job knows it, or names none\n";
  }
  SKERRY_RETURN_IF_ERROR(
      WriteCheckpoint(*std::move(writer), state, arguments.file_bytes_max));
  SKERRY_RETURN_IF_ERROR(store.Verify(name));
  return name;
}

std::string StateOf(const Listed& one) {
  if (one.status.ok()) return "complete";
  return absl::IsNotFound(one.status) ? "unfinished" : "damaged";
}

uint64_t BytesIn(const checkpoint::Manifest& manifest) {
  uint64_t bytes = 0;
  for (const auto& file : manifest.files) bytes += file.bytes;
  return bytes;
}

bool HasInner(const Listed& one) {
  return checkpoint::FindInnerState(one.manifest) != nullptr;
}

std::string ListText(const std::vector<Listed>& all) {
  Table table({{"NAME"},
               {"JOB"},
               {"SEQUENCE", Align::kRight},
               {"SAMPLES", Align::kRight},
               {"SIZE", Align::kRight},
               {"INNER STATE"},
               {"STATE"}});
  for (const Listed& one : all) {
    const bool whole = one.status.ok();
    table.AddRow({one.name, whole ? Printable(one.manifest.job) : "",
                  absl::StrCat(one.sequence),
                  whole ? absl::StrCat(one.manifest.samples) : "",
                  whole ? BytesText(BytesIn(one.manifest)) : "",
                  whole ? (HasInner(one) ? "yes" : "no") : "", StateOf(one)});
  }
  return table.Text();
}

std::string ListJson(const std::vector<Listed>& all) {
  nlohmann::ordered_json json;
  json["checkpoints"] = nlohmann::ordered_json::array();
  for (const Listed& one : all) {
    nlohmann::ordered_json entry = {{"name", one.name},
                                    {"sequence", absl::StrCat(one.sequence)},
                                    {"state", StateOf(one)}};
    if (one.status.ok()) {
      entry["job"] = one.manifest.job;
      entry["job_id"] = absl::StrCat(one.manifest.job_id);
      entry["samples"] = absl::StrCat(one.manifest.samples);
      entry["bytes"] = absl::StrCat(BytesIn(one.manifest));
      entry["inner_state"] = HasInner(one);
    } else {
      entry["problem"] = std::string(one.status.message());
    }
    json["checkpoints"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

// The newest that counts.
absl::StatusOr<std::string> NewestIn(const CheckpointStore& store,
                                     const std::string& folder) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all, store.List());
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (one->status.ok()) return one->name;
  }
  return absl::NotFoundError(
      absl::StrCat(folder,
                   " has no complete checkpoint; skerryctl checkpoint list "
                   "shows what there is"));
}

absl::Status CreateCheckpoint(const CheckpointArguments& arguments,
                              Client& client, runtime::Files& files,
                              const Output& output) {
  const std::unique_ptr<runtime::BlobStores> places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places->Open(arguments.folder));
  CheckpointStore store(*blobs);
  absl::StatusOr<std::string> name = absl::AbortedError("");
  for (int i = 0; i < kTriesMax && absl::IsAborted(name.status()); ++i) {
    SKERRY_ASSIGN_OR_RETURN(const v1::StateView where,
                            client.LocateState(arguments.job));
    name = Make(where, client, arguments, store, files, output);
  }
  SKERRY_RETURN_IF_ERROR(name.status());
  if (arguments.keep > 0) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> removed,
                            store.KeepNewest(arguments.keep));
    for (const std::string& old : removed) {
      output.err << "removed " << old << "\n";
    }
  }
  if (output.form == OutputForm::kJson) {
    output.out << nlohmann::ordered_json({{"name", *name}}).dump(1) << "\n";
  } else {
    output.out << *name << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ListCheckpoints(const CheckpointArguments& arguments,
                             runtime::Files& files, const Output& output) {
  SKERRY_RETURN_IF_ERROR(RequirePlace(arguments.folder, files));
  const std::unique_ptr<runtime::BlobStores> places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places->Open(arguments.folder));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all,
                          CheckpointStore(*blobs).List());
  output.out << (output.form == OutputForm::kJson ? ListJson(all)
                                                  : ListText(all));
  return absl::OkStatus();
}

absl::Status VerifyCheckpoints(const CheckpointArguments& arguments,
                               runtime::Files& files, const Output& output) {
  SKERRY_RETURN_IF_ERROR(RequirePlace(arguments.folder, files));
  const std::unique_ptr<runtime::BlobStores> places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places->Open(arguments.folder));
  const CheckpointStore store(*blobs);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all, store.List());
  nlohmann::ordered_json json = {{"checkpoints", nlohmann::json::array()}};
  absl::Status worst = absl::NotFoundError(
      absl::StrCat(arguments.folder, " has no complete checkpoint",
                   arguments.name.empty() ? "" : " named ", arguments.name,
                   "; skerryctl checkpoint list shows what there is"));
  for (const Listed& one : all) {
    if (!arguments.name.empty() && one.name != arguments.name) continue;
    // What was never finished claims nothing, unless it is asked for.
    if (arguments.name.empty() && absl::IsNotFound(one.status)) continue;
    const absl::Status status = store.Verify(one.name);
    if (!absl::IsDataLoss(worst)) worst = status;
    const std::string verdict =
        status.ok() ? "ok" : std::string(status.message());
    json["checkpoints"].push_back({{"name", one.name}, {"verdict", verdict}});
    if (output.form == OutputForm::kTable) {
      output.out << one.name << "  " << Printable(verdict) << "\n";
    }
  }
  if (output.form == OutputForm::kJson) output.out << json.dump(1) << "\n";
  return worst;
}

absl::Status ExportCheckpoint(const CheckpointArguments& arguments,
                              runtime::Files& files, const Output& output) {
  SKERRY_RETURN_IF_ERROR(RequirePlace(arguments.folder, files));
  const std::unique_ptr<runtime::BlobStores> places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places->Open(arguments.folder));
  const CheckpointStore store(*blobs);
  const auto path = [&arguments](const std::string& file) {
    return absl::StrCat(arguments.out, "/", file);
  };
  // The latter may be all that a program's model has.
  for (const char* file : {"config.json", "model.safetensors"}) {
    if (absl::IsNotFound(files.Read(path(file)).status())) continue;
    return absl::AlreadyExistsError(
        absl::StrCat(path(file), " is there; choose another folder"));
  }
  std::string name = arguments.name;
  if (name.empty()) {
    SKERRY_ASSIGN_OR_RETURN(name, NewestIn(store, arguments.folder));
  }
  SKERRY_ASSIGN_OR_RETURN(const ModelState state,
                          checkpoint::ReadState(store, name));
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(arguments.out));
  SKERRY_RETURN_IF_ERROR(checkpoint::WriteWeights(
      state,
      {.dtype = arguments.dtype, .file_bytes_max = arguments.file_bytes_max},
      [&](const std::string& file, runtime::ByteSpan bytes) {
        return files.WriteDurably(path(file), bytes);
      }));
  if (output.form == OutputForm::kJson) {
    output.out << nlohmann::ordered_json(
                      {{"name", name}, {"folder", arguments.out}})
                      .dump(1)
               << "\n";
  } else {
    output.out << arguments.out << "\n";
    output.err << name
               << (state.program.has_value()
                       ? " with the files that its program names\n"
                       : " as transformers loads it\n");
  }
  return absl::OkStatus();
}

namespace {

void AddCreateOptions(CLI::App& app, CheckpointArguments& wanted) {
  AddJobName(app, wanted.job);
  app.add_option("--to", wanted.folder,
                 "folder of this job's checkpoints, made when it is missing, "
                 "or s3://BUCKET/PREFIX")
      ->type_name("PLACE")
      ->required();
  runtime::AddNumber(app, "--keep", wanted.keep, {0, 1'000'000},
                     "finished checkpoints that stay there; 0 keeps all")
      ->capture_default_str();
}

void AddListOptions(CLI::App& app, CheckpointArguments& wanted) {
  app.add_option("PLACE", wanted.folder,
                 "a job's checkpoints: its checkpoint.directory, or what "
                 "`checkpoint create` made; a folder or s3://BUCKET/PREFIX")
      ->required();
}

void AddVerifyOptions(CLI::App& app, CheckpointArguments& wanted) {
  AddListOptions(app, wanted);
  app.add_option("--name", wanted.name, "one of them; default: all")
      ->type_name("NAME");
}

void AddExportOptions(CLI::App& app, CheckpointArguments& wanted) {
  AddListOptions(app, wanted);
  app.add_option("--name", wanted.name, "one of them; default: the newest")
      ->type_name("NAME");
  app.add_option("--out", wanted.out, "folder to make")
      ->type_name("FOLDER")
      ->required();
  const std::map<std::string, model::Dtype> dtypes = {
      {"f32", model::Dtype::kF32},
      {"bf16", model::Dtype::kBf16},
      {"f16", model::Dtype::kF16}};
  runtime::AddWord(
      app, "--dtype", wanted.dtype, dtypes,
      "type of the weights, one of: f32, bf16 or f16; default: f32, "
      "for a job with a program each tensor's own")
      ->type_name("TYPE");
  runtime::AddNumber(app, "--file-bytes", wanted.file_bytes_max, {.low = 1},
                     "bytes of weights in one file, at most")
      ->capture_default_str();
}

}  // namespace

Command CreateCheckpointCommand() {
  return MakeCommand<CheckpointArguments>(
      {.words = "checkpoint create",
       .about = "from what the workers hold, while they go on",
       .prints = Prints::kChange,
       .add_options = AddCreateOptions,
       .run = CreateCheckpoint});
}

Command ListCheckpointsCommand() {
  return MakeCommand<CheckpointArguments>(
      {.words = "checkpoint list",
       .about = "the checkpoints in a folder",
       .add_options = AddListOptions,
       .run = ListCheckpoints});
}

Command VerifyCheckpointsCommand() {
  return MakeCommand<CheckpointArguments>(
      {.words = "checkpoint verify",
       .about = "reads all and compares hashes",
       .add_options = AddVerifyOptions,
       .run = VerifyCheckpoints});
}

Command ExportCheckpointCommand() {
  return MakeCommand<CheckpointArguments>(
      {.words = "checkpoint export",
       .about = "a folder that transformers loads",
       .add_options = AddExportOptions,
       .run = ExportCheckpoint});
}

}  // namespace skerry::cli
