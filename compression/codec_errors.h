// compression/codec_errors.h
//
// Makes the errors of all codecs for values that they cannot carry.
#ifndef SKERRY_COMPRESSION_CODEC_ERRORS_H_
#define SKERRY_COMPRESSION_CODEC_ERRORS_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace skerry::compression {

// InvalidArgument, naming the first value that is NaN or infinite. Requires:
// there is one.
absl::Status NotFiniteError(std::span<const float> values,
                            std::string_view codec);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CODEC_ERRORS_H_
