// data/prepare/data_set_writer.h
//
// Writes a data set into its folder, one shard at a time.
#ifndef SKERRY_DATA_PREPARE_DATA_SET_WRITER_H_
#define SKERRY_DATA_PREPARE_DATA_SET_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "runtime/files.h"

namespace skerry::data {

// What `data prepare` keeps beside the manifest: prepare_record.h.
inline constexpr std::string_view kPrepareRecordFile = "prepare.json";

// Writes the shards first and the manifest last. Each file is durable and gets
// its final name only when it is whole. So a folder with a manifest is a
// complete data set, and repeating an interrupted command completes it. At most
// a piece of a shard is in memory.
//
// While the writer lives, no other writer can use the folder. It replaces no
// file that was not made for this data set; a file with the same bytes stays as
// it is.
//
// Errors of every call: AlreadyExists when the folder holds another data set or
// a file in the way; those of `files`.
class DataSetWriter {
 public:
  // `files` outlive the writer. Makes the folder and removes what killed
  // writers left in it. Errors also: InvalidArgument, a shard of so many tokens
  // is impossible; FailedPrecondition, another process writes into the folder.
  static absl::StatusOr<DataSetWriter> Open(std::string directory,
                                            uint64_t shard_tokens_max,
                                            int vocab_size,
                                            runtime::Files& files);

  // Whether the folder holds a whole data set already.
  bool has_manifest() const { return found_.has_value(); }
  struct Tokenizer {
    std::string name;
    // The tokenizer's file, which is written beside the manifest; else empty.
    std::string bytes;
    std::optional<int> document_end;
  };
  // Whether files of the names that this writer will use are in the way. For
  // the beginning of a data set.
  absl::Status CheckFree(const Tokenizer& tokenizer) const;
  // From now on shards in the folder are those of this data set, begun before,
  // and may be replaced.
  void GoOn() { owns_shards_ = true; }

  // The name of the next shard of a split.
  std::string NextFile(Split split) const;
  // Whether a shard is there as the entry says.
  absl::StatusOr<bool> IsThere(const ShardEntry& entry) const;
  // Counts a shard that is there as written. Requires: NextFile names it.
  void Take(ShardEntry entry);

  // Tokens for which the shard that is being written has room; never 0.
  uint64_t room() const { return shard_tokens_max_ - in_shard_; }
  // Appends tokens to the current shard. If that is full, ends it and returns
  // its entry for the manifest. Requires: at most room() tokens, all of one
  // split until End.
  absl::StatusOr<std::optional<ShardEntry>> Append(
      Split split, std::span<const int32_t> tokens);
  // Appends any number of tokens.
  absl::Status AppendAll(Split split, std::span<const int32_t> tokens);
  // Ends the shard that is being written, unless it is empty. Another split may
  // begin.
  absl::StatusOr<std::optional<ShardEntry>> End(Split split);

  // Errors also: InvalidArgument, there are no training tokens.
  absl::StatusOr<Manifest> Finish(const Tokenizer& tokenizer);

 private:
  DataSetWriter(std::string directory, uint64_t shard_tokens_max,
                int vocab_size, runtime::Files& files);
  std::string PathOf(std::string_view file) const;
  absl::Status IsAnother() const;
  absl::Status IsInTheWay(std::string_view file) const;
  // Gives the shard its name, unless it has it already.
  absl::Status Place(const ShardEntry& entry);
  // Writes the tokenizer's file, unless it is there already.
  absl::Status PlaceTokenizer(const Tokenizer& tokenizer);

  std::string directory_;
  uint64_t shard_tokens_max_;
  runtime::Files* files_;
  std::unique_ptr<runtime::FolderHold> hold_;
  // What the folder holds already.
  std::optional<Manifest> found_;
  bool owns_shards_ = false;
  Manifest manifest_;
  // The shard that is being written; null when it is empty.
  std::unique_ptr<runtime::ByteSink> sink_;
  uint64_t in_shard_ = 0;
  int next_number_[2] = {0, 0};
};

// Names the folder, its tokens, shards, tokenizer and vocabulary.
std::string DataSetLine(const std::string& directory, const Manifest& manifest);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_DATA_SET_WRITER_H_
