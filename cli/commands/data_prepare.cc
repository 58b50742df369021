#include "cli/commands/data_prepare.h"

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/commands/byte_progress.h"
#include "cli/commands/data_set_writer.h"
#include "cli/commands/prepare_inputs.h"
#include "cli/commands/prepare_record.h"
#include "cli/commands/shard_encoder.h"
#include "cli/commands/text_units.h"
#include "cli/threads.h"
#include "data/byte_tokenizer.h"
#include "data/manifest.h"
#include "data/ngram_entropy.h"
#include "data/token_shard.h"
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
      encoding.codec, (*std::move(file))
                          .MakeCodec(end, runtime::SentencePieceProgram(
                                              options.sentencepiece_program)));
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
  record.json_key = options.json_key;
  record.document_end = options.document_end;
  record.validation_fraction = options.validation_fraction;
  record.shard_tokens = options.shard_tokens_max;
  if (!encoding.file.empty()) {
    record.tokenizer_sha256 = Sha256Hex(BytesOf(encoding.file));
  }
  for (const PrepareInput& input : inputs.inputs) {
    record.inputs.push_back({input.path, input.bytes, input.sha256});
  }
  return record;
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

// The bytes of a split, the first so many.
absl::StatusOr<std::string> SplitBytes(const DataPrepareOptions& options,
                                       const data::Manifest& manifest,
                                       data::Split split, size_t bytes_max,
                                       const runtime::Files& files) {
  std::string text;
  for (const data::ShardEntry& entry : manifest.shards) {
    if (entry.split != split || text.size() >= bytes_max) continue;
    SKERRY_ASSIGN_OR_RETURN(
        const std::vector<std::byte> bytes,
        files.Read(absl::StrCat(options.output_directory, "/", entry.file)));
    SKERRY_ASSIGN_OR_RETURN(const data::TokenShard shard,
                            data::TokenShard::Parse(bytes));
    std::vector<int32_t> tokens(shard.size());
    shard.Read(0, tokens);
    text.append(tokens.begin(), tokens.end());
  }
  return text.substr(0, bytes_max);
}

absl::Status ReportEntropy(const DataPrepareOptions& options,
                           const data::Manifest& manifest,
                           const runtime::Files& files, std::ostream& out) {
  constexpr size_t kBytesMax = 1 << 30;
  SKERRY_ASSIGN_OR_RETURN(
      const std::string validation,
      SplitBytes(options, manifest, data::Split::kValidation, kBytesMax,
                 files));
  if (validation.size() < 3) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(
      const std::string training,
      SplitBytes(options, manifest, data::Split::kTrain, kBytesMax, files));
  SKERRY_ASSIGN_OR_RETURN(const data::NgramEntropy entropy,
                          data::MeasureNgramEntropy(training, validation));
  out << absl::StrFormat("validation, nats a byte: bigram %.4f, trigram %.4f\n",
                         entropy.bigram, entropy.trigram);
  return absl::OkStatus();
}

absl::Status Report(const DataPrepareOptions& options,
                    const PrepareInputs& inputs, const data::Manifest& manifest,
                    const runtime::Files& files, std::ostream& out) {
  out << DataSetLine(options.output_directory, manifest);
  if (manifest.tokenizer == data::kByteTokenizerName) {
    return ReportEntropy(options, manifest, files, out);
  }
  const uint64_t bytes = inputs.training_bytes + inputs.validation_bytes;
  const uint64_t tokens = data::TokenCount(manifest, data::Split::kTrain) +
                          data::TokenCount(manifest, data::Split::kValidation);
  out << absl::StrFormat(
      "%.3f bytes a token\n",
      static_cast<double>(bytes) / static_cast<double>(tokens));
  return absl::OkStatus();
}

// Takes over what the folder holds of the data set. Errors: AlreadyExists when
// it holds another.
absl::StatusOr<PrepareRecord> BeginOrGoOn(const DataPrepareOptions& options,
                                          PrepareRecord wanted,
                                          const std::string& record_path,
                                          const runtime::Files& files,
                                          DataSetWriter& writer,
                                          std::ostream& err) {
  SKERRY_ASSIGN_OR_RETURN(const std::optional<PrepareRecord> found,
                          FindRecord(record_path, files));
  if (!found.has_value()) return wanted;
  SKERRY_RETURN_IF_ERROR(
      Annotate(SameDataSet(*found, wanted), options.output_directory));
  SKERRY_ASSIGN_OR_RETURN(
      wanted.shards, TakeFinishedShards(options.output_directory, found->shards,
                                        files, writer));
  if (!wanted.shards.empty()) {
    err << "going on after " << wanted.shards.size() << " finished shards\n";
  }
  return wanted;
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
  const data::TextCodec& codec = *encoding.codec;
  // A folder that cannot be written is noticed before anything is read.
  SKERRY_ASSIGN_OR_RETURN(
      DataSetWriter writer,
      DataSetWriter::Open(options.output_directory, options.shard_tokens_max,
                          codec.vocab_size(), files));
  const bool is_bytes = encoding.file.empty();
  const TextForm form{options.json_key, is_bytes ? "\n" : ""};
  runtime::ThreadPool pool("prepare", threads);
  output.err << "reading " << options.inputs.size() << " inputs\n"
             << std::flush;
  SKERRY_ASSIGN_OR_RETURN(const PrepareInputs inputs,
                          ScanInputs(options.inputs, form,
                                     options.validation_fraction, files, pool));
  const std::string record_path = absl::StrCat(
      options.output_directory, "/",
      absl::string_view(kPrepareRecordFile.data(), kPrepareRecordFile.size()));
  SKERRY_ASSIGN_OR_RETURN(
      PrepareRecord record,
      BeginOrGoOn(options, RecordOf(options, inputs, encoding), record_path,
                  files, writer, output.err));
  // Beside the manifest of another data set there must be none.
  const bool keeps_record = !writer.has_manifest();
  UnitEncoder units(codec, form, pool);
  ByteProgress progress(
      BytesBefore(inputs, {inputs.inputs.size(), 0}),
      record.shards.empty() ? 0
                            : BytesBefore(inputs, record.shards.back().place),
      [stopwatch = runtime::Stopwatch()] { return stopwatch.Seconds(); },
      output.err);
  ShardEncoder encoder(
      {options.unit_bytes, threads, keeps_record ? record_path : ""}, inputs,
      codec, units, writer, record, files, progress);
  SKERRY_RETURN_IF_ERROR(encoder.Run());
  SKERRY_ASSIGN_OR_RETURN(
      const data::Manifest manifest,
      writer.Finish({encoding.name, encoding.file, codec.document_end()}));
  return Report(options, inputs, manifest, files, output.out);
}

}  // namespace skerry::cli
