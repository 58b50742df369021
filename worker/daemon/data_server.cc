#include "worker/daemon/data_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/read_range.h"

namespace skerry::worker {
namespace {

// A chunk that counts for as long as somebody has it.
struct Chunk {
  explicit Chunk(std::shared_ptr<std::atomic<int>> chunks)
      : count(std::move(chunks)) {
    ++*count;
  }
  ~Chunk() { --*count; }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const std::shared_ptr<std::atomic<int>> count;
  std::vector<std::byte> bytes;
};

absl::StatusOr<SharedBytes> Fill(const std::shared_ptr<Chunk>& chunk,
                                 const std::string& path, uint64_t bytes,
                                 uint64_t offset) {
  const uint64_t wanted = std::min(transport::kDataChunkBytes, bytes - offset);
  // One more byte tells a file that is longer than it was.
  const bool is_last = offset + wanted == bytes;
  SKERRY_ASSIGN_OR_RETURN(
      chunk->bytes,
      runtime::ReadRange(path, offset, wanted + (is_last ? 1 : 0)));
  if (chunk->bytes.size() != wanted) {
    return absl::DataLossError(absl::StrCat(
        path, " has another length than the manifest's tokens take"));
  }
  return SharedBytes(chunk, chunk->bytes);
}

}  // namespace

DataServer::DataServer(const runtime::Files& files, runtime::Executor& reader,
                       runtime::EventLoop& loop)
    : files_(files), reader_(reader), loop_(loop) {}

void DataServer::Find(const std::string& folder,
                      const std::string& manifest_sha256,
                      absl::AnyInvocable<void(Found) &&> done) {
  reader_.Run([&files = files_, &loop = loop_, folder, manifest_sha256,
               done = std::move(done)]() mutable {
    Found found = FindDataSet(folder, manifest_sha256, files);
    loop.Post([done = std::move(done), found = std::move(found)]() mutable {
      std::move(done)(std::move(found));
    });
  });
}

void DataServer::Read(const std::string& path, uint64_t bytes, uint64_t offset,
                      transport::BulkReceiver::FetchAnswer answer) {
  if (offset > bytes) {
    return std::move(answer)(
        absl::OutOfRangeError(absl::StrCat("the file has ", bytes, " bytes")));
  }
  if (*chunks_ >= kChunksMax) {
    return std::move(answer)(absl::UnavailableError(
        "it gives as much to other workers as it can; ask again"));
  }
  reader_.Run([&loop = loop_, chunk = std::make_shared<Chunk>(chunks_), path,
               bytes, offset, answer = std::move(answer)]() mutable {
    absl::StatusOr<SharedBytes> read = Fill(chunk, path, bytes, offset);
    chunk.reset();
    loop.Post([answer = std::move(answer), read = std::move(read)]() mutable {
      std::move(answer)(std::move(read));
    });
  });
}

}  // namespace skerry::worker
