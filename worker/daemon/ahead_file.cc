#include "worker/daemon/ahead_file.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "worker/daemon/store_file.h"

namespace skerry::worker {
namespace {

bool IsSame(const SharedBytes& a, const SharedBytes& b) {
  return a.bytes().data() == b.bytes().data() && a.size() == b.size();
}

}  // namespace

void AheadFile::Put(size_t index, const SharedBytes& content) {
  if (has_failed_) return;
  waiting_.emplace(index, content);
  for (auto next = waiting_.begin();
       next != waiting_.end() && next->first == written_.size();
       next = waiting_.erase(next)) {
    if (!Append(next->second).ok()) {
      has_failed_ = true;
      sink_.reset();
      waiting_.clear();
      written_.clear();
      return;
    }
  }
}

absl::Status AheadFile::Append(const SharedBytes& content) {
  if (sink_ == nullptr) {
    SKERRY_ASSIGN_OR_RETURN(sink_, files_.Create(path_));
    // The head has its size now, and its values at the end.
    SKERRY_RETURN_IF_ERROR(sink_->Append(EncodeStoreHeader(
        file_, std::vector<SharedBytes>(file_.pieces.size()))));
  }
  SKERRY_RETURN_IF_ERROR(sink_->Append(content.bytes()));
  SKERRY_RETURN_IF_ERROR(sink_->Append(StorePadding(content.size())));
  written_.push_back(content);
  return absl::OkStatus();
}

bool AheadFile::Finish(const StoredFile& file,
                       std::span<const SharedBytes> contents) {
  const bool fits =
      sink_ != nullptr && written_.size() <= contents.size() &&
      file.pieces.size() == file_.pieces.size() &&
      std::equal(written_.begin(), written_.end(), contents.begin(), IsSame);
  const bool is_there = fits && FinishOrFail(file, contents).ok();
  sink_.reset();
  return is_there;
}

absl::Status AheadFile::FinishOrFail(const StoredFile& file,
                                     std::span<const SharedBytes> contents) {
  while (written_.size() < contents.size()) {
    SKERRY_RETURN_IF_ERROR(Append(contents[written_.size()]));
  }
  SKERRY_RETURN_IF_ERROR(
      sink_->Overwrite(0, EncodeStoreHeader(file, contents)));
  return sink_->Commit();
}

}  // namespace skerry::worker
