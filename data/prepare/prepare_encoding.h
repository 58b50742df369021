// data/prepare/prepare_encoding.h
//
// Decides how the texts of a data set become tokens: by bytes, or by the
// tokenizer of a file.
#ifndef SKERRY_DATA_PREPARE_PREPARE_ENCODING_H_
#define SKERRY_DATA_PREPARE_PREPARE_ENCODING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/sentencepiece/channel.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer_file.h"
#include "runtime/files.h"

namespace skerry::data {

struct EncodingOptions {
  // A tokenizer's file; bytes when it is empty.
  std::string tokenizer = "";
  // Content of the special token that ends a document, or `none`; empty for
  // what the tokenizer says or the name that public ones give it.
  std::string document_end = "";
  // What becomes of a text that is written like a special token.
  TokenizerFile::WrittenSpecials written_specials =
      TokenizerFile::WrittenSpecials::kToken;
};

// The encoding, and the file that says what it is, empty for bytes.
struct Encoding {
  std::unique_ptr<TextCodec> codec;
  std::string name;
  std::string file;
  // How the file is read where that differs from what it says.
  std::vector<std::string> notes;
};

// `sentencepiece` starts what encodes for a model of sentencepiece. Errors:
// InvalidArgument, the file is no tokenizer's or has no such token; those of
// `files` and `sentencepiece`.
absl::StatusOr<Encoding> OpenEncoding(const EncodingOptions& options,
                                      OpenChannel sentencepiece,
                                      const runtime::Files& files);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_PREPARE_ENCODING_H_
