#include "cli/commands/data_prepare.h"

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/commands/byte_progress.h"
#include "cli/commands/data_set_writer.h"
#include "cli/commands/piped_inputs.h"
#include "cli/commands/prepare_inputs.h"
#include "cli/commands/prepare_record.h"
#include "cli/commands/prepare_report.h"
#include "cli/commands/shard_encoder.h"
#include "cli/commands/text_units.h"
#include "cli/threads.h"
#include "data/byte_tokenizer.h"
#include "data/manifest.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer_file.h"
#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/stopwatch.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::cli {
namespace {

absl::Status ValidateOptions(const DataPrepareOptions& options) {
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
  if (options.tokenizer.empty() && !options.document_end.empty()) {
    return absl::InvalidArgumentError(
        "--document-end is a token of a --tokenizer; name one");
  }
  return absl::OkStatus();
}

// The encoding, and the file that says what it is, empty for bytes.
struct Encoding {
  std::unique_ptr<data::TextCodec> codec;
  std::string name;
  std::string file;
  // How the file is read where that differs from what it says.
  std::vector<std::string> notes;
};

absl::StatusOr<std::optional<int32_t>> FindDocumentEnd(
    const data::TokenizerFile& file, const DataPrepareOptions& options) {
  if (options.document_end == "none") return std::optional<int32_t>();
  const std::optional<int32_t> token =
      options.document_end.empty() ? file.UsualDocumentEnd()
                                   : file.FindSpecial(options.document_end);
  if (!token.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.tokenizer, " has no special token ",
        options.document_end.empty() ? "with a usual name for a document's end"
                                     : options.document_end,
        "; name one with --document-end, or none"));
  }
  return token;
}

absl::StatusOr<Encoding> OpenEncoding(const DataPrepareOptions& options,
                                      const runtime::Files& files) {
  if (options.tokenizer.empty()) {
    return Encoding{
        data::MakeByteCodec(), std::string(data::kByteTokenizerName), "", {}};
  }
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          files.Read(options.tokenizer));
  absl::StatusOr<data::TokenizerFile> file = data::TokenizerFile::Parse(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!file.ok()) return Annotate(file.status(), options.tokenizer);
  SKERRY_ASSIGN_OR_RETURN(const std::optional<int32_t> end,
                          FindDocumentEnd(*file, options));
  Encoding encoding{nullptr,
                    std::string(file->name()),
                    file->bytes(),
                    {file->notes().begin(), file->notes().end()}};
  SKERRY_ASSIGN_OR_RETURN(
      encoding.codec,
      (*std::move(file))
          .MakeCodec(
              end, runtime::SentencePieceProgram(options.sentencepiece_program),
              options.written_specials));
  // A program that is missing is noticed before inputs are read.
  const absl::Status ready = encoding.codec->Ready();
  if (!ready.ok()) return Annotate(ready, options.tokenizer);
  return encoding;
}

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

PrepareRecord RecordOf(const DataPrepareOptions& options,
                       const PrepareInputs& inputs, const Encoding& encoding) {
  PrepareRecord record;
  record.json_key = options.lines.key;
  record.document_end = options.document_end;
  record.takes_specials_as_text =
      options.written_specials == data::TokenizerFile::WrittenSpecials::kText;
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
    const DataSetWriter::Tokenizer& tokenizer,
    const DataPrepareOptions& options, const runtime::Files& files,
    DataSetWriter& writer, std::ostream& err) {
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

// What the record has to be of is encoded by now, or is written.
absl::Status EncodeInputs(const DataPrepareOptions& options,
                          const PrepareInputs& inputs, const TextForm& form,
                          const data::TextCodec& codec,
                          runtime::ThreadPool& pool, DataSetWriter& writer,
                          PrepareRecord& record, runtime::Files& files,
                          std::ostream& err) {
  UnitEncoder units(codec, form, pool);
  ByteProgress progress(
      BytesBefore(inputs, {inputs.inputs.size(), 0}),
      record.shards.empty() ? 0
                            : BytesBefore(inputs, record.shards.back().place),
      [stopwatch = runtime::Stopwatch()] { return stopwatch.Seconds(); }, err);
  // Beside the manifest of another data set there must be no record.
  const std::string record_path =
      writer.has_manifest() ? "" : RecordPath(options.output_directory);
  ShardEncoder encoder({options.unit_bytes, pool.thread_count(), record_path},
                       inputs, codec, units, writer, record, files, progress);
  return encoder.Run();
}

}  // namespace

absl::Status DataPrepare(const DataPrepareOptions& options,
                         runtime::Files& files, const Output& output) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const int threads, ThreadsOf(options.threads));
  SKERRY_ASSIGN_OR_RETURN(const Encoding encoding,
                          OpenEncoding(options, files));
  for (const std::string& note : encoding.notes) {
    output.err << options.tokenizer << ": " << note << "\n";
  }
  data::TextCodec& codec = *encoding.codec;
  const DataSetWriter::Tokenizer tokenizer{encoding.name, encoding.file,
                                           codec.document_end()};
  // A folder that cannot be written is noticed before anything is read.
  SKERRY_ASSIGN_OR_RETURN(
      DataSetWriter writer,
      DataSetWriter::Open(options.output_directory, options.shard_tokens_max,
                          codec.vocab_size(), files));
  const TextForm form{options.lines, encoding.file.empty() ? "\n" : ""};
  runtime::ThreadPool pool("prepare", threads);
  output.err << "reading " << options.inputs.size() << " inputs\n"
             << std::flush;
  SKERRY_ASSIGN_OR_RETURN(
      const PipedInputs piped,
      PipedInputs::Keep(options.inputs, options.output_directory, files));
  SKERRY_ASSIGN_OR_RETURN(
      const PrepareInputs inputs,
      ScanInputs(piped.inputs(),
                 {.form = form,
                  .kind = options.kind,
                  .validation_fraction = options.validation_fraction,
                  .unit_bytes = options.unit_bytes},
                 files, pool));
  ReportKinds(inputs, output.err);
  SKERRY_ASSIGN_OR_RETURN(
      PrepareRecord record,
      BeginOrGoOn(RecordOf(options, inputs, encoding), inputs.splits_as_before,
                  tokenizer, options, files, writer, output.err));
  SKERRY_RETURN_IF_ERROR(EncodeInputs(options, inputs, form, codec, pool,
                                      writer, record, files, output.err));
  SKERRY_ASSIGN_OR_RETURN(const data::Manifest manifest,
                          writer.Finish(tokenizer));
  return ReportDataSet({options.output_directory, inputs, record, manifest},
                       form, codec, files, output.out);
}

}  // namespace skerry::cli
