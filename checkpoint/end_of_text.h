// checkpoint/end_of_text.h
//
// Reads which tokens end a text from config.json or generation_config.json.
#ifndef SKERRY_CHECKPOINT_END_OF_TEXT_H_
#define SKERRY_CHECKPOINT_END_OF_TEXT_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace skerry::checkpoint {

// The numbers of `eos_token_id`, which is one number or a list. Empty when the
// text is no JSON object or names none. Any text may be given; what is no
// number of a token is left out.
std::vector<int32_t> EndOfTextTokens(std::string_view config_json);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_END_OF_TEXT_H_
