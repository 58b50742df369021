#include "data/prepare/prepare_data_set.h"

#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/prepare/byte_progress.h"
#include "data/prepare/shard_encoder.h"
#include "data/tokenizer_file.h"

namespace skerry::data {
namespace {

absl::Status ValidateOptions(const PrepareOptions& options) {
  if (options.inputs.empty()) {
    return absl::InvalidArgumentError("name at least one text file");
  }
  if (options.output_directory.empty()) {
    return absl::InvalidArgumentError("name a directory for the data set");
  }
  if (!(options.validation_fraction >= 0 &&
        options.validation_fraction <= 0.5)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--validation must be 0 to 0.5, not ", options.validation_fraction));
  }
  if (options.encoding.tokenizer.empty() &&
      !options.encoding.document_end.empty()) {
    return absl::InvalidArgumentError(
        "--document-end is a token of a --tokenizer; name one");
  }
  return absl::OkStatus();
}

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

PrepareRecord RecordOf(const PrepareOptions& options,
                       const PrepareInputs& inputs, const Encoding& encoding) {
  PrepareRecord record;
  record.json_key = options.lines.key;
  record.document_end = options.encoding.document_end;
  record.takes_specials_as_text = options.encoding.written_specials ==
                                  TokenizerFile::WrittenSpecials::kText;
  record.validation_fraction = options.validation_fraction;
  record.shard_tokens = options.shard_tokens_max;
  if (!encoding.file.empty()) {
    record.tokenizer_sha256 = Sha256Hex(BytesOf(encoding.file));
  }
  PrepareRecord::Found found{.validation = inputs.validation,
                             .training_bytes = inputs.training_bytes,
                             .validation_bytes = inputs.validation_bytes,
                             .documents = inputs.documents()};
  for (const PrepareInput& input : inputs.inputs) {
    record.inputs.push_back({input.file.path, input.bytes, input.sha256});
    found.empty_documents += input.lines.empty;
    found.skipped_lines += input.lines.skipped;
  }
  record.found = found;
  return record;
}

std::string RecordPath(const std::string& directory) {
  return absl::StrCat(
      directory, "/",
      absl::string_view(kPrepareRecordFile.data(), kPrepareRecordFile.size()));
}

// What a run before this has left in the folder; none when there is nothing.
absl::StatusOr<std::optional<PrepareRecord>> FindRecord(
    const std::string& path, const runtime::Files& files) {
  const auto bytes = files.Read(path);
  if (absl::IsNotFound(bytes.status())) return std::optional<PrepareRecord>();
  SKERRY_RETURN_IF_ERROR(bytes.status());
  auto record = ParsePrepareRecord(TextOf(*bytes));
  if (record.ok()) return std::optional<PrepareRecord>(*std::move(record));
  return absl::AlreadyExistsError(
      absl::StrCat(path, " ", record.status().message(),
                   "; remove it, or choose another directory"));
}

// Takes over what the folder holds of the data set. Errors: AlreadyExists when
// it holds another, or files that are in the way.
absl::StatusOr<PrepareRecord> BeginOrGoOn(
    const PrepareRecord& wanted, bool splits_as_before,
    const DataSetWriter::Tokenizer& tokenizer, const PrepareOptions& options,
    const runtime::Files& files, DataSetWriter& writer, std::ostream& err) {
  SKERRY_ASSIGN_OR_RETURN(
      const std::optional<PrepareRecord> found,
      FindRecord(RecordPath(options.output_directory), files));
  PrepareRecord record = wanted;
  if (!found.has_value()) {
    if (!writer.has_manifest()) {
      SKERRY_RETURN_IF_ERROR(writer.CheckFree(tokenizer));
    }
    writer.GoOn();
    return record;
  }
  SKERRY_RETURN_IF_ERROR(Annotate(SameDataSet(*found, wanted, splits_as_before),
                                  options.output_directory));
  writer.GoOn();
  SKERRY_ASSIGN_OR_RETURN(record.shards,
                          TakeFinishedShards(found->shards, writer));
  if (!record.shards.empty()) {
    err << "going on after " << record.shards.size() << " finished shards\n";
  }
  return record;
}

// A line for each input whose kind is not plain text: how it is read.
void TellKinds(const PrepareInputs& inputs, std::ostream& err) {
  for (const PrepareInput& input : inputs.inputs) {
    const std::string_view packing = PackingName(input.packing);
    if (!input.is_json_lines() && packing.empty()) continue;
    err << input.file.path << " is read as "
        << (input.is_json_lines() ? "JSON lines" : "text")
        << (packing.empty() ? "" : " in ") << packing << "\n";
  }
}

// What the record has to be of is encoded by now, or is written.
absl::Status EncodeInputs(const PrepareOptions& options,
                          const PrepareInputs& inputs, const TextForm& form,
                          const TextCodec& codec, const PrepareMachine& machine,
                          DataSetWriter& writer, PrepareRecord& record) {
  UnitEncoder units(codec, form, machine.executor);
  ByteProgress progress(BytesBefore(inputs, {inputs.inputs.size(), 0}),
                        record.shards.empty()
                            ? 0
                            : BytesBefore(inputs, record.shards.back().place),
                        machine.seconds, machine.err);
  // Beside the manifest of another data set there must be no record.
  const std::string record_path =
      writer.has_manifest() ? "" : RecordPath(options.output_directory);
  ShardEncoder encoder(
      {options.unit_bytes, machine.executor.thread_count(), record_path},
      inputs, codec, units, writer, record, machine.files, progress);
  return encoder.Run();
}

}  // namespace

absl::StatusOr<PreparedSet> PrepareDataSet(const PrepareOptions& options,
                                           const PrepareMachine& machine) {
  runtime::Files& files = machine.files;
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  SKERRY_ASSIGN_OR_RETURN(
      Encoding encoding,
      OpenEncoding(options.encoding, machine.sentencepiece, files));
  for (const std::string& note : encoding.notes) {
    machine.err << options.encoding.tokenizer << ": " << note << "\n";
  }
  const TextCodec& codec = *encoding.codec;
  const DataSetWriter::Tokenizer tokenizer{encoding.name, encoding.file,
                                           codec.document_end()};
  // A folder that cannot be written is noticed before anything is read.
  SKERRY_ASSIGN_OR_RETURN(
      DataSetWriter writer,
      DataSetWriter::Open(options.output_directory, options.shard_tokens_max,
                          codec.vocab_size(), files));
  const TextForm form{options.lines, encoding.file.empty() ? "\n" : ""};
  const size_t count = options.inputs.size();
  machine.err << "reading " << count << (count == 1 ? " input\n" : " inputs\n")
              << std::flush;
  SKERRY_ASSIGN_OR_RETURN(
      PipedInputs piped,
      PipedInputs::Keep(options.inputs, options.output_directory, files));
  SKERRY_ASSIGN_OR_RETURN(
      PrepareInputs inputs,
      ScanInputs(piped.inputs(),
                 {.form = form,
                  .kind = options.kind,
                  .validation_fraction = options.validation_fraction,
                  .unit_bytes = options.unit_bytes},
                 files, machine.executor));
  TellKinds(inputs, machine.err);
  SKERRY_ASSIGN_OR_RETURN(
      PrepareRecord record,
      BeginOrGoOn(RecordOf(options, inputs, encoding), inputs.splits_as_before,
                  tokenizer, options, files, writer, machine.err));
  SKERRY_RETURN_IF_ERROR(
      EncodeInputs(options, inputs, form, codec, machine, writer, record));
  SKERRY_ASSIGN_OR_RETURN(Manifest manifest, writer.Finish(tokenizer));
  return PreparedSet{std::move(writer),        std::move(piped),
                     std::move(inputs),        std::move(record),
                     std::move(manifest),      form,
                     std::move(encoding.codec)};
}

}  // namespace skerry::data
