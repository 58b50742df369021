#include "job/convert/job_spec.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/convert/fields.h"
#include "job/limits.h"

namespace skerry::job {
namespace {

absl::StatusOr<OuterMethod> MethodFromProto(v1::JobSpec::OuterMethod method) {
  switch (method) {
    case v1::JobSpec::OUTER_METHOD_UNSPECIFIED:
      return OuterMethod::kUnspecified;
    case v1::JobSpec::OUTER_METHOD_LOCAL_SGD:
      return OuterMethod::kLocalSgd;
    case v1::JobSpec::OUTER_METHOD_DILOCO:
      return OuterMethod::kDiloco;
    case v1::JobSpec::OUTER_METHOD_CO2:
      return OuterMethod::kCo2;
    case v1::JobSpec::OUTER_METHOD_AVERAGE_PLUS_LOCAL_DELTA:
      return OuterMethod::kAveragePlusLocalDelta;
    case v1::JobSpec::OUTER_METHOD_LATE:
      return OuterMethod::kLate;
    case v1::JobSpec::OUTER_METHOD_DASGD:
      return OuterMethod::kDaSgd;
    default:
      return BadField("outer.method",
                      absl::StrCat("is unknown: ", static_cast<int>(method)));
  }
}

v1::JobSpec::OuterMethod MethodToProto(OuterMethod method) {
  switch (method) {
    case OuterMethod::kUnspecified:
      return v1::JobSpec::OUTER_METHOD_UNSPECIFIED;
    case OuterMethod::kLocalSgd:
      return v1::JobSpec::OUTER_METHOD_LOCAL_SGD;
    case OuterMethod::kDiloco:
      return v1::JobSpec::OUTER_METHOD_DILOCO;
    case OuterMethod::kCo2:
      return v1::JobSpec::OUTER_METHOD_CO2;
    case OuterMethod::kAveragePlusLocalDelta:
      return v1::JobSpec::OUTER_METHOD_AVERAGE_PLUS_LOCAL_DELTA;
    case OuterMethod::kLate:
      return v1::JobSpec::OUTER_METHOD_LATE;
    case OuterMethod::kDaSgd:
      return v1::JobSpec::OUTER_METHOD_DASGD;
  }
  return v1::JobSpec::OUTER_METHOD_UNSPECIFIED;
}

absl::StatusOr<InnerOptimizer> OptimizerFromProto(
    v1::JobSpec::InnerOptimizer optimizer) {
  switch (optimizer) {
    case v1::JobSpec::INNER_OPTIMIZER_ADAMW:
      return InnerOptimizer::kAdamW;
    case v1::JobSpec::INNER_OPTIMIZER_LAMB:
      return InnerOptimizer::kLamb;
    case v1::JobSpec::INNER_OPTIMIZER_SGD:
      return InnerOptimizer::kSgd;
    case v1::JobSpec::INNER_OPTIMIZER_MUON:
      return InnerOptimizer::kMuon;
    default:
      return BadField(
          "training.optimizer",
          absl::StrCat("is unknown: ", static_cast<int>(optimizer)));
  }
}

v1::JobSpec::InnerOptimizer OptimizerToProto(InnerOptimizer optimizer) {
  switch (optimizer) {
    case InnerOptimizer::kAdamW:
      return v1::JobSpec::INNER_OPTIMIZER_ADAMW;
    case InnerOptimizer::kLamb:
      return v1::JobSpec::INNER_OPTIMIZER_LAMB;
    case InnerOptimizer::kSgd:
      return v1::JobSpec::INNER_OPTIMIZER_SGD;
    case InnerOptimizer::kMuon:
      return v1::JobSpec::INNER_OPTIMIZER_MUON;
  }
  return v1::JobSpec::INNER_OPTIMIZER_UNSPECIFIED;
}

absl::StatusOr<Schedule> ScheduleFromProto(v1::JobSpec::Schedule schedule) {
  switch (schedule) {
    case v1::JobSpec::SCHEDULE_COSINE:
      return Schedule::kCosine;
    case v1::JobSpec::SCHEDULE_LINEAR:
      return Schedule::kLinear;
    case v1::JobSpec::SCHEDULE_WSD:
      return Schedule::kWsd;
    case v1::JobSpec::SCHEDULE_INVERSE_SQRT:
      return Schedule::kInverseSqrt;
    case v1::JobSpec::SCHEDULE_CONSTANT:
      return Schedule::kConstant;
    default:
      return BadField("training.schedule",
                      absl::StrCat("is unknown: ", static_cast<int>(schedule)));
  }
}

absl::StatusOr<Compute> ComputeFromProto(v1::JobSpec::Compute compute) {
  switch (compute) {
    case v1::JobSpec::COMPUTE_FP32:
      return Compute::kFp32;
    case v1::JobSpec::COMPUTE_BF16:
      return Compute::kBf16;
    default:
      return BadField("training.compute",
                      absl::StrCat("is unknown: ", static_cast<int>(compute)));
  }
}

v1::JobSpec::Compute ComputeToProto(Compute compute) {
  switch (compute) {
    case Compute::kFp32:
      return v1::JobSpec::COMPUTE_FP32;
    case Compute::kBf16:
      return v1::JobSpec::COMPUTE_BF16;
  }
  return v1::JobSpec::COMPUTE_UNSPECIFIED;
}

v1::JobSpec::Schedule ScheduleToProto(Schedule schedule) {
  switch (schedule) {
    case Schedule::kCosine:
      return v1::JobSpec::SCHEDULE_COSINE;
    case Schedule::kLinear:
      return v1::JobSpec::SCHEDULE_LINEAR;
    case Schedule::kWsd:
      return v1::JobSpec::SCHEDULE_WSD;
    case Schedule::kInverseSqrt:
      return v1::JobSpec::SCHEDULE_INVERSE_SQRT;
    case Schedule::kConstant:
      return v1::JobSpec::SCHEDULE_CONSTANT;
  }
  return v1::JobSpec::SCHEDULE_UNSPECIFIED;
}

absl::StatusOr<Samples> SamplesFromProto(v1::JobSpec::Samples samples) {
  switch (samples) {
    case v1::JobSpec::SAMPLES_UNSPECIFIED:
      return Samples::kUnspecified;
    case v1::JobSpec::SAMPLES_ANEW:
      return Samples::kAnew;
    case v1::JobSpec::SAMPLES_GO_ON:
      return Samples::kGoOn;
    default:
      return BadField("model.checkpoint.samples",
                      absl::StrCat("is unknown: ", static_cast<int>(samples)));
  }
}

v1::JobSpec::Samples SamplesToProto(Samples samples) {
  switch (samples) {
    case Samples::kUnspecified:
      return v1::JobSpec::SAMPLES_UNSPECIFIED;
    case Samples::kAnew:
      return v1::JobSpec::SAMPLES_ANEW;
    case Samples::kGoOn:
      return v1::JobSpec::SAMPLES_GO_ON;
  }
  return v1::JobSpec::SAMPLES_UNSPECIFIED;
}

absl::StatusOr<JobSpec::Checkpoint> CheckpointFromProto(
    const v1::JobSpec::Checkpoint& in) {
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.path(), kTextBytesMax, "model.checkpoint.path"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.name(), kNameBytesMax, "model.checkpoint.name"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.sha256(), kNameBytesMax, "model.checkpoint.sha256"));
  JobSpec::Checkpoint out{in.path(), in.name(), in.sha256(), {}, {}};
  SKERRY_ASSIGN_OR_RETURN(out.samples, SamplesFromProto(in.samples()));
  SKERRY_ASSIGN_OR_RETURN(
      out.consumed,
      RangesFromProto(in.consumed(), kRangesMax, "model.checkpoint.consumed"));
  return out;
}

