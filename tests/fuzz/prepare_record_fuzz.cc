// Any text as the record of `data prepare`: what is accepted survives being
// written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/prepare/prepare_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto record = skerry::data::ParsePrepareRecord(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!record.ok()) return 0;
  const auto again = skerry::data::ParsePrepareRecord(
      skerry::data::SerializePrepareRecord(*record));
  SKERRY_CHECK(again.ok());
  SKERRY_CHECK(*again == *record);
  return 0;
}
