// cli/commands/data_set_writer.h
//
// A data set on its way into its folder, one shard at a time.
#ifndef SKERRY_CLI_COMMANDS_DATA_SET_WRITER_H_
#define SKERRY_CLI_COMMANDS_DATA_SET_WRITER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "runtime/files.h"

namespace skerry::cli {

// Shards first and the manifest last, each durably and under its final name
// only when it is whole: a folder with a manifest is a complete data set, and
// repeating an interrupted command completes it. Memory is that of one shard.
//
// Errors of every call: AlreadyExists when the folder holds another data set,
// of which nothing is overwritten; what `files` returns.
class DataSetWriter {
 public:
  // `files` outlive the writer. Makes the folder. Errors also:
  // InvalidArgument, a shard of so many tokens is impossible.
  static absl::StatusOr<DataSetWriter> Open(std::string directory,
                                            uint64_t shard_tokens_max,
                                            int vocab_size,
                                            runtime::Files& files);

  // Whether the folder holds a whole data set already.
  bool has_manifest() const { return found_.has_value(); }
  // The name of the next shard of a split.
  std::string NextFile(data::Split split) const;
  // Counts a shard that is there as written. Requires: NextFile names it.
  void Take(data::ShardEntry entry);

  // Tokens of the split are appended here; writing takes them.
  std::vector<int32_t>& tokens() { return tokens_; }
  // Writes a shard and returns what the manifest says of it, or none when
  // there are too few tokens for a full one; with `all`, only when there are no
  // tokens.
  absl::StatusOr<std::optional<data::ShardEntry>> WriteShard(data::Split split,
                                                             bool all);
  // Writes full shards of what there is.
  absl::Status Flush(data::Split split) { return Write(split, /*all=*/false); }
  // Writes the rest too. Another split may begin.
  absl::Status End(data::Split split) { return Write(split, /*all=*/true); }

  struct Tokenizer {
    std::string name;
    // The tokenizer's file, which is written beside the manifest; else empty.
    std::string bytes;
    std::optional<int> document_end;
  };
  absl::StatusOr<data::Manifest> Finish(const Tokenizer& tokenizer);

 private:
  DataSetWriter(std::string directory, uint64_t shard_tokens_max,
                int vocab_size, runtime::Files& files);
  absl::Status Write(data::Split split, bool all);
  std::string PathOf(std::string_view file) const;
  absl::Status IsAnother() const;

  std::string directory_;
  uint64_t shard_tokens_max_;
  runtime::Files* files_;
  // What the folder holds already.
  std::optional<data::Manifest> found_;
  data::Manifest manifest_;
  std::vector<int32_t> tokens_;
  int next_number_[2] = {0, 0};
};

// Names the folder, its tokens, shards, tokenizer and vocabulary.
std::string DataSetLine(const std::string& directory,
                        const data::Manifest& manifest);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_SET_WRITER_H_
