#include "base/file_name.h"

#include <algorithm>
#include <cstddef>

namespace skerry {
namespace {

constexpr size_t kBytesMax = 255;  // of Linux

}  // namespace

bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.size() <= kBytesMax && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c > ' ' && c < 0x7f && c != '/' && c != '\\';
         });
}

}  // namespace skerry
