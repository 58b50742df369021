#include "planner/codec_loss.h"

#include "compression/codec.h"

namespace skerry::planner {

CodecLoss LossOf(compression::CodecId codec) {
  if (compression::IsSparse(codec)) return CodecLoss::kSparse;
  switch (codec) {
    case compression::CodecId::kSign1:
      return CodecLoss::kOneBit;
    case compression::CodecId::kSign1Whole:
      return CodecLoss::kOneBitWhole;
    default:
      return CodecLoss::kRounding;
  }
}

std::optional<Divergence> FindDivergence(CodecLoss loss, double beta,
                                         double momentum) {
  const bool feedback = beta > 0.0;
  switch (loss) {
    case CodecLoss::kRounding:
      break;
    case CodecLoss::kOneBit:
      if (feedback) break;
      return Divergence{"outer.beta",
                        "one bit a value without error feedback diverges",
                        "leave outer.beta out, which is 1 then, or use a codec "
                        "of 4 bits or more, such as nf4"};
    case CodecLoss::kOneBitWhole:
      return Divergence{
          "exchange.codec",
          "one scale for all values diverges where curvature varies",
          "use sign1, which has a scale for each 256 values"};
    case CodecLoss::kSparse:
      if (!feedback) {
        return Divergence{"outer.beta",
                          "a sparse codec without error feedback loses what it "
                          "does not send",
                          "leave outer.beta out, which is 1 then, or use a "
                          "dense codec"};
      }
      if (momentum == 0.0) break;
      return Divergence{"outer.momentum",
                        "a sparse codec with error feedback diverges under "
                        "momentum, which multiplies coordinates that arrive "
                        "late and all at once",
                        "set outer.momentum to 0 (and outer.nesterov to "
                        "false), or use a dense codec"};
  }
  return std::nullopt;
}

}  // namespace skerry::planner
