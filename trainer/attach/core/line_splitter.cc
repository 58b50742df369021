#include "trainer/attach/core/line_splitter.h"

namespace skerry::trainer::attach {

std::optional<std::string_view> LineSplitter::Next() {
  const size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    bytes_.erase(0, begin_);
    begin_ = 0;
    searched_ = bytes_.size();
    return std::nullopt;
  }
  const std::string_view line =
      std::string_view(bytes_).substr(begin_, end - begin_);
  begin_ = end + 1;
  searched_ = begin_;
  return line;
}

void LineSplitter::Clear() {
  bytes_.clear();
  begin_ = 0;
  searched_ = 0;
}

}  // namespace skerry::trainer::attach
