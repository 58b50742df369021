// trainer/attach/core/rank_description.h
//
// Makes the trainer's description of what the ranks say of their model, and
// checks it.
#ifndef SKERRY_TRAINER_ATTACH_CORE_RANK_DESCRIPTION_H_
#define SKERRY_TRAINER_ATTACH_CORE_RANK_DESCRIPTION_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer::attach {

// Bounds of what a rank may say (docs/formats/attach.md).
inline constexpr uint64_t kElementsMax = uint64_t{1} << 40;
inline constexpr size_t kTensorsMax = size_t{1} << 18;
inline constexpr size_t kTensorNameBytesMax = 512;
inline constexpr size_t kDimensionsMax = 32;
inline constexpr size_t kExportFilesMax = 64;
inline constexpr size_t kExportFileNameBytesMax = 255;
inline constexpr size_t kExportBytesMax = size_t{16} << 20;

// `ranks` are the ranks' answers in order, one at least. `data_samples` is what
// the job says of the samples of an epoch, 0 for nothing; it fills in what the
// program does not say. The result has rank 0's numbers and files, a layout
// hash, no initial hash, and no groups. Errors: InvalidArgument, one line with
// what is wrong in which rank.
absl::StatusOr<Description> MergeDescriptions(
    std::span<const Description> ranks, uint64_t data_samples);

// XXH3-64 over names, shapes and order of the tensors, and `own`, what the
// program wants to be equal beside them; docs/formats/attach.md defines it.
// With `own` 0 it is what the engine says of the same tensors.
uint64_t LayoutHash(std::span<const ModelTensor> tensors, uint64_t own);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_RANK_DESCRIPTION_H_
