#include "coordinator/core/codec_menu.h"

namespace skerry::coordinator {

const std::vector<planner::CodecOption>& CodecMenu() {
  using planner::CodecLoss;
  static const auto* const menu = new std::vector<planner::CodecOption>{
      {"int8_block", CodecLoss::kRounding, {1.0157, 4.6e9, 4.5e9}, 0.0071},
      {"nf4", CodecLoss::kRounding, {0.5313, 3.6e9, 3.9e9}, 0.0918},
      {"top_k/8", CodecLoss::kSparse, {0.252, 1.5e9, 2.2e9}, 0.683},
      {"sign1", CodecLoss::kOneBit, {0.1407, 3.6e9, 5.7e9}, 0.640},
      {"top_k/16", CodecLoss::kSparse, {0.127, 2.5e9, 3.7e9}, 0.804},
      {"top_k/64", CodecLoss::kSparse, {0.0336, 3.9e9, 4.5e9}, 0.929},
      {"top_k/256", CodecLoss::kSparse, {0.0094, 4.0e9, 4.5e9}, 0.976}};
  return *menu;
}

}  // namespace skerry::coordinator
