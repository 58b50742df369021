#include "worker/daemon/job_disk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "worker/daemon/inner_store.h"
#include "worker/daemon/store_file.h"

namespace skerry::worker {
namespace {

// A smaller piece is written as soon whole as ahead.
constexpr size_t kAheadBytesMin = 64 << 10;

// A log that skerry-attach keeps there of one rank of a program.
bool IsLog(const std::string& name) {
  return name.starts_with("rank-") && name.find(".log") != std::string::npos;
}

absl::Status Write(runtime::Files& files, const std::string& path,
                   const StoredFile& file,
                   const std::vector<SharedBytes>& contents) {
  const std::vector<std::byte> header = EncodeStoreHeader(file, contents);
  std::vector<runtime::ByteSpan> pieces = {header};
  for (const SharedBytes& content : contents) {
    pieces.push_back(content.bytes());
    pieces.push_back(StorePadding(content.size()));
  }
  return files.WriteDurably(path, pieces);
}

}  // namespace

JobDisk::JobDisk(std::string directory, runtime::Files& files,
                 runtime::Executor& executor, const SeatAnswers& answers,
                 absl::AnyInvocable<void()> on_gone)
    : directory_(std::move(directory)),
      files_(files),
      executor_(executor),
      answers_(answers),
      on_gone_(std::move(on_gone)) {}

JobDisk::~JobDisk() = default;

absl::StatusOr<std::vector<StoredFile>> JobDisk::Scan() {
  SKERRY_RETURN_IF_ERROR(files_.MakeDirectory(directory_));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files_.List(directory_));
  std::vector<StoredFile> found;
  for (const std::string& name : names) {
    if (IsLog(name) || IsInnerFile(name)) continue;
    const std::string path = absl::StrCat(directory_, "/", name);
    SKERRY_ASSIGN_OR_RETURN(const auto mapped, runtime::MappedFile::Open(path));
    absl::StatusOr<StoreHeader> header = DecodeStoreHeader(mapped->bytes());
    if (header.ok() && FormerStoreFileName(header->file) == name) {
      SKERRY_RETURN_IF_ERROR(files_.Rename(path, PathOf(header->file)));
      found.push_back(std::move(header->file));
      continue;
    }
    if (header.ok() && StoreFileName(header->file) == name) {
      found.push_back(std::move(header->file));
      continue;
    }
    runtime::Log(runtime::Severity::kWarning, "worker.store.damaged",
                 {{"path", path}, {"cause", header.status()}});
    SKERRY_RETURN_IF_ERROR(files_.Remove(path));
  }
  return found;
}

void JobDisk::Store(const StoredFile& file, std::vector<SharedBytes> contents,
                    Done<absl::Status> done) {
  const std::string path = PathOf(file);
  // Also what is mapped before the new file is there.
  Done<absl::Status> stored = [this, path, done = std::move(done)](
                                  Instant now, absl::Status status) mutable {
    mapped_.erase(path);
    std::move(done)(now, std::move(status));
  };
  executor_.Run([&files = files_, &loop = answers_.loop(), path, file,
                 directory = directory_, contents = std::move(contents),
                 ahead = TakeAhead(file.fragment, path),
                 gone = answers_.Wrap(Done<bool>(
                     [this](Instant, bool made) { OnWritten(made); })),
                 answer = answers_.Wrap(std::move(stored))]() mutable {
    const bool is_there = ahead != nullptr && ahead->Finish(file, contents);
    ahead.reset();
    absl::Status status =
        is_there ? absl::OkStatus() : Write(files, path, file, contents);
    // Somebody has removed the folder.
    const bool missing = absl::IsNotFound(status);
    if (missing) status = files.MakeDirectory(directory);
    if (missing && status.ok()) status = Write(files, path, file, contents);
    loop.Post([missing, status = std::move(status), gone = std::move(gone),
               answer = std::move(answer)]() mutable {
      if (missing) gone(status.ok());
      answer(std::move(status));
    });
  });
}

void JobDisk::StoreAhead(const StoredFile& file, size_t index,
                         const SharedBytes& content) {
  if (content.size() < kAheadBytesMin) return;
  Ahead& ahead = ahead_[file.fragment];
  if (std::string path = PathOf(file); ahead.path != path) {
    // A file that is given up leaves the disk on the thread that wrote it.
    executor_.Run([given_up = std::move(ahead.file)] {});
    ahead.file = std::make_shared<AheadFile>(files_, path, file);
    ahead.path = std::move(path);
  }
  executor_.Run(
      [file = ahead.file, index, content] { file->Put(index, content); });
}

std::shared_ptr<AheadFile> JobDisk::TakeAhead(uint32_t fragment,
                                              const std::string& path) {
  const auto it = ahead_.find(fragment);
  if (it == ahead_.end() || it->second.path != path) return nullptr;
  std::shared_ptr<AheadFile> file = std::move(it->second.file);
  ahead_.erase(it);
  return file;
}

void JobDisk::OnWritten(bool made) {
  if (!made) return;
  runtime::Log(runtime::Severity::kWarning, "worker.store.gone",
               {{"path", directory_}});
  mapped_.clear();
  on_gone_();
}

absl::StatusOr<SharedBytes> JobDisk::Map(const StoredFile& file,
                                         uint32_t span) {
  const std::string path = PathOf(file);
  std::shared_ptr<const runtime::MappedFile>& mapped = mapped_[path];
  if (mapped == nullptr) {
    SKERRY_ASSIGN_OR_RETURN(mapped, runtime::MappedFile::Open(path));
  }
  absl::StatusOr<StoreHeader> header = DecodeStoreHeader(mapped->bytes());
  if (!header.ok()) return Annotate(header.status(), path);
  const auto& pieces = header->file.pieces;
  const auto it = std::find_if(
      pieces.begin(), pieces.end(),
      [span](const StoredFile::Piece& piece) { return piece.span == span; });
  if (it == pieces.end()) {
    return absl::NotFoundError(absl::StrCat(path, " has no span ", span));
  }
  const PieceExtent extent = header->extents[it - pieces.begin()];
  return SharedBytes{mapped,
                     mapped->bytes().subspan(extent.offset, extent.size)};
}

void JobDisk::Delete(const StoredFile& file) {
  const std::string path = PathOf(file);
  mapped_.erase(path);
  executor_.Run([&files = files_, path] {
    const absl::Status status = files.Remove(path);
    if (!status.ok()) {
      runtime::Log(runtime::Severity::kWarning, "worker.store.remove_failed",
                   {{"path", path}, {"cause", status}});
    }
  });
}

std::string JobDisk::PathOf(const StoredFile& file) const {
  return absl::StrCat(directory_, "/", StoreFileName(file));
}

}  // namespace skerry::worker
