// cli/enum_words.h
//
// The values of an enum as people write them: lower case, without its prefix.
#ifndef SKERRY_CLI_ENUM_WORDS_H_
#define SKERRY_CLI_ENUM_WORDS_H_

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace skerry::cli {

// All but the unspecified one, in the order of their numbers.
std::vector<std::string> EnumWords(
    const google::protobuf::EnumDescriptor& type);

// The value that `word` stands for, in full or without the prefix, in any case;
// null when there is none or it is the unspecified one.
const google::protobuf::EnumValueDescriptor* FindEnumWord(
    const google::protobuf::EnumDescriptor& type, const std::string& word);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_ENUM_WORDS_H_
