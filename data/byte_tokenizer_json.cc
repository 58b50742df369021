#include "data/byte_tokenizer_json.h"

#include <cstdint>

#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::ordered_json;

// UTF-8 of a code point below 0x800.
std::string Utf8(uint32_t point) {
  if (point < 0x80) return std::string(1, static_cast<char>(point));
  return {static_cast<char>(0xc0 | point >> 6),
          static_cast<char>(0x80 | (point & 0x3f))};
}

bool IsPrintedAsItself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

Json Vocabulary() {
  Json vocabulary = Json::object();
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    vocabulary[Utf8(IsPrintedAsItself(byte) ? byte : next++)] = byte;
  }
  return vocabulary;
}

}  // namespace

std::string ByteTokenizerJson() {
  const Json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", false},
                      {"use_regex", false}};
  Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = Json::array();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = bytes;
  json["post_processor"] = nullptr;
  json["decoder"] = bytes;
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"vocab", Vocabulary()},
                   {"merges", Json::array()}};
  return json.dump(1) + "\n";
}

}  // namespace skerry::data
