#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "job/limits.h"
#include "protocol/convert/fields.h"
#include "protocol/convert/reach.h"
#include "protocol/convert/status.h"

namespace skerry::protocol {
namespace {

using job::BadField;
using job::CheckText;
using job::kNameBytesMax;
using job::kTextBytesMax;

constexpr int kJobsMax = 1024;
constexpr int kFragmentsMax = job::kFragmentsMax;
constexpr int kDataSetsMax = 1024;
// The coordinator's numbers go on above it, and must not come to their end.
constexpr uint64_t kSeenMax = uint64_t{1} << 60;
constexpr int kProgressMax = 4096;
constexpr int kBasesMax = 1024;
constexpr int kTasksMax = 1024;
constexpr int kLinksMax = 4096;
constexpr int kCodecSpeedsMax = 256;
constexpr int kStoredJobsMax = 65536;
constexpr int kProgramsMax = 1024;
constexpr int kUnreachedMax = 4096;
// Far above any machine, and far below where a sum of them overflows.
constexpr double kElementsPerSecondMax = 1e15;
constexpr size_t kGeneratedBytesMax = 1 << 20;

absl::StatusOr<SeatState> StateFromProto(v1::SeatState state) {
  switch (state) {
    case v1::SEAT_STATE_STARTING:
      return SeatState::kStarting;
    case v1::SEAT_STATE_RECOVERING:
      return SeatState::kRecovering;
    case v1::SEAT_STATE_ACTIVE:
      return SeatState::kActive;
    case v1::SEAT_STATE_RESTING:
      return SeatState::kResting;
    case v1::SEAT_STATE_FAILED:
      return SeatState::kFailed;
    default:
      return BadField("jobs.state",
                      absl::StrCat("is unknown: ", static_cast<int>(state)));
  }
}

template <typename Hashes>
absl::Status CheckSpans(uint32_t begin, const Hashes& hashes,
                        absl::string_view field) {
  if (static_cast<uint32_t>(hashes.size()) > job::kSpansMax ||
      begin > job::kSpansMax - static_cast<uint32_t>(hashes.size())) {
    return BadField(field, "reaches above 4096 spans");
  }
  return absl::OkStatus();
}

absl::StatusOr<StoredResult> StoredFromProto(const v1::StoredResult& stored) {
  if (stored.sequence() == 0 || stored.attempt() == 0) {
    return BadField("jobs.fragments.stored", "has no sequence or attempt");
  }
  SKERRY_RETURN_IF_ERROR(
      CheckSpans(0, stored.hashes(), "jobs.fragments.stored.hashes"));
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(stored.squared_norm(), "jobs.fragments.stored.squared_norm"));
  return StoredResult{Sequence(stored.sequence()),
                      Attempt(stored.attempt()),
                      {stored.hashes().begin(), stored.hashes().end()},
                      stored.squared_norm()};
}

absl::Status ListsFromProto(const v1::FragmentStatus& in, FragmentFacts* out) {
  if (in.progress_size() > kProgressMax || in.bases_size() > kBasesMax) {
    return BadField("jobs.fragments", "lists too many members or bases");
  }
  for (const v1::Progress& progress : in.progress()) {
    out->progress.push_back({ReplicaId(progress.replica()), progress.bytes(),
                             progress.bytes_expected()});
  }
  for (const v1::HeldBase& base : in.bases()) {
    SKERRY_RETURN_IF_ERROR(
        CheckSpans(base.span_begin(), base.hashes(), "jobs.fragments.bases"));
    out->bases.push_back({Sequence(base.sequence()),
                          base.span_begin(),
                          {base.hashes().begin(), base.hashes().end()},
                          Attempt(base.attempt())});
  }
  return absl::OkStatus();
}

absl::StatusOr<FragmentFacts> FragmentFromProto(const v1::FragmentStatus& in) {
  FragmentFacts out;
  if (in.fragment() >= kFragmentsMax) {
    return BadField("jobs.fragments.fragment", "has to be below 64");
  }
  out.fragment = FragmentId(in.fragment());
  SKERRY_RETURN_IF_ERROR(CheckSpans(in.span_begin(), in.anchor_hashes(),
                                    "jobs.fragments.anchor_hashes"));
  out.span_begin = in.span_begin();
  out.applied = Sequence(in.applied());
  out.anchor_hashes.assign(in.anchor_hashes().begin(),
                           in.anchor_hashes().end());
  out.stored_through = Sequence(in.stored_through());
  if (in.has_stored()) {
    SKERRY_ASSIGN_OR_RETURN(out.stored, StoredFromProto(in.stored()));
  }
  if (in.has_ready()) {
    SKERRY_ASSIGN_OR_RETURN(out.ready,
                            ContributionFromProto(in.ready(), job::kRangesMax,
                                                  "jobs.fragments.ready"));
  }
  SKERRY_RETURN_IF_ERROR(ListsFromProto(in, &out));
  out.first_result_kept = Sequence(in.first_result_kept());
  out.pin = Sequence(in.pin());
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(in.owed_norm(), "jobs.fragments.owed_norm"));
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(in.lost_norm(), "jobs.fragments.lost_norm"));
  out.owed_norm = in.owed_norm();
  out.lost_norm = in.lost_norm();
  out.applied_attempt = Attempt(in.applied_attempt());
  out.last_result = Sequence(in.last_result());
  out.last_result_attempt = Attempt(in.last_result_attempt());
  return out;
}

