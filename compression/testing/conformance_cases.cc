#include "compression/testing/conformance_cases.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "compression/chunk_top_k/chunk_top_k.h"
#include "compression/testing/reference_codecs.h"
#include "compression/testing/reference_sparse.h"
#include "compression/threshold/threshold_top_k.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {
namespace {

using Values = std::span<const float>;
using Places = std::function<std::vector<size_t>(Values)>;
using CodecPointer = std::shared_ptr<const Codec>;

ConformanceCase DenseCase(CodecId id, CodecPointer codec) {
  return {std::string(CodecName(id)), std::move(codec),
          [id](Values values) { return ReferenceEncode(id, values); },
          [id](Values values) {
            return ReferenceDecode(id, ReferenceEncode(id, values),
                                   values.size());
          }};
}

// `places` are what the codec sends, `inner` how.
ConformanceCase IndexedCase(std::string name, CodecPointer codec, Places places,
                            CodecId inner) {
  return {std::move(name), std::move(codec),
          [=](Values values) {
            return ReferenceEncodeIndexed(values, places(values), inner);
          },
          [=](Values values) {
            return ReferenceSparseIndexed(values, places(values), inner);
          }};
}

Places LargestPlaces(double density) {
  return [density](Values values) {
    return ReferenceTopKPlaces(values, KeptElements(values.size(), density));
  };
}

// What reaches the threshold of SIDCo-P, and at most twice the target.
Places ThresholdPlaces(double density) {
  return [density](Values values) {
    std::vector<size_t> places;
    const size_t kept = KeptElements(values.size(), density);
    if (kept == 0) return places;
    const Threshold threshold = SidcoThreshold(values, kept, {});
    for (size_t i = 0; i < values.size() && places.size() < 2 * kept; ++i) {
      if (std::fabs(values[i]) >= threshold.value) places.push_back(i);
    }
    return places;
  };
}

CodecPointer Sidco(double density, CodecId inner) {
  return *MakeThresholdTopK(
      {density, inner}, [](Values values, size_t target, Workspace& workspace) {
        return SidcoThreshold(values, target, {}, workspace);
      });
}

ConformanceCase ChunkCase(std::string name, CodecPointer codec, size_t kept) {
  return {std::move(name), std::move(codec),
          [kept](Values values) {
            return ReferenceEncodeChunkTopK(values, kept).payload;
          },
          [kept](Values values) {
            return ReferenceEncodeChunkTopK(values, kept).decoded;
          }};
}

ConformanceCase NumberedCase(CodecId id, CodecPointer codec) {
  if (!IsSparse(id)) return DenseCase(id, std::move(codec));
  const std::string name(CodecName(id));
  const size_t slash = name.find('/');
  SKERRY_CHECK(slash != std::string::npos);
  const int ratio = std::stoi(name.substr(slash + 1));
  const std::string family = name.substr(0, slash);
  if (family == "chunk_top_k") {
    return ChunkCase(name, std::move(codec), 4096 / ratio);
  }
  return IndexedCase(name, std::move(codec),
                     family == "top_k" ? LargestPlaces(1.0 / ratio)
                                       : ThresholdPlaces(1.0 / ratio),
                     CodecId::kInt8Block);
}

}  // namespace

std::vector<ConformanceCase> NumberedCases() {
  std::vector<ConformanceCase> cases;
  for (int number = 0; number < 256; ++number) {
    const auto id = static_cast<CodecId>(number);
    const auto codec = FindCodec(id);
    if (!codec.ok()) continue;
    // It lives for ever.
    cases.push_back(NumberedCase(id, CodecPointer(CodecPointer(), *codec)));
  }
  return cases;
}

std::vector<ConformanceCase> DenseCases() {
  std::vector<ConformanceCase> cases;
  for (ConformanceCase& one : NumberedCases()) {
    if (!IsSparse(one.codec->id())) cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<ConformanceCase> SparseOptionCases() {
  std::vector<ConformanceCase> cases;
  const auto add = [&](double density, CodecId inner) {
    const std::string options = " of " + std::to_string(density) + " over " +
                                std::string(CodecName(inner));
    cases.push_back(IndexedCase("top_k" + options, *MakeTopK({density, inner}),
                                LargestPlaces(density), inner));
    cases.push_back(IndexedCase("threshold_top_k" + options,
                                Sidco(density, inner), ThresholdPlaces(density),
                                inner));
  };
  for (const double density : {0.001, 0.03, 0.5, 1.0}) {
    add(density, CodecId::kRawF32);
  }
  for (const CodecId inner :
       {CodecId::kBf16, CodecId::kFp16, CodecId::kInt8Block, CodecId::kNf4,
        CodecId::kE3m0, CodecId::kLloyd2, CodecId::kSign1,
        CodecId::kSign1Whole}) {
    add(0.1, inner);
  }
  // Where scales belong to 512 places and to 256.
  for (const double density : {0.5, 1.0}) add(density, CodecId::kInt8Block);
  for (const size_t kept : {1, 5, 64, 341, 342, 4096}) {
    cases.push_back(ChunkCase("chunk_top_k of " + std::to_string(kept),
                              *MakeChunkTopK(kept), kept));
  }
  return cases;
}

std::ostream& operator<<(std::ostream& out, const ConformanceCase& one) {
  return out << one.name;
}

}  // namespace skerry::compression
