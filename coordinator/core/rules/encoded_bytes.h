// coordinator/core/rules/encoded_bytes.h
//
// Computes how many bytes a model has in a codec, and how many an exchange
// sends.
#ifndef SKERRY_COORDINATOR_CORE_RULES_ENCODED_BYTES_H_
#define SKERRY_COORDINATOR_CORE_RULES_ENCODED_BYTES_H_

#include <cstdint>
#include <string_view>

#include "compression/codec.h"
#include "coordinator/core/log/records.h"

namespace skerry::coordinator {

// The most bytes that `elements` values have in `codec`, which is the name of
// one codec and not a policy.
double EncodedBytes(std::string_view codec, uint64_t elements);
double EncodedBytes(compression::CodecId codec, uint64_t elements);

// Whether the codec of that name, or the policy, sends values as they are.
bool IsUncoded(std::string_view codec);

// The mean over the members of an attempt, each for a whole fragment.
struct MeanBytes {
  double contribution = 0;
  double result = 0;
};

// Requires: `opened` has members.
MeanBytes MeanEncodedBytes(const Opened& opened, uint64_t elements);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_ENCODED_BYTES_H_
