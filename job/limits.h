// job/limits.h
//
// Defines the bounds of a job's numbers and texts. Each is written once, for
// the validator, the decoders of messages and the trainer's own options.
#ifndef SKERRY_JOB_LIMITS_H_
#define SKERRY_JOB_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace skerry::job {

inline constexpr size_t kLabelBytesMax = 63;
inline constexpr size_t kConfigBytesMax = 256 * 1024;
// The parameters of a program, and how deep they are nested.
inline constexpr size_t kParametersBytesMax = 64 * 1024;
inline constexpr int kParametersDepthMax = 64;
inline constexpr size_t kDataIdBytesMax = 256;
inline constexpr size_t kPathBytesMax = 4096;
inline constexpr size_t kIslandNameBytesMax = 256;

// Samples of a round, and weights in fp32 sums, stay exact below this.
inline constexpr uint64_t kSamplesMax = uint64_t{1} << 48;
// Samples that a worker draws for one inner step.
inline constexpr uint32_t kBatchMax = 1 << 20;
// Rows that a trainer computes at once.
inline constexpr uint32_t kMicroBatchMax = 1 << 16;
inline constexpr uint32_t kTauMax = 1 << 20;
inline constexpr uint32_t kEvaluateMax = 1 << 30;
inline constexpr uint32_t kSequenceTokensMax = 1 << 24;
inline constexpr double kLearningRateMax = 10;
inline constexpr double kWeightDecayMax = 10;

inline constexpr uint32_t kReplicasMax = 1024;
inline constexpr uint32_t kCarryMax = 64;
inline constexpr uint32_t kSpansMax = 4096;
inline constexpr uint32_t kFragmentsMax = 64;

inline constexpr size_t kIslandsMax = 1024;
inline constexpr uint32_t kWorkersMax = 1'000'000;
inline constexpr int32_t kPriorityMax = 1000;
inline constexpr uint32_t kCheckpointEveryMax = 1 << 20;
inline constexpr uint32_t kCheckpointsKeptMax = 1024;

}  // namespace skerry::job

#endif  // SKERRY_JOB_LIMITS_H_
