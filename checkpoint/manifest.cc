#include "checkpoint/manifest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/file_name.h"
#include "base/json_members.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::checkpoint {
namespace {

constexpr char kFormat[] = "skerry.checkpoint/1";
// The format of a job with a program. Releases before it cannot read that.
constexpr char kProgramFormat[] = "skerry.checkpoint/2";
constexpr size_t kBytesMax = size_t{4} << 20;
constexpr size_t kFilesMax = 10000;
constexpr size_t kRangesMax = 100000;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("checkpoint manifest: ", what));
}

// Everything but the manifest's own hash.
Json Body(const Manifest& manifest) {
  Json json;
  const bool program = manifest.layout_hash.has_value();
  json["format"] = program ? kProgramFormat : kFormat;
  json["job"] = manifest.job;
  json["job_id"] = manifest.job_id;
  json["sequence"] = manifest.sequence;
  json["samples"] = manifest.samples;
  json["files"] = Json::array();
  for (const CheckpointFile& file : manifest.files) {
    json["files"].push_back(
        {{"file", file.file}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  if (manifest.order.has_value()) {
    if (program) {
      json["data_id"] = manifest.order->data_id;
      json["data_samples"] = manifest.order->data_samples;
    } else {
      json["data_sha256"] = manifest.order->data_sha256;
    }
    json["data_seed"] = manifest.order->seed;
    if (!program) json["sequence_tokens"] = manifest.order->sequence_tokens;
    json["consumed"] = Json::array();
    for (const data::SampleRange& range : manifest.consumed) {
      json["consumed"].push_back({range.begin, range.end});
    }
  }
  if (program) {
    json["layout_hash"] = absl::StrFormat("%016x", *manifest.layout_hash);
  }
  return json;
}

std::string Dump(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

std::string HashOf(const Json& body) {
  const std::string text = Dump(body);
  return Sha256Hex(std::as_bytes(std::span(text)));
}

absl::StatusOr<CheckpointFile> ParseFile(const Json& json, size_t index) {
  auto file = StringMember(json, "file");
  const auto bytes = CountMember(json, "bytes");
  auto sha256 = StringMember(json, "sha256");
  if (!file || !bytes || !sha256) {
    return Bad(absl::StrCat("file ", index, " needs file, bytes and sha256"));
  }
  return CheckpointFile{*std::move(file), *bytes, *std::move(sha256)};
}

absl::StatusOr<uint64_t> ParseHash(const Json& json) {
  const auto text = StringMember(json, "layout_hash");
  uint64_t hash = 0;
  if (!text || !absl::SimpleHexAtoi(*text, &hash) ||
      *text != absl::StrFormat("%016x", hash)) {
    return Bad("needs layout_hash, 16 lower-case hex digits");
  }
  return hash;
}

absl::StatusOr<SampleOrder> ParseOrder(const Json& json, bool program) {
  const auto seed = CountMember(json, "data_seed");
  if (program) {
    auto id = StringMember(json, "data_id");
    const auto samples = CountMember(json, "data_samples");
    if (!id || !samples || !seed) {
      return Bad("consumed needs data_id, data_samples and data_seed");
    }
    return SampleOrder{"", *seed, 0, *std::move(id), *samples};
  }
  auto sha256 = StringMember(json, "data_sha256");
  const auto tokens = CountMember(json, "sequence_tokens");
  if (!sha256 || !seed || !tokens) {
    return Bad("consumed needs data_sha256, data_seed and sequence_tokens");
  }
  return SampleOrder{*std::move(sha256), *seed, *tokens};
}

// Nothing is read where nothing is said.
absl::Status ParseSamples(const Json& json, Manifest& manifest) {
  const Json* consumed = FindMember(json, "consumed");
  if (consumed == nullptr) return absl::OkStatus();
  if (!consumed->is_array() || consumed->size() > kRangesMax) {
    return Bad("consumed is no list, or too long");
  }
  SKERRY_ASSIGN_OR_RETURN(manifest.order,
                          ParseOrder(json, manifest.layout_hash.has_value()));
  for (const Json& range : *consumed) {
    if (!range.is_array() || range.size() != 2 ||
        !range[0].is_number_unsigned() || !range[1].is_number_unsigned()) {
      return Bad("consumed holds something other than [begin, end]");
    }
    manifest.consumed.push_back(
        {range[0].get<uint64_t>(), range[1].get<uint64_t>()});
  }
  return absl::OkStatus();
}

absl::Status ValidateSamples(const Manifest& manifest) {
  if (!manifest.order.has_value()) {
    return manifest.consumed.empty() ? absl::OkStatus()
                                     : Bad("consumed of an unknown order");
  }
  const SampleOrder& order = *manifest.order;
  if (manifest.layout_hash.has_value()) {
    if (!order.data_sha256.empty() || order.sequence_tokens != 0) {
      return Bad("has a data set, but is of a job with a program");
    }
  } else if (!IsSha256Hex(order.data_sha256)) {
    return Bad("has a malformed data_sha256");
  } else if (!order.data_id.empty() || order.data_samples != 0) {
    return Bad("has a program's data, but no layout_hash");
  }
  const data::RangeSet set(manifest.consumed);
  if (set.ranges().size() != manifest.consumed.size() ||
      !std::equal(set.ranges().begin(), set.ranges().end(),
                  manifest.consumed.begin())) {
    return Bad("consumed does not ascend");
  }
  if (set.total() != manifest.samples) {
    return Bad(absl::StrCat("consumed holds ", set.total(), " samples, not ",
                            manifest.samples));
  }
  return absl::OkStatus();
}

}  // namespace

const CheckpointFile* FindInnerState(const Manifest& manifest) {
  for (const CheckpointFile& file : manifest.files) {
    if (file.file == kInnerStateFile) return &file;
  }
  return nullptr;
}

absl::Status ValidateManifest(const Manifest& manifest) {
  if (manifest.job.empty()) return Bad("names no job");
  if (manifest.files.size() > kFilesMax) return Bad("lists too many files");
  absl::btree_set<std::string> names;
  for (const CheckpointFile& file : manifest.files) {
    if (!IsPlainFileName(file.file) || file.file == kManifestFile) {
      return Bad(absl::StrCat("file \"", file.file,
                              "\" is no name beside the manifest"));
    }
    if (!names.insert(file.file).second) {
      return Bad(absl::StrCat("lists ", file.file, " twice"));
    }
    if (!IsSha256Hex(file.sha256)) {
      return Bad(absl::StrCat(file.file, " has a malformed sha256"));
    }
  }
  return ValidateSamples(manifest);
}

absl::StatusOr<Manifest> ParseManifest(std::string_view text) {
  if (text.size() > kBytesMax) return Bad("is too large");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad("is not a JSON object");
  const auto format = StringMember(json, "format");
  const bool program = format == std::string(kProgramFormat);
  if (!program && format != std::string(kFormat)) {
    return Bad(absl::StrCat("format is not ", kFormat, " or ", kProgramFormat));
  }
  auto job = StringMember(json, "job");
  const auto job_id = CountMember(json, "job_id");
  const auto sequence = CountMember(json, "sequence");
  const auto samples = CountMember(json, "samples");
  const Json* files = FindMember(json, "files");
  const auto own = StringMember(json, "manifest_sha256");
  if (!job || !job_id || !sequence || !samples || !own || files == nullptr ||
      !files->is_array() || files->size() > kFilesMax) {
    return Bad(
        "needs job, job_id, sequence, samples, files and manifest_sha256");
  }
  Manifest manifest{*std::move(job), *job_id, *sequence, *samples, {}};
  for (size_t i = 0; i < files->size(); ++i) {
    SKERRY_ASSIGN_OR_RETURN(CheckpointFile file, ParseFile((*files)[i], i));
    manifest.files.push_back(std::move(file));
  }
  if (program) {
    SKERRY_ASSIGN_OR_RETURN(manifest.layout_hash, ParseHash(json));
  }
  SKERRY_RETURN_IF_ERROR(ParseSamples(json, manifest));
  SKERRY_RETURN_IF_ERROR(ValidateManifest(manifest));
  if (HashOf(Body(manifest)) != *own) {
    return absl::DataLossError(
        "checkpoint manifest: its content does not have the hash it names");
  }
  return manifest;
}

std::string SerializeManifest(const Manifest& manifest) {
  SKERRY_CHECK(ValidateManifest(manifest).ok());
  Json json = Body(manifest);
  const std::string own = HashOf(json);
  json["manifest_sha256"] = own;
  return Dump(json);
}

}  // namespace skerry::checkpoint
