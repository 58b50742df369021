// data/prepare/testing/prepare.h
//
// Makes data sets for tests, on threads and without a clock.
#ifndef SKERRY_DATA_PREPARE_TESTING_PREPARE_H_
#define SKERRY_DATA_PREPARE_TESTING_PREPARE_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "data/prepare/prepare_data_set.h"
#include "runtime/files.h"

namespace skerry::data::testing {

struct PrepareMeans {
  int threads = 1;
  std::string sentencepiece_program = "";
};

// Calls PrepareDataSet, whose notes and progress go to `err`.
absl::Status Prepare(const PrepareOptions& options, const PrepareMeans& means,
                     runtime::Files& files, std::ostream& err);

}  // namespace skerry::data::testing

#endif  // SKERRY_DATA_PREPARE_TESTING_PREPARE_H_
