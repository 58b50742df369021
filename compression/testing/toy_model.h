// compression/testing/toy_model.h
//
// Trains a model that is small enough to be trained hundreds of times: 32-96-4
// with ReLU. Its data are a mixture of 32 normal clusters, eight for each
// class. It shows the effect of compression on training in seconds. It
// demonstrates mechanisms, not that large models converge.
#ifndef SKERRY_COMPRESSION_TESTING_TOY_MODEL_H_
#define SKERRY_COMPRESSION_TESTING_TOY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skerry::compression {

class ToyModel {
 public:
  static constexpr size_t kInputs = 32;
  static constexpr size_t kHidden = 96;
  static constexpr size_t kClasses = 4;
  static constexpr size_t kParameters =
      (kInputs + 1) * kHidden + (kHidden + 1) * kClasses;
  static constexpr size_t kBatch = 32;

  // The first parameters and the batches follow from `seed`; clusters and
  // samples are always the same, so that seeds differ by luck alone.
  explicit ToyModel(uint64_t seed);

  std::vector<float> FirstParameters() const;

  // The gradient of the mean cross-entropy over a batch that (worker, step)
  // draws.
  void Gradient(std::span<const float> parameters, uint64_t worker,
                uint64_t step, std::span<float> gradient) const;

  // The mean cross-entropy over samples that no batch holds.
  double TestLoss(std::span<const float> parameters) const;
  // And over all that batches are drawn from.
  double TrainLoss(std::span<const float> parameters) const;

 private:
  struct Samples {
    std::vector<float> inputs;  // kInputs each
    std::vector<int> classes;
  };

  Samples Draw(size_t count, uint64_t stream) const;
  static double Loss(std::span<const float> parameters, const Samples& samples);

  const uint64_t seed_;
  std::vector<float> centers_;
  Samples train_;
  Samples test_;
};

// The mean and the standard deviation of a result over seeds.
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
};
Spread SpreadOf(std::span<const double> results);

// Half a cosine from 1 at step 0 to 0 at `steps`.
double CosineSchedule(uint64_t step, uint64_t steps);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_TOY_MODEL_H_
