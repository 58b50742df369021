// planner/codec_menu.h
//
// What a job with a codec policy chooses from: int8_block, whose error no outer
// loop has been seen to notice, and what is smaller and has no codec beside it
// that is both smaller and nearer, down to a 140th. top_k/8 has, and is there
// for ada_top_k.
#ifndef SKERRY_PLANNER_CODEC_MENU_H_
#define SKERRY_PLANNER_CODEC_MENU_H_

#include <string_view>
#include <vector>

#include "planner/codec_choice.h"

namespace skerry::planner {

// What members of a job with a codec policy send with while nothing is known of
// their links.
inline constexpr std::string_view kUnmeasuredCodec = "int8_block";

// Bytes and errors are those of a recorded pseudo-gradient in one go, speeds
// those of one core of a 2-core EPYC machine (docs/compression.md).
const std::vector<CodecOption>& CodecMenu();

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_MENU_H_
