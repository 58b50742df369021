// worker/convert/peer.h
//
// Converts messages of peer.proto to values of the worker's core and back.
#ifndef SKERRY_WORKER_CONVERT_PEER_H_
#define SKERRY_WORKER_CONVERT_PEER_H_

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "proto/skerry/v1/peer.pb.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Errors: InvalidArgument names the field.
absl::StatusOr<CutRequest> CutRequestFromProto(
    const v1::AgreeCutRequest& request);
absl::StatusOr<CutReply> CutReplyFromProto(const v1::AgreeCutReply& reply);

void CutRequestToProto(JobId job, const CutRequest& request,
                       v1::AgreeCutRequest* out);
void CutReplyToProto(const CutReply& reply, v1::AgreeCutReply* out);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CONVERT_PEER_H_