absl::Status TasksFromProto(const v1::JobStatus& in, JobFacts* out) {
  if (in.evaluations_size() > kTasksMax || in.generated_size() > kTasksMax) {
    return BadField("jobs", "lists too many evaluations or texts");
  }
  for (const v1::Evaluation& evaluation : in.evaluations()) {
    SKERRY_RETURN_IF_ERROR(
        CheckFinite(evaluation.loss(), "jobs.evaluations.loss"));
    out->evaluations.push_back({Sequence(evaluation.sequence()),
                                evaluation.loss(), evaluation.samples()});
  }
  for (const v1::Generated& generated : in.generated()) {
    SKERRY_RETURN_IF_ERROR(
        CheckText(generated.text(), kGeneratedBytesMax, "jobs.generated.text"));
    SKERRY_RETURN_IF_ERROR(
        CheckText(generated.error(), kTextBytesMax, "jobs.generated.error"));
    out->generated.push_back(
        {generated.request(), generated.text(), generated.error()});
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckpointFact> CheckpointFromProto(
    const v1::CheckpointOutcome& in) {
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.sha256(), kNameBytesMax, "jobs.checkpoint.sha256"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.error(), kTextBytesMax, "jobs.checkpoint.error"));
  return CheckpointFact{Sequence(in.sequence()), in.sha256(), in.bytes(),
                        in.error()};
}

absl::Status LinksFromProto(const v1::JobStatus& in, JobFacts* out) {
  if (in.links_size() > kLinksMax) {
    return BadField("jobs.links", "lists too many");
  }
  for (const v1::PeerLink& link : in.links()) {
    // Workers of older releases have the address only.
    if (link.worker().empty()) {
      SKERRY_RETURN_IF_ERROR(CheckName(link.address(), "jobs.links.address"));
    } else {
      SKERRY_RETURN_IF_ERROR(CheckName(link.worker(), "jobs.links.worker"));
      SKERRY_RETURN_IF_ERROR(
          CheckText(link.address(), kNameBytesMax, "jobs.links.address"));
    }
    for (const double value :
         {link.bytes_per_s(), link.rate_spread(), link.round_trip_s(),
          link.round_trip_spread_s()}) {
      SKERRY_RETURN_IF_ERROR(CheckFinite(value, "jobs.links"));
    }
    if (!(link.bytes_per_s() > 0) || !(link.rate_spread() >= 0) ||
        !(link.round_trip_s() >= 0) || !(link.round_trip_spread_s() >= 0)) {
      return BadField("jobs.links",
                      "has a rate that is not above 0, or a "
                      "negative spread or delay");
    }
    out->links.push_back({link.worker(), link.bytes_per_s(), link.rate_spread(),
                          link.round_trip_s(), link.round_trip_spread_s(),
                          link.address()});
  }
  return absl::OkStatus();
}

absl::Status CodecSpeedsFromProto(const v1::JobStatus& in, JobFacts* out) {
  if (in.codec_speeds_size() > kCodecSpeedsMax) {
    return BadField("jobs.codec_speeds", "lists too many");
  }
  for (const v1::CodecSpeed& speed : in.codec_speeds()) {
    SKERRY_RETURN_IF_ERROR(CheckName(speed.codec(), "jobs.codec_speeds.codec"));
    for (const double value :
         {speed.encode_elements_per_s(), speed.decode_elements_per_s()}) {
      if (!(value > 0) || value > kElementsPerSecondMax) {
        return BadField("jobs.codec_speeds",
                        "has a speed that is not above 0, or above 1e15");
      }
    }
    out->codec_speeds.push_back({speed.codec(), speed.encode_elements_per_s(),
                                 speed.decode_elements_per_s()});
  }
  return absl::OkStatus();
}

