#include "cli/commands/simulate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/cluster_file.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/program_description.h"
#include "cli/read_file.h"
#include "cli/shared_options.h"
#include "cli/simulation.pb.h"
#include "cli/simulation_view.h"
#include "cli/spot_trace.h"
#include "cli/word_checks.h"
#include "model/exec/model_summary.h"
#include "model/spec/model_config.h"
#include "runtime/command_line/number_option.h"
#include "simulator/absences.h"
#include "simulator/cluster_shape.h"
#include "simulator/forecast.h"

namespace skerry::cli {
namespace {

constexpr size_t kTraceBytesMax = 64 << 20;
// Preemptions are drawn until this many times the duration that the job has
// without them.
constexpr double kHorizon = 20;
constexpr uint64_t kRoundsMax = 1'000'000;

struct Model {
  uint64_t elements = 0;
  double flops_per_sample = 0;
};

absl::StatusOr<Model> ModelOfProgram(const std::string& description) {
  if (description.empty()) {
    return absl::InvalidArgumentError(
        "model.program: how many parameters the program trains is known only "
        "by running it; measure it with `python -m skerry describe`, and give "
        "what that prints with --description FILE");
  }
  SKERRY_ASSIGN_OR_RETURN(const ProgramDescription measured,
                          ReadProgramDescription(description));
  return Model{measured.elements, measured.flops_per_sample};
}

absl::StatusOr<Model> ModelOf(const v1::JobSpec& job,
                              const std::string& description) {
  if (job.model().has_program()) return ModelOfProgram(description);
  if (!description.empty()) {
    return absl::InvalidArgumentError(
        "--description: is for jobs with model.program; the config says what "
        "others train");
  }
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(job.model().config_json()));
  const int tokens = job.data().sequence_tokens() == 0
                         ? config.n_positions
                         : static_cast<int>(job.data().sequence_tokens());
  if (tokens < 1 || tokens > config.positions_max()) {
    return absl::InvalidArgumentError(absl::StrCat("data.sequence_tokens is ",
                                                   tokens, ", must be 1 to ",
                                                   config.positions_max()));
  }
  const auto recompute = job.training().recompute()
                             ? model::Recompute::kBlocks
                             : model::Recompute::kNothing;
  const model::ModelSummary summary =
      model::SummarizeModel(config, 1, tokens, 1, recompute);
  return Model{static_cast<uint64_t>(summary.parameters),
               summary.work.forward_flops + summary.work.backward_flops +
                   summary.recompute_flops};
}

// Everything but the plan.
struct Question {
  Model model;
  sim::ClusterShape cluster;
  std::string trace;
};

absl::StatusOr<Question> Read(const SimulateArguments& arguments,
                              const v1::JobSpec& job) {
  if (arguments.rounds < 2 || arguments.rounds > kRoundsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--rounds is ", arguments.rounds, ", must be 2 to ", kRoundsMax));
  }
  Question question;
  const absl::StatusOr<Model> model = ModelOf(job, arguments.description);
  if (!model.ok()) return Annotate(model.status(), arguments.job);
  question.model = *model;
  SKERRY_ASSIGN_OR_RETURN(
      question.cluster,
      ReadClusterFile(arguments.cluster, question.model.flops_per_sample));
  if (!arguments.trace.empty()) {
    SKERRY_ASSIGN_OR_RETURN(question.trace,
                            ReadFile(arguments.trace, kTraceBytesMax));
    // The trace is checked against the whole cluster, so that a wrong line is
    // found whatever the plans are.
    SKERRY_RETURN_IF_ERROR(
        ParseSpotTrace(arguments.trace, question.trace, question.cluster)
            .status());
  }
  return question;
}

absl::StatusOr<std::vector<sim::Absence>> AbsencesOf(
    const SimulateArguments& arguments, const Question& question,
    const sim::ClusterShape& cluster, const sim::Forecast& calm) {
  if (!arguments.trace.empty()) {
    SKERRY_ASSIGN_OR_RETURN(
        std::vector<sim::Absence> all,
        ParseSpotTrace(arguments.trace, question.trace, question.cluster));
    std::erase_if(all, [&](const sim::Absence& one) {
      return one.worker >= cluster.workers();
    });
    return all;
  }
  if (arguments.preempt_every <= absl::ZeroDuration()) {
    return std::vector<sim::Absence>();
  }
  return sim::DrawAbsences({arguments.preempt_every, arguments.away},
                           cluster.workers(), kHorizon * calm.total,
                           arguments.seed);
}

// Describes a plan and its forecast. If the run was cut, the totals are scaled
// up to the whole job.
Simulation::Plan Describe(const SimulationPlan& plan,
                          const sim::ClusterShape& cluster,
                          const sim::Forecast& calm,
                          const sim::Forecast& forecast) {
  Simulation::Plan out;
  out.set_tau(plan.spec.training.tau);
  out.set_codec(plan.spec.exchange.codec);
  out.set_method(plan.method);
  out.set_islands(static_cast<uint32_t>(plan.islands));
  out.set_workers(cluster.workers());
  out.set_samples_per_s(forecast.samples_per_s);
  out.set_tokens_per_s(forecast.samples_per_s *
                       plan.spec.data.sequence_tokens.value_or(0));
  out.set_stall_share(forecast.stall_share);
  out.set_live_share(forecast.live_share);
  const double goodput =
      calm.samples_per_s > 0 ? forecast.samples_per_s / calm.samples_per_s : 0;
  out.set_goodput(goodput);
  out.set_goodput_of_live(
      forecast.live_share > 0 ? goodput / forecast.live_share : 0);
  const double times = static_cast<double>(plan.spec.training.samples) /
                       static_cast<double>(forecast.samples);
  const auto whole = [times](double part) {
    return static_cast<uint64_t>(std::llround(part * times));
  };
  const double left =
      static_cast<double>(plan.spec.training.samples - forecast.samples);
  out.set_seconds(absl::ToDoubleSeconds(forecast.total) +
                  (left > 0 ? left / forecast.samples_per_s : 0));
  out.set_commits(whole(static_cast<double>(forecast.commits)));
  double sent = 0;
  for (size_t i = 0; i < cluster.islands.size(); ++i) {
    Simulation::IslandTraffic* traffic = out.add_traffic();
    traffic->set_island(cluster.islands[i].name);
    traffic->set_sent_bytes(whole(forecast.bytes_sent[i]));
    sent += forecast.bytes_sent[i];
  }
  out.set_sent_bytes(whole(sent));
  out.set_simulated_samples(forecast.samples);
  out.set_lives(forecast.lives);
  out.set_members_mean(forecast.members_mean);
  return out;
}

absl::StatusOr<Simulation::Plan> RunPlan(const SimulateArguments& arguments,
                                         const Question& question,
                                         const SimulationPlan& plan) {
  const sim::ClusterShape cluster =
      FirstIslands(question.cluster, plan.islands);
  sim::ForecastProblem problem;
  problem.spec = plan.spec;
  problem.elements = question.model.elements;
  problem.cluster = cluster;
  problem.rounds_max = arguments.rounds;
  problem.seed = arguments.seed;
  SKERRY_ASSIGN_OR_RETURN(const sim::Forecast calm, sim::MakeForecast(problem));
  SKERRY_ASSIGN_OR_RETURN(problem.absences,
                          AbsencesOf(arguments, question, cluster, calm));
  if (problem.absences.empty()) return Describe(plan, cluster, calm, calm);
  SKERRY_ASSIGN_OR_RETURN(const sim::Forecast forecast,
                          sim::MakeForecast(problem));
  return Describe(plan, cluster, calm, forecast);
}

}  // namespace

