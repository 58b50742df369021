#include "worker/convert/peer.h"

#include "base/status.h"
#include "worker/convert/fields.h"

namespace skerry::worker {
namespace {

template <typename Cuts>
absl::StatusOr<Sequence> OnlyCut(const Cuts& cuts, absl::string_view field) {
  if (cuts.size() != 1 || cuts[0].fragment() != 0) {
    return BadField(field, "has to name fragment 0 and no other");
  }
  return Sequence(cuts[0].sequence());
}

}  // namespace

absl::StatusOr<CutRequest> CutRequestFromProto(
    const v1::AgreeCutRequest& request) {
  if (request.life() == 0) return BadField("life", "is missing");
  if (request.round() == 0) return BadField("round", "is missing");
  SKERRY_ASSIGN_OR_RETURN(const Sequence stored,
                          OnlyCut(request.stored_through(), "stored_through"));
  return CutRequest{Life(request.life()), request.rank(),
                    Round(request.round()), stored};
}

absl::StatusOr<CutReply> CutReplyFromProto(const v1::AgreeCutReply& reply) {
  CutReply out;
  out.epoch = Epoch(reply.epoch());
  SKERRY_ASSIGN_OR_RETURN(out.cut, OnlyCut(reply.cuts(), "cuts"));
  SKERRY_ASSIGN_OR_RETURN(out.ranges,
                          RangesFromProto(reply.ranges(), "ranges"));
  return out;
}

void CutRequestToProto(JobId job, const CutRequest& request,
                       v1::AgreeCutRequest* out) {
  out->Clear();
  out->set_job(job.value());
  out->set_life(request.life.value());
  out->set_rank(request.rank);
  out->set_round(request.round.value());
  out->add_stored_through()->set_sequence(request.stored_through.value());
}

void CutReplyToProto(const CutReply& reply, v1::AgreeCutReply* out) {
  out->Clear();
  out->set_epoch(reply.epoch.value());
  out->add_cuts()->set_sequence(reply.cut.value());
  RangesToProto(reply.ranges, out->mutable_ranges());
}

}  // namespace skerry::worker