absl::Status MetricsFromProto(const v1::JobStatus& in, JobFacts* out) {
  if (in.metrics().size() > kMetricsMax) {
    return BadField("jobs.metrics", "lists more than 16");
  }
  for (const auto& [name, value] : in.metrics()) {
    if (!IsMetricName(name)) {
      return BadField("jobs.metrics",
                      "has a name that is not 1 to 32 letters, digits, `_`, "
                      "`.`, `/` and `-`");
    }
    SKERRY_RETURN_IF_ERROR(CheckFinite(value, "jobs.metrics"));
    out->metrics.emplace(name, value);
  }
  return absl::OkStatus();
}

absl::StatusOr<JobFacts> JobFromProto(const v1::JobStatus& in) {
  if (in.job() == 0) return BadField("jobs.job", "is missing");
  JobFacts out;
  out.job = JobId(in.job());
  out.life = Life(in.life());
  out.abandoned_life = Life(in.abandoned_life());
  SKERRY_ASSIGN_OR_RETURN(out.state, StateFromProto(in.state()));
  SKERRY_RETURN_IF_ERROR(CheckText(in.error(), kTextBytesMax, "jobs.error"));
  out.error = in.error();
  out.element_count = in.element_count();
  out.epoch_samples = in.epoch_samples();
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(in.flops_per_sample(), "jobs.flops_per_sample"));
  out.flops_per_sample = in.flops_per_sample();
  if (in.has_validation_samples()) {
    out.validation_samples = in.validation_samples();
  }
  out.initial_hash = in.initial_hash();
  out.layout_hash = in.layout_hash();
  out.begun_with = in.begun_with();
  out.average_begin = in.average_begin();
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.trainer_trouble(), kTextBytesMax, "jobs.trainer_trouble"));
  out.trainer_trouble = in.trainer_trouble();
  if (in.fragments_size() > kFragmentsMax) {
    return BadField("jobs.fragments", "lists more than 64");
  }
  for (const v1::FragmentStatus& fragment : in.fragments()) {
    SKERRY_ASSIGN_OR_RETURN(FragmentFacts one, FragmentFromProto(fragment));
    for (const FragmentFacts& other : out.fragments) {
      if (other.fragment == one.fragment) {
        return BadField("jobs.fragments", "lists one twice");
      }
    }
    out.fragments.push_back(std::move(one));
  }
  SKERRY_RETURN_IF_ERROR(TasksFromProto(in, &out));
  SKERRY_ASSIGN_OR_RETURN(out.counters,
                          CountersFromProto(in.counters(), "jobs.counters"));
  SKERRY_RETURN_IF_ERROR(LinksFromProto(in, &out));
  SKERRY_RETURN_IF_ERROR(CodecSpeedsFromProto(in, &out));
  out.result_codecs = in.result_codecs();
  out.uid = in.uid();
  if (in.has_checkpoint()) {
    SKERRY_ASSIGN_OR_RETURN(out.checkpoint,
                            CheckpointFromProto(in.checkpoint()));
  }
  SKERRY_RETURN_IF_ERROR(CheckText(in.checkpoint_trouble(), kTextBytesMax,
                                   "jobs.checkpoint_trouble"));
  out.checkpoint_trouble = in.checkpoint_trouble();
  out.has_data = in.has_data();
  SKERRY_RETURN_IF_ERROR(MetricsFromProto(in, &out));
  out.trains_alone = in.trains_alone();
  return out;
}

absl::StatusOr<job::DataFacts> DataFromProto(const v1::DataFacts& in) {
  SKERRY_RETURN_IF_ERROR(CheckText(in.path(), kTextBytesMax, "data.path"));
  SKERRY_RETURN_IF_ERROR(CheckText(in.error(), kTextBytesMax, "data.error"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.manifest_sha256(), kNameBytesMax, "data.manifest_sha256"));
  SKERRY_RETURN_IF_ERROR(
      CheckText(in.save_error(), kTextBytesMax, "data.save_error"));
  return job::DataFacts{
      in.path(),       in.error(),           in.manifest_sha256(),
      in.vocabulary(), in.training_tokens(), in.validation_tokens(),
      in.save_error()};
}

