#include "model/exec/initialize_parameters.h"

#include <bit>
#include <cmath>
#include <cstddef>

#include "base/check.h"
#include "base/random.h"

namespace skerry::model {
namespace {

// Horner's rule, highest coefficient last.
template <size_t N>
double Polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// The natural logarithm of a positive normal number. The library's may differ
// from machine to machine in the last bit; this one cannot:
// x = 2^e m, log m = 2 atanh((m - 1) / (m + 1)).
double PortableLog(double x) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kLog2 = 0.69314718055994530942;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  // m in [1/2, 1), then in [sqrt(1/2), sqrt(2)) where the series is short.
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) |
                                   0x3fe0000000000000ull);
  if (m < kSqrtHalf) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  constexpr double kSeries[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,
                                1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15,
                                1.0 / 17, 1.0 / 19, 1.0 / 21};
  return exponent * kLog2 + 2 * s * Polynomial(kSeries, s * s);
}

// Coefficients of PPND16: M. J. Wichura, Algorithm AS 241, Applied Statistics
// 37 (1988), relative error about 1e-16.
constexpr double kCentreTop[] = {
    3.3871328727963666080e0,  1.3314166789178437745e+2,
    1.9715909503065514427e+3, 1.3731693765509461125e+4,
    4.5921953931549871457e+4, 6.7265770927008700853e+4,
    3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double kCentreBottom[] = {1.0,
                                    4.2313330701600911252e+1,
                                    6.8718700749205790830e+2,
                                    5.3941960214247511077e+3,
                                    2.1213794301586595867e+4,
                                    3.9307895800092710610e+4,
                                    2.8729085735721942674e+4,
                                    5.2264952788528545610e+3};
constexpr double kMiddleTop[] = {
    1.42343711074968357734e0,  4.63033784615654529590e0,
    5.76949722146069140550e0,  3.64784832476320460504e0,
    1.27045825245236838258e0,  2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kMiddleBottom[] = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
constexpr double kFarTop[] = {
    6.65790464350110377720e0,  5.46378491116411436990e0,
    1.78482653991729133580e0,  2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kFarBottom[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};

}  // namespace

double NormalFromBits(uint64_t bits) {
  // By symmetry only the lower half is computed, where (bits + 1/2) / 2^64
  // keeps its relative precision.
  const bool upper = (bits >> 63) != 0;
  const double p =
      (static_cast<double>(upper ? ~bits : bits) + 0.5) * 0x1.0p-64;
  const double q = 0.5 - p;
  double x;
  if (q <= 0.425) {
    const double r = 0.180625 - q * q;
    x = q * Polynomial(kCentreTop, r) / Polynomial(kCentreBottom, r);
  } else {
    const double r = std::sqrt(-PortableLog(p));
    x = r <= 5 ? Polynomial(kMiddleTop, r - 1.6) /
                     Polynomial(kMiddleBottom, r - 1.6)
               : Polynomial(kFarTop, r - 5) / Polynomial(kFarBottom, r - 5);
  }
  return upper ? x : -x;
}

void InitializeParameters(const ParameterLayout& layout,
                          const ModelConfig& config, uint64_t seed,
                          std::span<float> parameters) {
  SKERRY_CHECK(static_cast<int64_t>(parameters.size()) ==
               layout.element_count());
  const double residual_range =
      config.initializer_range / std::sqrt(2.0 * config.n_layer);
  for (const ParameterTensor& tensor : layout.tensors()) {
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.elements; ++i) {
      double value = 0;
      switch (tensor.initializer) {
        case Initializer::kNormal:
          value = config.initializer_range * NormalFromBits(RandomAt(seed, i));
          break;
        case Initializer::kResidualNormal:
          value = residual_range * NormalFromBits(RandomAt(seed, i));
          break;
        case Initializer::kZero:
          break;
        case Initializer::kOne:
          value = 1;
          break;
      }
      parameters[i] = static_cast<float>(value);
    }
  }
}

}  // namespace skerry::model
