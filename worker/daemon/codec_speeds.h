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

// Of 4 MiB of values on the calling thread, which with what becomes of them
// stay in no cache of one core, as spans of large models do not; more would
// keep a worker that was started again from other work for a second. A turn
// goes through all codecs in the order of their numbers; the best of three
// turns counts, or of as many as `budget_s` allow, which is looked at before
// each codec. A codec that no turn has reached is not there. `seconds` is a
// clock.
std::vector<CodecSpeed> MeasureCodecs(absl::FunctionRef<double()> seconds,
                                      double budget_s);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_CODEC_SPEEDS_H_
