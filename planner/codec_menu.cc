#include "planner/codec_menu.h"

namespace skerry::planner {

const std::vector<CodecOption>& CodecMenu() {
  static const auto* const menu = new std::vector<CodecOption>{
      {"int8_block", CodecLoss::kRounding, {1.0156, 4.9e9, 4.9e9}, 0.0071},
      {"nf4", CodecLoss::kRounding, {0.5313, 5.0e9, 5.4e9}, 0.0918},
      {"top_k/4", CodecLoss::kSparse, {0.379, 1.9e9, 3.4e9}, 0.5029},
      {"top_k/8", CodecLoss::kSparse, {0.252, 2.4e9, 4.1e9}, 0.6834},
      {"chunk_top_k/4", CodecLoss::kSparse, {0.1877, 2.1e9, 3.4e9}, 0.5441},
      {"sign1", CodecLoss::kOneBit, {0.1407, 6.0e9, 6.4e9}, 0.6396},
      {"top_k/16", CodecLoss::kSparse, {0.127, 2.6e9, 3.9e9}, 0.8038},
      {"chunk_top_k/16", CodecLoss::kSparse, {0.1096, 2.5e9, 3.7e9}, 0.8133},
      {"top_k/32", CodecLoss::kSparse, {0.0648, 2.8e9, 4.4e9}, 0.8810},
      {"chunk_top_k/32", CodecLoss::kSparse, {0.0549, 2.8e9, 4.1e9}, 0.8868},
      {"top_k/64", CodecLoss::kSparse, {0.03365, 2.8e9, 4.7e9}, 0.9292},
      {"chunk_top_k/64", CodecLoss::kSparse, {0.0276, 3.0e9, 4.0e9}, 0.9328},
      {"top_k/128", CodecLoss::kSparse, {0.0178, 3.2e9, 4.9e9}, 0.9586},
      {"chunk_top_k/128", CodecLoss::kSparse, {0.0139, 3.6e9, 4.1e9}, 0.9607},
      {"top_k/256", CodecLoss::kSparse, {0.00941, 3.7e9, 5.2e9}, 0.9759},
      {"chunk_top_k/256", CodecLoss::kSparse, {0.00708, 3.1e9, 4.4e9}, 0.9778}};
  return *menu;
}

}  // namespace skerry::planner
