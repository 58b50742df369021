// trainer_kit: checks that a trainer keeps the rules of the seam.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "google/protobuf/util/json_util.h"
#include "job/limits.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "trainer/kit/main/rules.h"

namespace skerry::trainer::kit {
namespace {

constexpr uint64_t kJobSamples = 1'000'000;

struct Flags {
  std::string job_file;
  std::string parameters;
  uint32_t batch_samples = 8;
  std::vector<std::string> command;
};

// The job of the flags, or why there is none.
absl::StatusOr<v1::JobSpec> JobOf(const Flags& flags) {
  v1::JobSpec job;
  if (flags.job_file.empty()) {
    job.set_name("kit");
    job.mutable_model()->mutable_program()->set_name("kit");
    job.mutable_model()->mutable_program()->set_parameters_json(
        flags.parameters);
    job.mutable_training()->set_samples(kJobSamples);
    job.mutable_training()->set_batch_samples(flags.batch_samples);
    return job;
  }
  std::ifstream file(flags.job_file);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("--job: cannot read ", flags.job_file));
  }
  const auto read =
      google::protobuf::util::JsonStringToMessage(text.str(), &job);
  if (read.ok()) return job;
  return absl::InvalidArgumentError(
      absl::StrCat("--job: ", flags.job_file,
                   " is no JobSpec of proto/skerry/v1/job.proto "
                   "in JSON: ",
                   std::string(read.message())));
}

int Check(const Subject& subject) {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const auto rules : {DescribeRules(), ValueRules(), EndRules()}) {
    for (const Rule& rule : rules) {
      const absl::Status kept = rule.check(subject);
      const bool applies = !absl::IsCancelled(kept);
      (kept.ok() ? passed : applies ? failed : skipped) += 1;
      std::printf("%s  %s%s%s\n",
                  kept.ok() ? "passed "
                  : applies ? "failed "
                            : "skipped",
                  rule.name, kept.ok() ? "" : ": ",
                  std::string(kept.message()).c_str());
      std::fflush(stdout);
    }
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 ? 0 : 1;
}

int RunKit(int argc, char** argv) {
  Flags flags;
  CLI::App app("Checks that a trainer keeps the rules of the trainer seam.",
               "trainer_kit");
  app.set_version_flag("--version", std::string(kRelease));
  CLI::Option* job =
      app.add_option("--job", flags.job_file,
                     "the job to train, a JobSpec in JSON; without it a job "
                     "with a program");
  app.add_option("--parameters", flags.parameters,
                 "JSON object with the program's parameters")
      ->excludes(job);
  runtime::AddNumber(app, "--batch-samples", flags.batch_samples,
                     {1, job::kBatchMax}, "samples of a step");
  app.add_option("COMMAND", flags.command,
                 "the trainer and its flags, behind `--`; --socket is added")
      ->required();
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  const absl::StatusOr<v1::JobSpec> spec = JobOf(flags);
  if (!spec.ok()) {
    return runtime::PrintEnded(
        runtime::WrongLine(app, std::string(spec.status().message())));
  }
  return Check({.command = flags.command,
                .job = *spec,
                .batch_samples = flags.batch_samples});
}

}  // namespace
}  // namespace skerry::trainer::kit

int main(int argc, char** argv) {
  return skerry::trainer::kit::RunKit(argc, argv);
}
