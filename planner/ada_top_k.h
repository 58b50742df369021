// planner/ada_top_k.h
//
// Implements AdaTopK (arXiv 2410.12707), which sparsifies each link in
// proportion to how slow it is. The slowest link sends 1 / ratio of its dense
// bytes, and fast links lose nothing.
//
// The published rule keeps one value in max(1, o r R_i / R_max). R_i is the
// dense time of link i, r the ratio, and o the size of an index and a value
// over that of a value. In bytes on the wire that is: shrink by r R_i / R_max.
// So a link that need not shrink sends dense values, even where the published
// rule would send more than dense (a ratio between 1 and o).
#ifndef SKERRY_PLANNER_ADA_TOP_K_H_
#define SKERRY_PLANNER_ADA_TOP_K_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/codec_choice.h"

namespace skerry::planner {

// Dense is the option of least error that is not sparse. Among sparse options
// each member takes the largest that is small enough, or else the smallest, for
// contributions and results alike. The budget is not read, only reported
// against.
//
// Errors: as ChooseCodecs; InvalidArgument when `ratio` is below 1, or there is
// no dense or no sparse option that the job may use.
absl::StatusOr<CodecChoice> ChooseAdaTopK(const CodecProblem& problem,
                                          double ratio);

// As Appraise, in the words of AdaTopK.
CodecChoice AppraiseAdaTopK(const CodecProblem& problem, double ratio,
                            std::vector<uint32_t> codec);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_ADA_TOP_K_H_
