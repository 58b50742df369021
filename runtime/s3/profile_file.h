// runtime/s3/profile_file.h
//
// Reads files of sections with "name = value" lines, such as
// $HOME/.aws/credentials and $HOME/.aws/config.
#ifndef SKERRY_RUNTIME_S3_PROFILE_FILE_H_
#define SKERRY_RUNTIME_S3_PROFILE_FILE_H_

#include <string>
#include <string_view>

#include "absl/container/btree_map.h"

namespace skerry::runtime::s3 {

// The values of a section by name. Lines that begin with '#' or ';', lines of
// no form and indented lines, which belong to the value above, are left out.
// The last of two values of one name counts.
using Profile = absl::btree_map<std::string, std::string>;

// All sections by name. "[profile lab]" and "[lab]" are both "lab".
absl::btree_map<std::string, Profile> ReadProfiles(std::string_view text);

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_PROFILE_FILE_H_
