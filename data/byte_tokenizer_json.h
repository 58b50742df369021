// data/byte_tokenizer_json.h
//
// The byte tokenizer as the file that transformers' AutoTokenizer loads.
#ifndef SKERRY_DATA_BYTE_TOKENIZER_JSON_H_
#define SKERRY_DATA_BYTE_TOKENIZER_JSON_H_

#include <string>

namespace skerry::data {

// The text of tokenizer.json: token t is byte t. A byte-pair encoding without
// merges over the 256 characters that byte-level encodings write bytes as.
std::string ByteTokenizerJson();

}  // namespace skerry::data

#endif  // SKERRY_DATA_BYTE_TOKENIZER_JSON_H_
