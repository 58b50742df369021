// Records what a replica of the demo would send: trains its smaller model on a
// text for some rounds, and writes parts of the last round's pseudo-gradient
// (start of the round minus its end) as fp32. The codecs' quality tests read
// the recording that is committed, compression/testing/pseudo_gradient.f32.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "data/byte_tokenizer.h"
#include "data/token_shard.h"
#include "runtime/posix/thread_pool.h"
#include "trainer/core/language_model_trainer.h"

namespace skerry::bench {
namespace {

using trainer::LanguageModelTrainer;

constexpr uint64_t kRounds = 20;
constexpr uint64_t kTau = 12;
constexpr uint64_t kBatch = 16;
// Evenly spread over the model, so that every kind of tensor is in.
constexpr size_t kPieces = 16;
constexpr size_t kPieceElements = 4096;

trainer::TrainingOptions Options() {
  trainer::TrainingOptions options;
  options.config_json = R"({
      "model_type": "gpt2", "vocab_size": 256, "n_positions": 64,
      "n_embd": 96, "n_layer": 3, "n_head": 4, "resid_pdrop": 0.0,
      "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
  options.model_seed = 1;
  options.data_seed = 1;
  options.samples_total = 58 * kTau * kBatch;
  options.micro_batch_samples = kBatch;
  options.learning_rate = 4e-3f;
  return options;
}

std::vector<float> State(LanguageModelTrainer& model) {
  const uint64_t count = model.description().element_count;
  std::vector<float> state(count);
  const ElementRange all = {0, count};
  SKERRY_CHECK(model.Snapshot({&all, 1}, state).ok());
  return state;
}

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: record_pseudo_gradient TEXT OUT\n");
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  const auto shard = data::EncodeTokenShard(data::EncodeBytes(text));
  if (!shard.ok()) {
    std::fprintf(stderr, "record_pseudo_gradient: %s: %s\n", argv[1],
                 shard.status().ToString().c_str());
    return 1;
  }
  const auto parsed = data::TokenShard::Parse(std::as_bytes(std::span(*shard)));
  SKERRY_CHECK(parsed.ok());
  runtime::ThreadPool pool("trainer", 2);
  trainer::TrainingData data{.training = {*parsed},
                             .validation = {},
                             .tokenizer = std::string(data::kByteTokenizerName),
                             .vocab_size = data::kByteVocabSize};
  const auto model =
      LanguageModelTrainer::Create(Options(), std::move(data), pool);
  SKERRY_CHECK(model.ok());
  std::vector<float> start;
  for (uint64_t round = 0; round < kRounds; ++round) {
    start = State(**model);
    const uint64_t begin = round * kTau * kBatch;
    const auto run = (*model)->Run({.ranges = {{begin, begin + kTau * kBatch}},
                                    .replica_batch_samples = kBatch},
                                   [] { return false; });
    SKERRY_CHECK(run.ok());
    std::printf("round %d loss %.4f\n", static_cast<int>(round), run->loss);
  }
  const std::vector<float> live = State(**model);
  std::ofstream out(argv[2], std::ios::binary);
  for (size_t piece = 0; piece < kPieces; ++piece) {
    const size_t begin = piece * (live.size() - kPieceElements) / (kPieces - 1);
    std::vector<float> delta(kPieceElements);
    for (size_t i = 0; i < kPieceElements; ++i) {
      delta[i] = start[begin + i] - live[begin + i];
    }
    out.write(reinterpret_cast<const char*>(delta.data()),
              static_cast<std::streamsize>(delta.size() * sizeof(float)));
  }
  out.flush();
  if (!out) {
    std::fprintf(stderr, "record_pseudo_gradient: cannot write %s\n", argv[2]);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
