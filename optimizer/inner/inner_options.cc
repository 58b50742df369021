#include "optimizer/inner/inner_options.h"

#include "base/check.h"
#include "optimizer/inner/lamb.h"
#include "optimizer/inner/muon.h"
#include "optimizer/inner/sgd.h"

namespace skerry::optimizer {
namespace {

SgdOptions SgdOf(const InnerOptions& options) {
  return {options.momentum, options.nesterov, options.adamw.weight_decay};
}

MuonOptions MuonOf(const InnerOptions& options) {
  return {options.momentum, options.nesterov, options.adamw};
}

}  // namespace

absl::Status ValidateInnerOptions(const InnerOptions& options) {
  switch (options.algorithm) {
    case Algorithm::kAdamW:
      return ValidateAdamWOptions(options.adamw);
    case Algorithm::kLamb:
      return ValidateLambOptions({.adam = options.adamw});
    case Algorithm::kSgd:
      return ValidateSgdOptions(SgdOf(options));
    case Algorithm::kMuon:
      return ValidateMuonOptions(MuonOf(options));
  }
  return absl::InvalidArgumentError("there is no such inner optimizer");
}

std::unique_ptr<InnerOptimizer> MakeInnerOptimizer(
    const InnerOptions& options, std::span<const Tensor> tensors,
    const MatrixProducts& products) {
  switch (options.algorithm) {
    case Algorithm::kAdamW:
      return std::make_unique<AdamW>(options.adamw, tensors);
    case Algorithm::kLamb:
      return std::make_unique<Lamb>(LambOptions{.adam = options.adamw},
                                    tensors);
    case Algorithm::kSgd:
      return std::make_unique<Sgd>(SgdOf(options), tensors);
    case Algorithm::kMuon:
      return std::make_unique<Muon>(MuonOf(options), tensors, products);
  }
  SKERRY_CHECK(false);
  return nullptr;
}

}  // namespace skerry::optimizer
