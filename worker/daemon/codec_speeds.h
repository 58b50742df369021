// worker/daemon/codec_speeds.h
//
// How fast this machine encodes and decodes, measured: what an adaptive job's
// codecs are chosen by.
#ifndef SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_
#define SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "compression/codec.h"

namespace skerry::worker {

struct CodecSpeed {
  compression::CodecId codec = compression::CodecId::kRawF32;
  double encode_elements_per_s = 0;
  double decode_elements_per_s = 0;
};

// Of 1 MiB of values on the calling thread, the best of three turns, for codecs
// in the order of their numbers until `budget_s` are over; some tenths of a
// second for all. `seconds` is a clock.
std::vector<CodecSpeed> MeasureCodecs(absl::FunctionRef<double()> seconds,
                                      double budget_s);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_
