// compression/testing/draws.h
//
// Draws values of the distributions that gradients resemble, from a seed.
#ifndef SKERRY_COMPRESSION_TESTING_DRAWS_H_
#define SKERRY_COMPRESSION_TESTING_DRAWS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace skerry::compression {

class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  double Exponential() { return -std::log(1 - random_.Uniform()); }
  double Normal() {
    const double radius = std::sqrt(2 * Exponential());
    return radius * std::cos(2 * M_PI * random_.Uniform());
  }
  double Laplace() {
    const double size = Exponential();
    return random_.Below(2) == 0 ? size : -size;
  }
  // Twice an exponential is a chi-square of two degrees.
  double StudentT(int freedom) {
    double squares = 0.0;
    for (int i = 0; i < freedom / 2; ++i) squares += 2 * Exponential();
    if (freedom % 2 == 1) squares += std::pow(Normal(), 2);
    return Normal() / std::sqrt(squares / freedom);
  }
  double ProductOfNormals() { return Normal() * Normal(); }
  // One in ten is 20 times larger.
  double TwoScales() {
    return Normal() * (random_.Uniform() < 0.9 ? 0.05 : 1.0);
  }

 private:
  Random random_;
};

using Draw = double (*)(Draws&);

struct Distribution {
  const char* name;
  Draw draw;
};

inline constexpr Distribution kDistributions[] = {
    {"normal", [](Draws& draws) { return draws.Normal(); }},
    {"laplace", [](Draws& draws) { return draws.Laplace(); }},
    {"t3", [](Draws& draws) { return draws.StudentT(3); }},
    {"t2", [](Draws& draws) { return draws.StudentT(2); }},
    {"product of normals",
     [](Draws& draws) { return draws.ProductOfNormals(); }},
};

inline std::vector<float> Drawn(size_t count, uint64_t seed, Draw draw) {
  Draws draws(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(draw(draws));
  return values;
}

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_DRAWS_H_