void CheckpointToProto(const JobSpec::Checkpoint& in,
                       v1::JobSpec::Checkpoint* out) {
  out->set_path(in.path);
  out->set_name(in.name);
  out->set_sha256(in.sha256);
  out->set_samples(SamplesToProto(in.samples));
  RangesToProto(in.consumed, out->mutable_consumed());
}

absl::StatusOr<JobSpec::Program> ProgramFromProto(
    const v1::JobSpec::Program& in) {
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.name(), kNameBytesMax, "model.program.name"));
  SKERRY_RETURN_IF_ERROR(CheckText(in.parameters_json(), kParametersBytesMax,
                                   "model.program.parameters_json"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.sha256(), kNameBytesMax, "model.program.sha256"));
  return JobSpec::Program{in.name(), in.parameters_json(), in.sha256()};
}

void ProgramToProto(const JobSpec::Program& in, v1::JobSpec::Program* out) {
  out->set_name(in.name);
  out->set_parameters_json(in.parameters_json);
  out->set_sha256(in.sha256);
}

absl::StatusOr<JobSpec::Checkpoints> CheckpointsFromProto(
    const v1::JobSpec::Checkpoints& in) {
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.directory(), kTextBytesMax, "checkpoint.directory"));
  JobSpec::Checkpoints out{in.directory()};
  if (in.has_every()) out.every = in.every();
  if (in.has_keep()) out.keep = in.keep();
  return out;
}

