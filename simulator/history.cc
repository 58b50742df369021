#include "simulator/history.h"

#include <span>

#include "base/hash.h"

namespace skerry::sim {

void History::Append(std::string line) {
  hash_ = CombineHash(hash_, Hash64(std::as_bytes(std::span(line))));
  ++count_;
  if (lines_max_ == 0) return;
  if (lines_.size() == lines_max_) lines_.pop_front();
  lines_.push_back(std::move(line));
}

}  // namespace skerry::sim
