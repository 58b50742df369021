#include "compression/threshold/tail_quantiles.h"

#include <cmath>

namespace skerry::compression {
namespace {

constexpr int kTermsMax = 500;
constexpr double kTiny = 1e-300;

// x^shape e^-x / Gamma(shape).
double GammaFactor(double shape, double x) {
  return std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

// The power series of the lower share; converges fast for x < shape + 1.
double LowerGammaSeries(double shape, double x) {
  double term = 1.0 / shape;
  double sum = term;
  for (int n = 1; n < kTermsMax && term > sum * 1e-16; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum * GammaFactor(shape, x);
}

// Lentz's evaluation of the continued fraction of the upper share.
double UpperGammaFraction(double shape, double x) {
  double b = x + 1.0 - shape;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double value = d;
  for (int n = 1; n < kTermsMax; ++n) {
    const double a = -n * (n - shape);
    b += 2.0;
    d = a * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + a / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    value *= d * c;
    if (std::fabs(d * c - 1.0) < 1e-15) break;
  }
  return value * GammaFactor(shape, x);
}

}  // namespace

double ExponentialTail(double mean, double density) {
  return -mean * std::log(density);
}

double GeneralisedParetoTail(double mean, double variance, double density) {
  if (!(variance > 0.0)) return mean;
  const double squared = mean * mean / variance;
  const double scale = 0.5 * mean * (squared + 1.0);
  const double k = 0.5 * (squared - 1.0);
  const double log_density = std::log(density);
  if (std::fabs(k * log_density) < 1e-9) return -scale * log_density;
  return -scale * std::expm1(k * log_density) / k;
}

double UpperGammaShare(double shape, double x) {
  if (!(x > 0.0)) return 1.0;
  return x < shape + 1.0 ? 1.0 - LowerGammaSeries(shape, x)
                         : UpperGammaFraction(shape, x);
}

double GammaTail(double mean, double log_gap, double density) {
  if (!(log_gap > 0.0)) return mean;
  const double q = log_gap;
  const double shape =
      (3.0 - q + std::sqrt((q - 3.0) * (q - 3.0) + 24.0 * q)) / (12.0 * q);
  double high = shape + 1.0;
  while (UpperGammaShare(shape, high) > density) high *= 2.0;
  double low = 0.0;
  for (int step = 0; step < 100 && high - low > high * 1e-13; ++step) {
    const double middle = 0.5 * (low + high);
    (UpperGammaShare(shape, middle) > density ? low : high) = middle;
  }
  return mean / shape * high;
}

}  // namespace skerry::compression
