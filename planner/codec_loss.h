// planner/codec_loss.h
//
// Tells how a codec loses values, and with which outer loops that diverges.
// This is the one place that decides it, both for codecs that a job names and
// for those that a policy chooses from.
#ifndef SKERRY_PLANNER_CODEC_LOSS_H_
#define SKERRY_PLANNER_CODEC_LOSS_H_

#include <optional>
#include <string_view>

#include "compression/codec_interface.h"

namespace skerry::planner {

enum class CodecLoss {
  kRounding,     // every value arrives, a little off
  kOneBit,       // one bit a value, a scale a block
  kOneBitWhole,  // one bit a value, one scale for all
  kSparse,       // most values are not sent
};

CodecLoss LossOf(compression::CodecId codec);

struct Divergence {
  std::string_view field;   // of a job file: what of it is wrong
  std::string_view why;     // of the codec: "one bit a value without ..."
  std::string_view remedy;  // "leave it out, or ..."
};

// Whether exchanges that lose so diverge or lose nearly everything, with error
// feedback by the factor `beta` under outer momentum (docs/compression.md): one
// scale for all values; fewer than four bits a value without error feedback;
// values that are not sent, with error feedback under momentum.
std::optional<Divergence> FindDivergence(CodecLoss loss, double beta,
                                         double momentum);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_LOSS_H_
