// compression/threshold/tail_quantiles.h
//
// Computes the value that a share `density` of a distribution exceeds, from
// moments of its magnitudes. There are three families, which gradients resemble
// (SIDCo, arXiv 2101.10761).
#ifndef SKERRY_COMPRESSION_THRESHOLD_TAIL_QUANTILES_H_
#define SKERRY_COMPRESSION_THRESHOLD_TAIL_QUANTILES_H_

namespace skerry::compression {

// All require 0 < density <= 1 and mean > 0.

double ExponentialTail(double mean, double density);

// By moments: shape -k and scale a with k = (mean^2 / variance - 1) / 2. A
// variance of 0 gives the mean itself.
double GeneralisedParetoTail(double mean, double variance, double density);

// `log_gap` = log(mean) - mean of log, at least 0; 0 gives the mean itself. The
// shape is Minka's first estimate.
double GammaTail(double mean, double log_gap, double density);

// Q(shape, x): the share of a gamma distribution of scale 1 above x. shape > 0.
double UpperGammaShare(double shape, double x);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_THRESHOLD_TAIL_QUANTILES_H_
