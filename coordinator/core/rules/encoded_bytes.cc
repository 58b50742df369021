#include "coordinator/core/rules/encoded_bytes.h"

#include <string>

#include "base/check.h"
#include "compression/codec.h"

namespace skerry::coordinator {

double EncodedBytes(std::string_view codec, uint64_t elements) {
  const auto id = compression::ParseCodecName(std::string(codec));
  SKERRY_CHECK(id.ok());
  return EncodedBytes(*id, elements);
}

double EncodedBytes(compression::CodecId codec, uint64_t elements) {
  const auto found = compression::FindCodec(codec);
  SKERRY_CHECK(found.ok());
  return static_cast<double>((*found)->MaxEncodedBytes(elements));
}

bool IsUncoded(std::string_view codec) {
  return codec == compression::CodecName(compression::CodecId::kRawF32);
}

MeanBytes MeanEncodedBytes(const Opened& opened, uint64_t elements) {
  SKERRY_CHECK(!opened.members.empty());
  MeanBytes sum;
  for (const Member& member : opened.members) {
    sum.contribution += EncodedBytes(member.codec, elements);
    sum.result += EncodedBytes(member.OfResults(), elements);
  }
  const auto members = static_cast<double>(opened.members.size());
  return {sum.contribution / members, sum.result / members};
}

}  // namespace skerry::coordinator
