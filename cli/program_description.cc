#include "cli/program_description.h"

#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/read_file.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::json;

constexpr size_t kFileBytesMax = size_t{64} << 20;
constexpr int kDepthMax = 16;
constexpr size_t kTensorsMax = 1'000'000;
constexpr size_t kDimensionsMax = 64;
constexpr uint64_t kCountMax = uint64_t{1} << 48;
constexpr double kSecondsMax = 1e9;
constexpr double kFlopsMax = 1e30;

absl::Status Bad(absl::string_view member, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(member, ": ", what));
}

// Null unless the text is one JSON object of moderate depth.
Json ParseObject(std::string_view text) {
  bool deep = false;
  Json parsed = Json::parse(
      text.begin(), text.end(),
      [&deep](int depth, Json::parse_event_t, Json&) {
        deep |= depth > kDepthMax;
        return !deep;
      },
      /*allow_exceptions=*/false);
  return deep || !parsed.is_object() ? Json() : parsed;
}

absl::StatusOr<uint64_t> CountAt(const Json& object, const char* member,
                                 uint64_t least) {
  const auto it = object.find(member);
  if (it == object.end()) return Bad(member, "is missing");
  if (!it->is_number_unsigned() || it->get<uint64_t>() < least ||
      it->get<uint64_t>() > kCountMax) {
    return Bad(member, absl::StrCat("has to be a whole number from ", least,
                                    " to ", kCountMax));
  }
  return it->get<uint64_t>();
}

absl::StatusOr<double> NumberAt(const Json& object, const char* member,
                                bool zero, double most) {
  const auto it = object.find(member);
  if (it == object.end()) return Bad(member, "is missing");
  const double value = it->is_number() ? it->get<double>() : NAN;
  if (!(zero ? value >= 0 : value > 0) || value > most) {
    return Bad(member, absl::StrCat("has to be a number ",
                                    zero ? "from 0" : "above 0", " to ", most));
  }
  return value;
}

// Elements of one tensor; a single value has no dimensions.
absl::StatusOr<uint64_t> SizeOf(const Json& tensor, const std::string& where) {
  if (!tensor.is_object()) return Bad(where, "has to be an object");
  const auto name = tensor.find("name");
  if (name == tensor.end() || !name->is_string()) {
    return Bad(where, "needs a name");
  }
  const auto shape = tensor.find("shape");
  if (shape == tensor.end() || !shape->is_array() ||
      shape->size() > kDimensionsMax) {
    return Bad(where, absl::StrCat("needs a shape of at most ", kDimensionsMax,
                                   " numbers"));
  }
  uint64_t size = 1;
  for (const Json& count : *shape) {
    if (!count.is_number_unsigned() || count.get<uint64_t>() > kCountMax ||
        (size > 0 && count.get<uint64_t>() > kCountMax / size)) {
      return Bad(where, "has a shape that no model has");
    }
    size *= count.get<uint64_t>();
  }
  return size;
}

absl::Status CheckTensors(const Json& object, uint64_t elements) {
  constexpr char kMember[] = "tensors";
  const auto tensors = object.find(kMember);
  if (tensors == object.end()) return Bad(kMember, "is missing");
  if (!tensors->is_array() || tensors->size() > kTensorsMax) {
    return Bad(kMember, absl::StrCat("has to be a list of at most ",
                                     kTensorsMax, " tensors"));
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < tensors->size(); ++i) {
    SKERRY_ASSIGN_OR_RETURN(
        const uint64_t size,
        SizeOf((*tensors)[i], absl::StrCat(kMember, "[", i, "]")));
    sum += size;
    if (sum > elements) break;
  }
  if (sum == elements) return absl::OkStatus();
  return Bad(kMember,
             absl::StrCat("do not add up to elements, which is ", elements));
}

}  // namespace

absl::StatusOr<ProgramDescription> ParseProgramDescription(
    std::string_view text) {
  const Json object = ParseObject(text);
  if (object.is_null()) {
    return absl::InvalidArgumentError(
        "has to be the JSON object that `python -m skerry describe` prints");
  }
  ProgramDescription description;
  SKERRY_ASSIGN_OR_RETURN(description.elements, CountAt(object, "elements", 1));
  SKERRY_ASSIGN_OR_RETURN(
      description.flops_per_sample,
      NumberAt(object, "flops_per_sample", /*zero=*/true, kFlopsMax));
  SKERRY_ASSIGN_OR_RETURN(
      description.step_s,
      NumberAt(object, "step_s", /*zero=*/false, kSecondsMax));
  SKERRY_ASSIGN_OR_RETURN(description.samples_per_step,
                          CountAt(object, "samples_per_step", 1));
  SKERRY_ASSIGN_OR_RETURN(description.peak_memory_bytes,
                          CountAt(object, "peak_memory_bytes", 0));
  SKERRY_RETURN_IF_ERROR(CheckTensors(object, description.elements));
  return description;
}

absl::StatusOr<ProgramDescription> ReadProgramDescription(
    const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(path, kFileBytesMax));
  absl::StatusOr<ProgramDescription> description =
      ParseProgramDescription(text);
  if (description.ok()) return description;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", description.status().message()));
}

}  // namespace skerry::cli