absl::Status CheckSizes(const v1::JobSpec& spec) {
  SKERRY_RETURN_IF_ERROR(CheckText(spec.name(), kNameBytesMax, "name"));
  SKERRY_RETURN_IF_ERROR(CheckText(spec.model().config_json(), kConfigBytesMax,
                                   "model.config_json"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(spec.data().path(), kTextBytesMax, "data.path"));
  SKERRY_RETURN_IF_ERROR(CheckText(spec.data().manifest_sha256(), kNameBytesMax,
                                   "data.manifest_sha256"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(spec.data().id(), kDataIdBytesMax, "data.id"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(spec.exchange().codec(), kNameBytesMax, "exchange.codec"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(spec.queue().owner(), kNameBytesMax, "queue.owner"));
  if (spec.placement().islands_size() > static_cast<int>(kIslandsMax)) {
    return BadField("placement.islands",
                    absl::StrCat("names more than ", kIslandsMax, " islands"));
  }
  for (const std::string& island : spec.placement().islands()) {
    SKERRY_RETURN_IF_ERROR(
        CheckText(island, kNameBytesMax, "placement.islands"));
  }
  return absl::OkStatus();
}

absl::Status ChoicesFromProto(const v1::JobSpec::Training& in,
                              JobSpec::Training* out) {
  if (in.optimizer() != v1::JobSpec::INNER_OPTIMIZER_UNSPECIFIED) {
    SKERRY_ASSIGN_OR_RETURN(out->optimizer, OptimizerFromProto(in.optimizer()));
  }
  if (in.schedule() != v1::JobSpec::SCHEDULE_UNSPECIFIED) {
    SKERRY_ASSIGN_OR_RETURN(out->schedule, ScheduleFromProto(in.schedule()));
  }
  if (in.compute() != v1::JobSpec::COMPUTE_UNSPECIFIED) {
    SKERRY_ASSIGN_OR_RETURN(out->compute, ComputeFromProto(in.compute()));
  }
  return absl::OkStatus();
}

absl::StatusOr<JobSpec::Training> TrainingFromProto(
    const v1::JobSpec::Training& in, bool has_program) {
  JobSpec::Training out;
  if (has_program) LeaveToProgram(out);
  SKERRY_RETURN_IF_ERROR(ChoicesFromProto(in, &out));
  out.samples = in.samples();
  out.batch_samples = in.batch_samples();
  out.recompute = in.recompute();
  if (in.has_micro_batch_samples())
    out.micro_batch_samples = in.micro_batch_samples();
  if (in.has_tau()) out.tau = in.tau();
  if (in.has_learning_rate()) out.learning_rate = in.learning_rate();
  if (in.has_beta1()) out.beta1 = in.beta1();
  if (in.has_beta2()) out.beta2 = in.beta2();
  if (in.has_epsilon()) out.epsilon = in.epsilon();
  if (in.has_evaluate_samples()) out.evaluate_samples = in.evaluate_samples();
  if (in.has_weight_decay()) out.weight_decay = in.weight_decay();
  if (in.has_momentum()) out.momentum = in.momentum();
  if (in.has_nesterov()) out.nesterov = in.nesterov();
  if (in.has_decay_fraction()) out.decay_fraction = in.decay_fraction();
  if (in.has_warmup_fraction()) out.warmup_fraction = in.warmup_fraction();
  if (in.has_min_learning_rate_ratio())
    out.min_learning_rate_ratio = in.min_learning_rate_ratio();
  if (in.has_clip_norm()) out.clip_norm = in.clip_norm();
  if (in.has_evaluate_every()) out.evaluate_every = in.evaluate_every();
  return out;
}

void TrainingToProto(const JobSpec::Training& in, v1::JobSpec::Training* out) {
  out->set_samples(in.samples);
  out->set_batch_samples(in.batch_samples);
  if (in.micro_batch_samples.has_value())
    out->set_micro_batch_samples(*in.micro_batch_samples);
  out->set_tau(in.tau);
  if (in.learning_rate.has_value()) out->set_learning_rate(*in.learning_rate);
  if (in.beta1.has_value()) out->set_beta1(*in.beta1);
  if (in.beta2.has_value()) out->set_beta2(*in.beta2);
  if (in.epsilon.has_value()) out->set_epsilon(*in.epsilon);
  out->set_evaluate_samples(in.evaluate_samples);
  out->set_recompute(in.recompute);
  if (in.optimizer.has_value())
    out->set_optimizer(OptimizerToProto(*in.optimizer));
  if (in.schedule.has_value()) out->set_schedule(ScheduleToProto(*in.schedule));
  if (in.compute.has_value()) out->set_compute(ComputeToProto(*in.compute));
  if (in.weight_decay.has_value()) out->set_weight_decay(*in.weight_decay);
  if (in.momentum.has_value()) out->set_momentum(*in.momentum);
  if (in.nesterov.has_value()) out->set_nesterov(*in.nesterov);
  if (in.decay_fraction.has_value())
    out->set_decay_fraction(*in.decay_fraction);
  if (in.warmup_fraction.has_value())
    out->set_warmup_fraction(*in.warmup_fraction);
  if (in.min_learning_rate_ratio.has_value())
    out->set_min_learning_rate_ratio(*in.min_learning_rate_ratio);
  if (in.clip_norm.has_value()) out->set_clip_norm(*in.clip_norm);
  if (in.evaluate_every.has_value())
    out->set_evaluate_every(*in.evaluate_every);
}

void OuterFromProto(const v1::JobSpec::OuterLoop& in, JobSpec::OuterLoop* out) {
  if (in.has_learning_rate()) out->learning_rate = in.learning_rate();
  if (in.has_momentum()) out->momentum = in.momentum();
  if (in.has_nesterov()) out->nesterov = in.nesterov();
  if (in.has_staleness_penalty())
    out->staleness_penalty = in.staleness_penalty();
  if (in.has_clip()) out->clip = in.clip();
  if (in.has_beta()) out->beta = in.beta();
  if (in.has_undelayed_fraction())
    out->undelayed_fraction = in.undelayed_fraction();
  if (in.has_own_share()) out->own_share = in.own_share();
  if (in.has_apply_points()) out->apply_points = in.apply_points();
  if (in.has_mix()) out->mix = in.mix();
  out->accept_weak_damping = in.accept_weak_damping();
}

void OuterToProto(const JobSpec::OuterLoop& in, v1::JobSpec::OuterLoop* out) {
  out->set_method(MethodToProto(in.method));
  if (in.learning_rate.has_value()) out->set_learning_rate(*in.learning_rate);
  if (in.momentum.has_value()) out->set_momentum(*in.momentum);
  if (in.nesterov.has_value()) out->set_nesterov(*in.nesterov);
  if (in.staleness_penalty.has_value())
    out->set_staleness_penalty(*in.staleness_penalty);
  if (in.clip.has_value()) out->set_clip(*in.clip);
  if (in.beta.has_value()) out->set_beta(*in.beta);
  if (in.undelayed_fraction.has_value())
    out->set_undelayed_fraction(*in.undelayed_fraction);
  if (in.own_share.has_value()) out->set_own_share(*in.own_share);
  if (in.apply_points.has_value()) out->set_apply_points(*in.apply_points);
  if (in.mix.has_value()) out->set_mix(*in.mix);
  out->set_accept_weak_damping(in.accept_weak_damping);
}

void ExchangeFromProto(const v1::JobSpec::Exchange& in,
                       JobSpec::Exchange* out) {
  if (in.has_codec()) out->codec = in.codec();
  if (in.has_quorum()) out->quorum = in.quorum();
  if (in.has_min_replicas()) out->min_replicas = in.min_replicas();
  if (in.has_carry()) out->carry = in.carry();
  if (in.has_spans()) out->spans = in.spans();
  if (in.has_fragments()) out->fragments = in.fragments();
  if (in.has_error_max()) out->error_max = in.error_max();
}

void ExchangeToProto(const JobSpec::Exchange& in, v1::JobSpec::Exchange* out) {
  out->set_codec(in.codec);
  out->set_quorum(in.quorum);
  out->set_min_replicas(in.min_replicas);
  out->set_carry(in.carry);
  out->set_spans(in.spans);
  out->set_fragments(in.fragments);
  if (in.error_max.has_value()) out->set_error_max(*in.error_max);
}

}  // namespace

absl::StatusOr<JobSpec> JobSpecFromProto(const v1::JobSpec& spec) {
  SKERRY_RETURN_IF_ERROR(CheckSizes(spec));
  JobSpec out;
  out.name = spec.name();
  out.model.config_json = spec.model().config_json();
  out.model.seed = spec.model().seed();
  if (spec.model().has_checkpoint()) {
    SKERRY_ASSIGN_OR_RETURN(out.model.checkpoint,
                            CheckpointFromProto(spec.model().checkpoint()));
  }
  if (spec.model().has_program()) {
    SKERRY_ASSIGN_OR_RETURN(out.model.program,
                            ProgramFromProto(spec.model().program()));
  }
  out.data.path = spec.data().path();
  out.data.manifest_sha256 = spec.data().manifest_sha256();
  out.data.seed = spec.data().seed();
  if (spec.data().has_sequence_tokens())
    out.data.sequence_tokens = spec.data().sequence_tokens();
  out.data.id = spec.data().id();
  if (spec.data().has_samples()) out.data.samples = spec.data().samples();
  SKERRY_ASSIGN_OR_RETURN(
      out.training,
      TrainingFromProto(spec.training(), out.model.program.has_value()));
  SKERRY_ASSIGN_OR_RETURN(out.outer.method,
                          MethodFromProto(spec.outer().method()));
  OuterFromProto(spec.outer(), &out.outer);
  ExchangeFromProto(spec.exchange(), &out.exchange);
  out.placement.islands.assign(spec.placement().islands().begin(),
                               spec.placement().islands().end());
  if (spec.placement().has_workers_min())
    out.placement.workers_min = spec.placement().workers_min();
  out.queue.priority = spec.queue().priority();
  if (spec.queue().has_owner()) out.queue.owner = spec.queue().owner();
  if (spec.has_checkpoint()) {
    SKERRY_ASSIGN_OR_RETURN(out.checkpoint,
                            CheckpointsFromProto(spec.checkpoint()));
  }
  return out;
}

void JobSpecToProto(const JobSpec& spec, v1::JobSpec* out) {
  out->Clear();
  out->set_name(spec.name);
  out->mutable_model()->set_config_json(spec.model.config_json);
  out->mutable_model()->set_seed(spec.model.seed);
  if (spec.model.checkpoint.has_value()) {
    CheckpointToProto(*spec.model.checkpoint,
                      out->mutable_model()->mutable_checkpoint());
  }
  if (spec.model.program.has_value()) {
    ProgramToProto(*spec.model.program,
                   out->mutable_model()->mutable_program());
  }
  v1::JobSpec::Data* data = out->mutable_data();
  data->set_path(spec.data.path);
  data->set_manifest_sha256(spec.data.manifest_sha256);
  data->set_seed(spec.data.seed);
  if (spec.data.sequence_tokens.has_value())
    data->set_sequence_tokens(*spec.data.sequence_tokens);
  data->set_id(spec.data.id);
  if (spec.data.samples.has_value()) data->set_samples(*spec.data.samples);
  TrainingToProto(spec.training, out->mutable_training());
  OuterToProto(spec.outer, out->mutable_outer());
  ExchangeToProto(spec.exchange, out->mutable_exchange());
  for (const std::string& island : spec.placement.islands) {
    out->mutable_placement()->add_islands(island);
  }
  out->mutable_placement()->set_workers_min(spec.placement.workers_min);
  out->mutable_queue()->set_priority(spec.queue.priority);
  out->mutable_queue()->set_owner(spec.queue.owner);
  if (spec.checkpoint.has_value()) {
    v1::JobSpec::Checkpoints* checkpoint = out->mutable_checkpoint();
    checkpoint->set_directory(spec.checkpoint->directory);
    checkpoint->set_every(spec.checkpoint->every);
    checkpoint->set_keep(spec.checkpoint->keep);
  }
}

}  // namespace skerry::job
