// data/prepare/piped_inputs.h
//
// Keeps inputs that can be read only once, such as pipes, in files that can be
// read again.
#ifndef SKERRY_DATA_PREPARE_PIPED_INPUTS_H_
#define SKERRY_DATA_PREPARE_PIPED_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/files.h"

namespace skerry::data {

// What an input is called, and the file that has its bytes.
struct InputFile {
  std::string path;
  std::string file;
};

// Copies the bytes of pipes into files of a folder, and removes these when it
// is destroyed. `-` is standard input.
class PipedInputs {
 public:
  // Removes what a killed process left first. Requires: nobody else has the
  // folder. Errors: InvalidArgument when standard input is named twice; those
  // of `files`, which outlive it.
  static absl::StatusOr<PipedInputs> Keep(const std::vector<std::string>& paths,
                                          const std::string& folder,
                                          runtime::Files& files);
  ~PipedInputs();
  PipedInputs(PipedInputs&&) noexcept = default;
  PipedInputs& operator=(PipedInputs&&) = delete;

  const std::vector<InputFile>& inputs() const { return inputs_; }

 private:
  explicit PipedInputs(runtime::Files& files) : files_(&files) {}

  runtime::Files* files_;
  std::vector<InputFile> inputs_;
  std::vector<std::string> kept_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_PIPED_INPUTS_H_
