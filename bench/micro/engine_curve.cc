// bench/micro/engine_curve.cc
//
// Trains a model as one trainer of a job does, without the job: for curves to
// be laid over those of another engine.
//
//   engine_curve DATA PLAN.json FIRST
//
// PLAN.json is tools/gen/convergence.py's. Writes the initial parameters to
// FIRST, fp32 in the order of the layout, then prints a line of JSON for each
// step and each evaluation.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "nlohmann/json.hpp"
#include "runtime/posix/thread_pool.h"
#include "trainer/core/language_model_trainer.h"
#include "trainer/service/data_directory.h"

namespace skerry::bench {
namespace {

using Json = nlohmann::json;
using trainer::LanguageModelTrainer;

bool NeverStop() { return false; }

trainer::TrainingOptions OptionsOf(const Json& plan) {
  trainer::TrainingOptions options;
  options.config_json = plan.at("config").dump();
  options.model_seed = 1;
  options.data_seed = plan.at("data_seed");
  options.sequence_tokens = plan.at("columns");
  options.samples_total =
      plan.at("steps").get<uint64_t>() * plan.at("batch").get<uint64_t>();
  options.micro_batch_samples = plan.at("batch");
  options.inner.adamw = {.beta1 = plan.at("betas").at(0),
                         .beta2 = plan.at("betas").at(1),
                         .epsilon = plan.at("epsilon"),
                         .weight_decay = plan.at("decay")};
  options.learning_rate = plan.at("rate");
  options.warmup_fraction = plan.at("warmup");
  options.min_learning_rate_ratio = plan.at("floor");
  options.clip_norm = plan.at("clip");
  if (plan.at("bf16")) options.compute = trainer::Compute::kBf16;
  return options;
}

void WriteFirst(LanguageModelTrainer& model, const std::string& path) {
  std::vector<float> state(model.description().element_count);
  const ElementRange all = {0, state.size()};
  SKERRY_CHECK(model.Snapshot({&all, 1}, state).ok());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(state.data()),
            static_cast<std::streamsize>(state.size() * sizeof(float)));
  out.close();
  SKERRY_CHECK(!out.fail());
}

void Evaluate(LanguageModelTrainer& model, uint64_t step, uint64_t samples) {
  const auto result = model.Evaluate(samples, NeverStop);
  SKERRY_CHECK(result.ok());
  std::printf("{\"step\": %llu, \"validation\": %.6f}\n",
              static_cast<unsigned long long>(step), result->loss);
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: engine_curve DATA PLAN.json FIRST\n");
    return 2;
  }
  std::ifstream in(argv[2]);
  const Json plan = Json::parse(in);
  auto directory =
      trainer::OpenDataDirectory(argv[1], "", trainer::ShardCheck::kRead);
  if (!directory.ok()) {
    std::fprintf(stderr, "engine_curve: %s\n",
                 directory.status().ToString().c_str());
    return 1;
  }
  runtime::ThreadPool pool("curve", plan.at("threads"));
  const auto model = LanguageModelTrainer::Create(
      OptionsOf(plan), std::move(directory->data), pool);
  if (!model.ok()) {
    std::fprintf(stderr, "engine_curve: %s\n",
                 model.status().ToString().c_str());
    return 1;
  }
  WriteFirst(**model, argv[3]);
  const uint64_t steps = plan.at("steps");
  const uint64_t batch = plan.at("batch");
  const uint64_t every = plan.at("evaluate_every");
  const uint64_t samples = plan.at("evaluate_samples");
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % every == 0) Evaluate(**model, step, samples);
    const auto run =
        (*model)->Run({.ranges = {{step * batch, (step + 1) * batch}},
                       .replica_batch_samples = batch},
                      NeverStop);
    SKERRY_CHECK(run.ok());
    std::printf("{\"step\": %llu, \"loss\": %.6f}\n",
                static_cast<unsigned long long>(step), run->loss);
  }
  Evaluate(**model, steps, 0);
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
