#include "cli/simulate_arguments.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/time/time.h"
#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

CLI::Option* AddDuration(CLI::App* leaf, const std::string& name,
                         const std::string& about, absl::Duration& value) {
  return leaf
      ->add_option_function<std::string>(
          name,
          [&value](const std::string& text) { ReadDuration(text, &value); },
          about)
      ->check(IsDuration())
      ->type_name("TIME");
}

void AddList(CLI::App* leaf, const std::string& name, const std::string& about,
             std::vector<std::string>& values) {
  leaf->add_option(name, values,
                   about +
                       ", several with commas between them; default: the "
                       "job's")
      ->type_name("WORDS")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace

void AddSimulateOptions(CLI::App* simulate, SimulateArguments& wanted) {
  simulate->add_option("-f,--file", wanted.job, "YAML file of the job")
      ->type_name("FILE")
      ->required();
  simulate
      ->add_option("--cluster", wanted.cluster,
                   "YAML file of islands, speeds and links; "
                   "examples/cluster.yaml is one")
      ->type_name("FILE")
      ->required();
  PlanLists& lists = wanted.lists;
  runtime::AddNumbers(*simulate, "--tau", lists.taus, {1, 1'000'000},
                      "inner steps a round, several with commas between "
                      "them; default: the job's");
  AddList(simulate, "--codec", "codecs, or adaptive", lists.codecs);
  AddList(simulate, "--method", "outer methods", lists.methods);
  runtime::AddNumbers(*simulate, "--islands", lists.islands, {1, 10'000},
                      "how many of the cluster's, from the first, several "
                      "with commas between them; default: all");
  CLI::Option* every = AddDuration(
      simulate, "--preempt-every",
      "mean time until a worker's machine is taken away; default: never",
      wanted.preempt_every);
  AddDuration(simulate, "--away",
              "mean time until it is given back; default: 5m", wanted.away)
      ->needs(every);
  simulate
      ->add_option("--trace", wanted.trace,
                   "file of SECONDS,WORKER,down or up instead; default: none")
      ->type_name("FILE")
      ->excludes(every);
  runtime::AddNumber(*simulate, "--rounds", wanted.rounds, {1, 1'000'000},
                     "rounds of each worker; a longer job is cut to so many")
      ->capture_default_str();
  runtime::AddNumber(*simulate, "--seed", wanted.seed, {},
                     "seed of all that is drawn")
      ->capture_default_str();
}

}  // namespace skerry::cli
