// data/tokenizer/tokenizer_json.h
//
// tokenizer.json of the `tokenizers` package, as far as Skerry reads it; see
// docs/formats/tokenizer.md.
#ifndef SKERRY_DATA_TOKENIZER_TOKENIZER_JSON_H_
#define SKERRY_DATA_TOKENIZER_TOKENIZER_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"

namespace skerry::data {

// Any text may be given. Errors: InvalidArgument with one line, when it is no
// such file or asks for what Skerry does not do.
absl::StatusOr<Tokenizer> ParseTokenizerJson(std::string_view text);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_TOKENIZER_JSON_H_