absl::StatusOr<StoredJobs> StoredFromProto(const v1::Status& status) {
  if (status.stored_jobs_size() > kStoredJobsMax) {
    return BadField("stored_jobs",
                    absl::StrCat("lists more than ", kStoredJobsMax));
  }
  StoredJobs out;
  for (const v1::StoredJob& stored : status.stored_jobs()) {
    if (stored.job() == 0) return BadField("stored_jobs", "without a job");
    out.all.push_back({{JobId(stored.job()), stored.uid()},
                       stored.bytes(),
                       stored.ended_unix_ms()});
  }
  out.keep_ended = DurationFromProto(status.keep_ended_ms());
  out.keep_ended_bytes = status.keep_ended_bytes();
  return out;
}

absl::StatusOr<std::vector<ProgramFact>> ProgramsFromProto(
    const v1::Status& status) {
  if (status.programs_size() > kProgramsMax) {
    return BadField("programs", absl::StrCat("lists more than ", kProgramsMax));
  }
  std::vector<ProgramFact> out;
  for (const v1::ProgramFact& program : status.programs()) {
    SKERRY_RETURN_IF_ERROR(CheckName(program.name(), "programs.name"));
    SKERRY_RETURN_IF_ERROR(
        CheckText(program.sha256(), kNameBytesMax, "programs.sha256"));
    out.push_back({program.name(), program.sha256()});
  }
  return out;
}

}  // namespace

absl::StatusOr<StatusFacts> StatusFromProto(const v1::Status& status) {
  if (status.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the worker speaks protocol ", status.protocol_version(),
                     ", this coordinator ", kProtocolVersion, " (release ",
                     kRelease, "); run the same release on both"));
  }
  StatusFacts out;
  SKERRY_RETURN_IF_ERROR(CheckText(status.release(), kNameBytesMax, "release"));
  out.release = status.release();
  SKERRY_ASSIGN_OR_RETURN(out.self, PeerFromProto(status.self(), "self"));
  SKERRY_RETURN_IF_ERROR(CheckName(status.island(), "island"));
  out.island = status.island();
  if (status.boot() == 0) return BadField("boot", "is missing");
  out.boot = Boot(status.boot());
  out.incarnation = Incarnation(status.incarnation());
  out.counter = status.counter();
  if (status.jobs_size() > kJobsMax) {
    return BadField("jobs", "lists more than 1024");
  }
  for (const v1::JobStatus& job : status.jobs()) {
    SKERRY_ASSIGN_OR_RETURN(JobFacts one, JobFromProto(job));
    for (const JobFacts& other : out.jobs) {
      if (other.job == one.job) return BadField("jobs", "lists one twice");
    }
    out.jobs.push_back(std::move(one));
  }
  out.draining = status.draining();
  SKERRY_RETURN_IF_ERROR(
      CheckText(status.drain_reason(), kTextBytesMax, "drain_reason"));
  out.drain_reason = status.drain_reason();
  out.folder = FolderId(status.folder());
  out.process = Boot(status.process());
  if (status.seen() > kSeenMax) return BadField("seen", "is out of range");
  out.seen = Revision(status.seen());
  SKERRY_RETURN_IF_ERROR(
      CheckText(status.machine().host(), kNameBytesMax, "machine.host"));
  out.machine = {
      status.machine().unix_ms(),      status.machine().state_free_bytes(),
      status.machine().state_bytes(),  std::nullopt,
      status.machine().memory_bytes(), status.machine().host()};
  if (status.data_size() > kDataSetsMax) {
    return BadField("data", absl::StrCat("lists more than ", kDataSetsMax));
  }
  for (const v1::DataFacts& data : status.data()) {
    SKERRY_ASSIGN_OR_RETURN(job::DataFacts one, DataFromProto(data));
    out.data.push_back(std::move(one));
  }
  out.looks_at_data = status.looks_at_data();
  out.takes_streams = status.takes_streams();
  out.takes_relays = status.takes_relays();
  out.fetches_data = status.fetches_data();
  if (status.unreached_size() > kUnreachedMax) {
    return BadField("unreached",
                    absl::StrCat("lists more than ", kUnreachedMax));
  }
  for (const std::string& name : status.unreached()) {
    SKERRY_RETURN_IF_ERROR(CheckName(name, "unreached"));
    out.unreached.push_back(name);
  }
  SKERRY_ASSIGN_OR_RETURN(out.tried, TriedFromProto(status.tried()));
  SKERRY_ASSIGN_OR_RETURN(out.stored, StoredFromProto(status));
  SKERRY_ASSIGN_OR_RETURN(out.programs, ProgramsFromProto(status));
  out.revoked_version = status.revoked_version();
  return out;
}

}  // namespace skerry::protocol
