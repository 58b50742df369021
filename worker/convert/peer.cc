#include "worker/convert/peer.h"

#include <vector>

#include "base/status.h"
#include "job/limits.h"
#include "protocol/convert/fields.h"

namespace skerry::worker {
namespace {

using job::BadField;

constexpr int kFragmentsMax = job::kFragmentsMax;
// Bytes, of what a worker keeps and passes on unread.
constexpr size_t kHostMax = 256;
constexpr size_t kBootstrapMax = 64 << 10;

template <typename Cuts>
absl::StatusOr<std::vector<FragmentCut>> CutsFromProto(
    const Cuts& cuts, absl::string_view field) {
  std::vector<FragmentCut> out;
  if (cuts.size() > kFragmentsMax) return BadField(field, "names too many");
  for (const v1::FragmentCut& cut : cuts) {
    if (!out.empty() && out.back().fragment >= cut.fragment()) {
      return BadField(field, "has to ascend");
    }
    out.push_back({cut.fragment(), Sequence(cut.sequence()), cut.back()});
  }
  return out;
}

}  // namespace

absl::StatusOr<CutRequest> CutRequestFromProto(
    const v1::AgreeCutRequest& request) {
  if (request.life() == 0) return BadField("life", "is missing");
  if (request.round() == 0) return BadField("round", "is missing");
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<FragmentCut> stored,
      CutsFromProto(request.stored_through(), "stored_through"));
  CutRequest out{Life(request.life()),
                 request.rank(),
                 Round(request.round()),
                 {},
                 request.stops()};
  for (const FragmentCut& one : stored) {
    out.stored_through.push_back(one.sequence);
  }
  // They ascend, so the last one says that none is missing.
  if (stored.empty() || stored.back().fragment + 1 != stored.size()) {
    return BadField("stored_through", "has to name every fragment");
  }
  return out;
}

absl::StatusOr<CutReply> CutReplyFromProto(const v1::AgreeCutReply& reply) {
  CutReply out;
  out.epoch = Epoch(reply.epoch());
  SKERRY_ASSIGN_OR_RETURN(out.cuts, CutsFromProto(reply.cuts(), "cuts"));
  SKERRY_ASSIGN_OR_RETURN(
      out.ranges, protocol::RangeSetFromProto(reply.ranges(),
                                              protocol::kAnyNumber, "ranges"));
  if (reply.turn() >= kFragmentsMax) return BadField("turn", "is too large");
  out.turn = reply.turn();
  out.at_anchor = reply.at_anchor();
  out.deliver = reply.deliver();
  out.runs = reply.runs();
  // At an apply point there may be nothing to apply.
  if (out.cuts.empty() && out.ranges.empty() && !out.deliver && out.runs == 0) {
    return BadField("cuts", "are missing");
  }
  return out;
}

absl::StatusOr<MeetRequest> MeetRequestFromProto(
    const v1::MeetRequest& request) {
  if (request.life() == 0) return BadField("life", "is missing");
  if (request.host().size() > kHostMax) return BadField("host", "is too long");
  return MeetRequest{Life(request.life()), request.rank(), request.host()};
}

absl::StatusOr<std::string> BootstrapFromProto(const v1::MeetReply& reply) {
  if (reply.bootstrap().empty()) return BadField("bootstrap", "is missing");
  if (reply.bootstrap().size() > kBootstrapMax) {
    return BadField("bootstrap", "is too long");
  }
  return reply.bootstrap();
}

void MeetRequestToProto(JobId job, const MeetRequest& request,
                        v1::MeetRequest* out) {
  out->Clear();
  out->set_job(job.value());
  out->set_life(request.life.value());
  out->set_rank(request.rank);
  out->set_host(request.host);
}

void CutRequestToProto(JobId job, const CutRequest& request,
                       v1::AgreeCutRequest* out) {
  out->Clear();
  out->set_job(job.value());
  out->set_life(request.life.value());
  out->set_rank(request.rank);
  out->set_round(request.round.value());
  out->set_stops(request.stops);
  for (size_t f = 0; f < request.stored_through.size(); ++f) {
    v1::FragmentCut* one = out->add_stored_through();
    one->set_fragment(static_cast<uint32_t>(f));
    one->set_sequence(request.stored_through[f].value());
  }
}

void CutReplyToProto(const CutReply& reply, v1::AgreeCutReply* out) {
  out->Clear();
  out->set_epoch(reply.epoch.value());
  for (const FragmentCut& cut : reply.cuts) {
    v1::FragmentCut* one = out->add_cuts();
    one->set_fragment(cut.fragment);
    one->set_sequence(cut.sequence.value());
    one->set_back(cut.back);
  }
  protocol::RangeSetToProto(reply.ranges, out->mutable_ranges());
  out->set_turn(reply.turn);
  out->set_at_anchor(reply.at_anchor);
  out->set_deliver(reply.deliver);
  out->set_runs(reply.runs);
}

}  // namespace skerry::worker