absl::Status Simulate(const SimulateArguments& arguments,
                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const JobFile file, ReadJobFile(arguments.job));
  const v1::JobSpec& job = file.spec;
  SKERRY_ASSIGN_OR_RETURN(const Question question, Read(arguments, job));
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<SimulationPlan> plans,
      ListPlans(job, arguments.lists, question.cluster.islands.size()));
  Simulation simulation;
  for (const SimulationPlan& plan : plans) {
    output.err << "plan " << simulation.plans_size() + 1 << " of "
               << plans.size() << ": " << plan.name << std::endl;
    auto row = RunPlan(arguments, question, plan);
    if (!row.ok()) return Annotate(row.status(), plan.name);
    *simulation.add_plans() = *std::move(row);
  }
  const auto best = std::max_element(
      simulation.mutable_plans()->begin(), simulation.mutable_plans()->end(),
      [](const Simulation::Plan& a, const Simulation::Plan& b) {
        return a.samples_per_s() < b.samples_per_s();
      });
  best->set_best(true);
  output.out << (output.form == OutputForm::kJson
                     ? JsonText(simulation)
                     : SimulationTable(simulation));
  return absl::OkStatus();
}

namespace {

void AddList(CLI::App& app, const std::string& name, const std::string& about,
             std::vector<std::string>& values) {
  app.add_option(name, values,
                 about +
                     ", several with commas between them; default: the "
                     "job's")
      ->type_name("WORDS")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void AddOptions(CLI::App& app, SimulateArguments& wanted) {
  app.add_option("-f,--file", wanted.job, "YAML file of the job")
      ->type_name("FILE")
      ->required();
  app.add_option("--cluster", wanted.cluster,
                 "YAML file of islands, speeds and links; "
                 "examples/cluster.yaml is one")
      ->type_name("FILE")
      ->required();
  AddDescription(app, wanted.description);
  PlanLists& lists = wanted.lists;
  runtime::AddNumbers(app, "--tau", lists.taus, {1, 1'000'000},
                      "inner steps a round, several with commas between "
                      "them; default: the job's");
  AddList(app, "--codec", "codecs, or adaptive", lists.codecs);
  AddList(app, "--method", "outer methods", lists.methods);
  runtime::AddNumbers(app, "--islands", lists.islands, {1, 10'000},
                      "how many of the cluster's, from the first, several "
                      "with commas between them; default: all");
  CLI::Option* every = AddDuration(
      app, "--preempt-every",
      "mean time until a worker's machine is taken away; default: never",
      wanted.preempt_every);
  AddDuration(app, "--away", "mean time until it is given back; default: 5m",
              wanted.away)
      ->needs(every);
  app.add_option("--trace", wanted.trace,
                 "file of SECONDS,WORKER,down or up instead; default: none")
      ->type_name("FILE")
      ->excludes(every);
  runtime::AddNumber(app, "--rounds", wanted.rounds, {1, 1'000'000},
                     "rounds of each worker; a longer job is cut to so many")
      ->capture_default_str();
  runtime::AddNumber(app, "--seed", wanted.seed, {},
                     "seed of all that is drawn")
      ->capture_default_str();
}

}  // namespace

Command SimulateCommand() {
  return MakeCommand<SimulateArguments>(
      {.words = "simulate",
       .about = "what a job would come to on another cluster",
       .add_options = AddOptions,
       .run = Simulate});
}

}  // namespace skerry::cli
