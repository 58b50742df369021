// data/prepare/testing/packed_text.h
//
// Texts as gzip and zstd pack them.
#ifndef SKERRY_DATA_PREPARE_TESTING_PACKED_TEXT_H_
#define SKERRY_DATA_PREPARE_TESTING_PACKED_TEXT_H_

#include <string>

namespace skerry::data::testing {

std::string Gzip(const std::string& text);
std::string Zstd(const std::string& text);

}  // namespace skerry::data::testing

#endif  // SKERRY_DATA_PREPARE_TESTING_PACKED_TEXT_H_
