// bench/micro/llmc_steps.c
//
// What engine_steps does, with llm.c's CPU trainer: see there. It is compiled
// by bench/micro/engine_peers beside a checkout of llm.c, whose train_gpt2.c
// it includes without that file's main(), and whose flags it is built with.
//
//   llmc_steps --threads N --vocab V --columns T --width C --layers L
//              --heads H --rows B --bf16 0
//
// A step is that trainer's own: forward, zeroed gradients, backward, AdamW;
// there is no clipping. Threads are OpenMP's (OMP_NUM_THREADS).
#define _GNU_SOURCE
#define TESTING
#include "train_gpt2.c"

#include <string.h>
#include <sys/mman.h>

static int Given(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], name) != 0) continue;
    char* end;
    const long value = strtol(argv[i + 1], &end, 10);
    if (*argv[i + 1] != '\0' && *end == '\0' && value >= 1 &&
        value <= 1 << 24) {
      return (int)value;
    }
    fprintf(stderr, "llmc_steps: %s: has to be a whole number from 1 to %d\n",
            name, 1 << 24);
    exit(2);
  }
  fprintf(stderr, "llmc_steps: %s is missing\n", name);
  exit(2);
}

// Uniform in [-1, 1), from a linear congruential generator.
static float Draw(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

// llm.c takes its models from files: this one is in memory until it is closed.
// Weights have GPT-2's standard deviation, 0.02; norms begin at 1 and 0.
static void BuildModel(GPT2* model, GPT2Config config) {
  size_t sizes[NUM_PARAMETER_TENSORS];
  fill_in_parameter_sizes(sizes, config);
  const int file = memfd_create("model", 0);
  FILE* out = fdopen(file, "wb");
  if (file < 0 || out == NULL) {
    perror("llmc_steps: a file in memory");
    exit(1);
  }
  const int header[256] = {20240326,          3,
                           config.max_seq_len, config.vocab_size,
                           config.num_layers,  config.num_heads,
                           config.channels,    config.padded_vocab_size};
  fwrite(header, sizeof(int), 256, out);
  uint64_t state = 1;
  for (int i = 0; i < NUM_PARAMETER_TENSORS; ++i) {
    const int is_gain = i == 2 || i == 8 || i == 14;
    const int is_bias = i == 3 || i == 5 || i == 7 || i == 9 || i == 11 ||
                        i == 13 || i == 15;
    for (size_t k = 0; k < sizes[i]; ++k) {
      const float drawn = 0.0346f * Draw(&state);
      const float value = is_gain ? 1.0f : is_bias ? 0.0f : drawn;
      fwrite(&value, sizeof(value), 1, out);
    }
  }
  fflush(out);
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  gpt2_build_from_checkpoint(model, path);
  fclose(out);
}

int main(int argc, char** argv) {
  // llm.c prints what it does; standard output is for the answers.
  FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int vocab = Given(argc, argv, "--vocab");
  const int rows = Given(argc, argv, "--rows");
  const int columns = Given(argc, argv, "--columns");
  const GPT2Config config = {.max_seq_len = columns,
                             .vocab_size = vocab,
                             .padded_vocab_size = (vocab + 127) / 128 * 128,
                             .num_layers = Given(argc, argv, "--layers"),
                             .num_heads = Given(argc, argv, "--heads"),
                             .channels = Given(argc, argv, "--width")};
  if (Given(argc, argv, "--bf16") != 0) return 3;
  GPT2 model;
  BuildModel(&model, config);
  const size_t tokens = (size_t)rows * (size_t)columns;
  int* inputs = malloc(tokens * sizeof(int));
  int* targets = malloc(tokens * sizeof(int));
  uint64_t state = 2;
  for (size_t i = 0; i < tokens; ++i) {
    inputs[i] = (int)((Draw(&state) + 1) / 2 * (float)vocab) % vocab;
    targets[i] = (int)((Draw(&state) + 1) / 2 * (float)vocab) % vocab;
  }
  const size_t padding =
      (size_t)(config.padded_vocab_size - vocab) * (size_t)config.channels;
  int steps = 1;
  int done = 0;
  for (int first = 1; first || scanf("%d", &steps) == 1; first = 0) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < steps; ++i) {
      gpt2_forward(&model, inputs, targets, (size_t)rows, (size_t)columns);
      gpt2_zero_grad(&model);
      gpt2_backward(&model);
      gpt2_update(&model, 1e-4f, 0.9f, 0.95f, 1e-8f, 0.1f, ++done);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (!(model.mean_loss > 0)) return 1;
    if (first) {
      fprintf(answers, "{\"parameters\": %zu, \"version\": \"llm.c\"}\n",
              model.num_parameters - padding);
    } else {
      fprintf(answers, "%.9f\n",
              (double)(end.tv_sec - begin.tv_sec) +
                  (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    }
    fflush(answers);
  }
  return 0;
}
