// planner/codec_options_testutil.h
//
// Makes codecs and exchanges that several tests choose from. Errors are roughly
// those of docs/formats/codecs.md on normal values. Speeds are made up.
#ifndef SKERRY_PLANNER_CODEC_OPTIONS_TESTUTIL_H_
#define SKERRY_PLANNER_CODEC_OPTIONS_TESTUTIL_H_

#include <cstdint>
#include <vector>

#include "planner/codec_choice.h"

namespace skerry::planner {

inline std::vector<CodecOption> TestOptions() {
  return {{"raw_f32", CodecLoss::kRounding, {4.0, 2e9, 2e9}, 0.0},
          {"bf16", CodecLoss::kRounding, {2.0, 2e9, 2e9}, 0.0016},
          {"int8_block", CodecLoss::kRounding, {1.016, 1e9, 2e9}, 0.007},
          {"nf4", CodecLoss::kRounding, {0.531, 5e8, 1e9}, 0.092},
          {"sign1", CodecLoss::kOneBit, {0.141, 1e9, 2e9}, 0.63},
          {"sign1_whole", CodecLoss::kOneBitWhole, {0.125, 1e9, 2e9}, 0.64},
          {"top_k/8", CodecLoss::kSparse, {0.26, 2e8, 1e9}, 0.70},
          {"top_k/64", CodecLoss::kSparse, {0.033, 2e8, 2e9}, 0.94}};
}

// A member whose link has one rate both ways.
inline ExchangeMember TestMember(uint64_t replica, double bytes_per_s,
                                 uint64_t owned) {
  ExchangeMember member;
  member.replica = ReplicaId(replica);
  member.link.up_bytes_per_s = bytes_per_s;
  member.link.down_bytes_per_s = bytes_per_s;
  member.owned_elements = owned;
  return member;
}

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_OPTIONS_TESTUTIL_H_
