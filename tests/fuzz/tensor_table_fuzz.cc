// Any text as the table of a program's tensors: what is accepted is valid,
// survives being written and read again, and has a layout.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "checkpoint/tensor_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace checkpoint = skerry::checkpoint;
  const auto table = checkpoint::ParseTable(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!table.ok()) return 0;
  SKERRY_CHECK(checkpoint::ValidateTable(*table).ok());
  const auto again = checkpoint::ParseTable(checkpoint::SerializeTable(*table));
  SKERRY_CHECK(again.ok());
  SKERRY_CHECK(*again == *table);
  const auto layout = checkpoint::LayoutOf(*table);
  SKERRY_CHECK(layout.tensors().size() == table->tensors.size());
  SKERRY_CHECK(layout.element_count() > 0);
  return 0;
}
