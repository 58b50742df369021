// planner/codec_menu.h
//
// Lists the codecs from which a job with a codec policy chooses. The first is
// int8_block, whose error no outer loop has been seen to notice. The others
// send fewer bytes, down to a 140th of its bytes. No codec beats another one in
// both bytes and error, except for top_k/8, which is there for ada_top_k.
#ifndef SKERRY_PLANNER_CODEC_MENU_H_
#define SKERRY_PLANNER_CODEC_MENU_H_

#include <string_view>
#include <vector>

#include "planner/codec_choice.h"

namespace skerry::planner {

// The codec of all members of a job with a codec policy when nothing can be
// chosen, as while no link is measured.
inline constexpr std::string_view kUnmeasuredCodec = "int8_block";

// Returns the menu. Bytes and errors are those of one encoding of a recorded
// pseudo-gradient. Speeds are those of one core of a 2-core EPYC machine
// (docs/measurements/adaptive.md).
const std::vector<CodecOption>& CodecMenu();

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_CODEC_MENU_H_
