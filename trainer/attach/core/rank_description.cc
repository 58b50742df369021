#include "trainer/attach/core/rank_description.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/hash.h"
#include "base/status.h"
#include "model/spec/parameter_layout.h"
#include "trainer/attach/core/one_line.h"

namespace skerry::trainer::attach {
namespace {

absl::Status Wrong(const absl::AlphaNum& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the program's description is wrong: ", what));
}

// How messages name something that a program has named.
std::string Quoted(absl::string_view name) {
  return absl::StrCat("'", OneLine(name.substr(0, 100)), "'");
}

bool HasControl(absl::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
}

bool IsTensorName(absl::string_view name) {
  return !name.empty() && name.size() <= kTensorNameBytesMax &&
         !HasControl(name);
}

// What the layout hash takes in for a tensor that is averaged.
constexpr uint64_t kAverageMark = 2;

// The elements of a tensor; 0 when they are none or more than kElementsMax.
uint64_t ElementsOf(const ModelTensor& tensor) {
  uint64_t elements = 1;
  for (const uint64_t extent : tensor.shape) {
    if (extent == 0 || extent > kElementsMax / elements) return 0;
    elements *= extent;
  }
  return elements;
}

absl::Status CheckNames(const ModelTensor& tensor,
                        absl::btree_set<absl::string_view>& names) {
  const auto check = [&](const std::string& name) {
    if (!IsTensorName(name)) {
      return Wrong(absl::StrCat(
          "the name ", Quoted(name), " of a tensor has ", name.size(),
          " bytes, of 1 to ", kTensorNameBytesMax, ", or a control character"));
    }
    if (!names.insert(name).second) {
      return Wrong(
          absl::StrCat("the tensor name ", Quoted(name), " is there twice"));
    }
    return absl::OkStatus();
  };
  SKERRY_RETURN_IF_ERROR(check(tensor.name));
  for (const std::string& tied : tensor.tied) {
    SKERRY_RETURN_IF_ERROR(check(tied));
  }
  return absl::OkStatus();
}

// Where a tensor begins that comes after elements [0, end).
uint64_t OffsetAfter(uint64_t end, bool begins_averages) {
  constexpr auto kMultiple = static_cast<uint64_t>(model::kAverageAlignment);
  return begins_averages ? (end + kMultiple - 1) / kMultiple * kMultiple : end;
}

absl::Status WrongOffset(const ModelTensor& tensor, uint64_t due,
                         bool begins_averages) {
  return Wrong(absl::StrCat(
      "the tensor ", Quoted(tensor.name), " begins at element ", tensor.offset,
      begins_averages ? absl::StrCat(", the averaged ones begin at ", due)
                      : absl::StrCat(", the one before it ends at ", due)));
}

// The tensors cover [0, element_count) in their order, and nothing else but the
// gap before those that are averaged.
absl::Status CheckTensors(const Description& description) {
  if (description.tensors.empty() || description.tensors.size() > kTensorsMax) {
    return Wrong(absl::StrCat("it has ", description.tensors.size(),
                              " tensors, of 1 to ", kTensorsMax));
  }
  absl::btree_set<absl::string_view> names;
  uint64_t end = 0;
  uint64_t average_begin = 0;
  for (const ModelTensor& tensor : description.tensors) {
    SKERRY_RETURN_IF_ERROR(CheckNames(tensor, names));
    if (tensor.average ? end == 0 : average_begin != 0) {
      return Wrong(absl::StrCat("the tensor ", Quoted(tensor.name),
                                tensor.average
                                    ? " is averaged, and is the first"
                                    : " comes after averaged ones, and is not "
                                      "averaged"));
    }
    if (tensor.shape.size() > kDimensionsMax) {
      return Wrong(absl::StrCat("the tensor ", Quoted(tensor.name), " has ",
                                tensor.shape.size(), " dimensions, at most ",
                                kDimensionsMax));
    }
    const uint64_t elements = ElementsOf(tensor);
    if (elements == 0 || elements > kElementsMax - end) {
      return Wrong(absl::StrCat("the tensor ", Quoted(tensor.name),
                                " has no element, or the model has more than ",
                                kElementsMax));
    }
    const bool begins_averages = tensor.average && average_begin == 0;
    end = OffsetAfter(end, begins_averages);
    if (tensor.offset != end) return WrongOffset(tensor, end, begins_averages);
    if (begins_averages) average_begin = end;
    end += elements;
  }
  if (description.average_begin != average_begin) {
    return Wrong(absl::StrCat("averageBegin is ", description.average_begin,
                              ", the averaged tensors begin at ",
                              average_begin));
  }
  if (description.element_count != end) {
    return Wrong(absl::StrCat("elementCount is ", description.element_count,
                              ", the tensors have ", end, " elements"));
  }
  return absl::OkStatus();
}

bool IsPlainFileName(absl::string_view name) {
  return !name.empty() && name.size() <= kExportFileNameBytesMax &&
         name != "." && name != ".." &&
         name.find('/') == absl::string_view::npos && !HasControl(name);
}

absl::Status CheckFiles(std::span<const model::ExportFile> files) {
  if (files.size() > kExportFilesMax) {
    return Wrong(absl::StrCat("it has ", files.size(),
                              " export files, at most ", kExportFilesMax));
  }
  absl::btree_set<absl::string_view> names;
  size_t bytes = 0;
  for (const model::ExportFile& file : files) {
    if (!IsPlainFileName(file.name)) {
      return Wrong(absl::StrCat("the export file ", Quoted(file.name),
                                " has no plain file name"));
    }
    if (!names.insert(file.name).second) {
      return Wrong(absl::StrCat("the export file ", Quoted(file.name),
                                " is there twice"));
    }
    bytes += file.content.size();
  }
  if (bytes > kExportBytesMax) {
    return Wrong(absl::StrCat("the export files have ", bytes,
                              " bytes together, at most ", kExportBytesMax));
  }
  return absl::OkStatus();
}

bool SameTensors(const Description& a, const Description& b) {
  return std::equal(
      a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
      [](const ModelTensor& one, const ModelTensor& other) {
        return one.name == other.name && one.shape == other.shape &&
               one.dtype == other.dtype && one.offset == other.offset &&
               one.tied == other.tied && one.average == other.average;
      });
}

absl::Status CheckEqual(std::span<const Description> ranks) {
  for (size_t rank = 1; rank < ranks.size(); ++rank) {
    if (ranks[rank].element_count == ranks[0].element_count &&
        ranks[rank].layout_hash == ranks[0].layout_hash &&
        SameTensors(ranks[0], ranks[rank])) {
      continue;
    }
    return Wrong(absl::StrCat("rank ", rank,
                              " has other tensors, elementCount or layoutHash "
                              "than rank 0"));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t LayoutHash(std::span<const ModelTensor> tensors, uint64_t own) {
  uint64_t hash = 0;
  for (const ModelTensor& tensor : tensors) {
    hash = CombineHash(hash, Hash64Of(std::span<const char>(tensor.name)));
    hash = CombineHash(hash, Hash64Of(std::span<const uint64_t>(tensor.shape)));
    if (tensor.average) hash = CombineHash(hash, kAverageMark);
  }
  if (own != 0) hash = CombineHash(hash, own);
  // 0 says that the layout is not known.
  return hash == 0 ? 1 : hash;
}

absl::StatusOr<Description> MergeDescriptions(
    std::span<const Description> ranks, uint64_t data_samples) {
  SKERRY_RETURN_IF_ERROR(CheckTensors(ranks[0]));
  SKERRY_RETURN_IF_ERROR(CheckFiles(ranks[0].export_files));
  SKERRY_RETURN_IF_ERROR(CheckEqual(ranks));
  Description merged = ranks[0];
  if (merged.epoch_samples == 0) merged.epoch_samples = data_samples;
  if (merged.epoch_samples == 0) {
    return Wrong("epochSamples is 0, and the job has no data.samples");
  }
  if (!std::isfinite(merged.flops_per_sample) || merged.flops_per_sample < 0) {
    return Wrong("flopsPerSample is negative or not finite");
  }
  merged.initial_hash = 0;
  merged.layout_hash = LayoutHash(merged.tensors, merged.layout_hash);
  merged.capabilities.groups = false;
  merged.capabilities.saves_inner = std::all_of(
      ranks.begin(), ranks.end(),
      [](const Description& rank) { return rank.capabilities.saves_inner; });
  merged.capabilities.ranks = static_cast<uint32_t>(ranks.size());
  return merged;
}

}  // namespace skerry::trainer::attach
