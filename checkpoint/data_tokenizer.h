// checkpoint/data_tokenizer.h
//
// The tokenizer that a job's checkpoints get: the one its data were made with.
#ifndef SKERRY_CHECKPOINT_DATA_TOKENIZER_H_
#define SKERRY_CHECKPOINT_DATA_TOKENIZER_H_

#include <string>

#include "runtime/files.h"

namespace skerry::checkpoint {

// The tokenizer's file of the data set in `folder` whose manifest has that
// SHA-256. Empty when it is not to be had: the data may be on other machines
// alone, or name no tokenizer.
std::string DataTokenizer(const std::string& folder,
                          const std::string& manifest_sha256,
                          const runtime::Files& files);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_DATA_TOKENIZER_H_
