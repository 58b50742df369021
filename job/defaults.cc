#include "job/defaults.h"

#include "job/codec_review.h"

namespace skerry::job {
namespace {

template <typename T>
void Fill(std::optional<T>& value, T standard) {
  if (!value.has_value()) value = standard;
}

double StandardDecay(InnerOptimizer optimizer) {
  switch (optimizer) {
    case InnerOptimizer::kLamb:
      return 0.01;
    case InnerOptimizer::kSgd:
      return 0;
    default:
      return 0.1;
  }
}

// LAMB and Muon have AdamW's betas. SGD has none.
void FillOptimizer(JobSpec::Training& t) {
  if (t.optimizer != InnerOptimizer::kSgd) {
    Fill(t.beta1, 0.9);
    Fill(t.beta2, 0.95);
    Fill(t.epsilon, 1e-8);
  }
  if (t.optimizer == InnerOptimizer::kSgd) {
    Fill(t.momentum, 0.9);
    Fill(t.nesterov, false);
  }
  if (t.optimizer == InnerOptimizer::kMuon) {
    Fill(t.momentum, 0.95);
    Fill(t.nesterov, true);
  }
  Fill(t.weight_decay, StandardDecay(*t.optimizer));
}

// What Skerry's own engine does in an inner step.
void FillEngine(JobSpec::Training& t) {
  FillOptimizer(t);
  Fill(t.micro_batch_samples, t.batch_samples);
  if (t.schedule == Schedule::kWsd) Fill(t.decay_fraction, 0.2);
}

// The method's preset. Without a method nothing is filled.
void FillOuterLoop(const std::string& codec, JobSpec::OuterLoop& outer) {
  const auto preset = optimizer::OuterPreset(OuterMethodName(outer.method));
  if (!preset.ok()) return;
  if (!outer.mix.has_value()) outer.mix = preset->mix;
  Fill(outer.learning_rate, outer.mix.value_or(preset->learning_rate));
  Fill(outer.momentum, preset->momentum);
  Fill(outer.nesterov, preset->nesterov);
  Fill(outer.staleness_penalty, preset->penalty);
  if (!outer.clip.has_value()) outer.clip = preset->clip;
  Fill(outer.beta, StandardBeta(codec));
  Fill(outer.undelayed_fraction, preset->undelayed_rounds_fraction);
}

}  // namespace

void FillDefaults(uint32_t context, JobSpec& spec) {
  if (context > 0) Fill(spec.data.sequence_tokens, context);
  if (!spec.model.program.has_value()) FillEngine(spec.training);
  Fill(spec.training.evaluate_every, 10u);
  FillOuterLoop(spec.exchange.codec, spec.outer);
}

}  // namespace skerry::job
