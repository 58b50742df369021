// job/testing/specs.h
//
// Makes jobs for tests.
#ifndef SKERRY_JOB_TESTING_SPECS_H_
#define SKERRY_JOB_TESTING_SPECS_H_

#include <string>

#include "job/job_spec.h"

namespace skerry::job {

// The config of a model that every trainer builds, with a context of 64.
inline constexpr char kTinyConfig[] =
    R"({"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, )"
    R"("n_embd": 8, "n_layer": 1, "n_head": 1, "attn_pdrop": 0, )"
    R"("embd_pdrop": 0, "resid_pdrop": 0})";

// Small and valid: local SGD, rounds of 8 samples a worker, 8 spans, an
// evaluation every 5 sequences.
JobSpec SmallJob(const std::string& name, uint64_t samples);

// The same for a program, "resnet", that opens its data by itself.
JobSpec ProgramJob(const std::string& name, uint64_t samples);

}  // namespace skerry::job

#endif  // SKERRY_JOB_TESTING_SPECS_H_
