// optimizer/inner/inner_options.h
//
// The options of a job's inner optimizer.
#ifndef SKERRY_OPTIMIZER_INNER_INNER_OPTIONS_H_
#define SKERRY_OPTIMIZER_INNER_INNER_OPTIONS_H_

#include <memory>
#include <span>

#include "absl/status/status.h"
#include "optimizer/inner/adamw.h"
#include "optimizer/inner/inner_optimizer.h"
#include "optimizer/inner/matrix_products.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

enum class Algorithm { kAdamW, kLamb, kSgd, kMuon };

struct InnerOptions {
  Algorithm algorithm = Algorithm::kAdamW;
  // Betas and epsilon are AdamW's, LAMB's and those of Muon's other tensors;
  // weight decay is everybody's.
  AdamWOptions adamw = {};
  // SGD's and Muon's.
  float momentum = 0.9f;
  bool nesterov = false;
};
// Errors: InvalidArgument that names the algorithm and what is wrong.
absl::Status ValidateInnerOptions(const InnerOptions& options);

// `products` outlive the optimizer. Requires: valid options, tensors as for
// CutIntoPieces.
std::unique_ptr<InnerOptimizer> MakeInnerOptimizer(
    const InnerOptions& options, std::span<const Tensor> tensors,
    const MatrixProducts& products);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_INNER_OPTIONS_H_
