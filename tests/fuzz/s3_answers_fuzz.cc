// Any bytes as the answers of an object store: they are read or refused. A page
// that says that there is more names where.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "runtime/s3/answers.h"

namespace s3 = skerry::runtime::s3;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  (void)s3::ReadKeyPage(xml);
  const auto uploads = s3::ReadUploadPage(xml);
  if (uploads.ok()) {
    SKERRY_CHECK(uploads->next_key.empty() == uploads->next_id.empty());
  }
  const auto id = s3::ReadUploadId(xml);
  SKERRY_CHECK(!id.ok() || !id->empty());
  const auto failure = s3::ReadFailure(xml);
  SKERRY_CHECK(!failure.has_value() || !failure->code.empty());
  return 0;
}
