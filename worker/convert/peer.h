// worker/convert/peer.h
//
// Converts messages of peer.proto to values of the worker's core and back.
#ifndef SKERRY_WORKER_CONVERT_PEER_H_
#define SKERRY_WORKER_CONVERT_PEER_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "proto/skerry/v1/peer.pb.h"
#include "worker/core/effects.h"
#include "worker/core/group_meeting.h"

namespace skerry::worker {

// Errors: InvalidArgument names the field.
absl::StatusOr<CutRequest> CutRequestFromProto(
    const v1::AgreeCutRequest& request);
absl::StatusOr<CutReply> CutReplyFromProto(const v1::AgreeCutReply& reply);
absl::StatusOr<MeetRequest> MeetRequestFromProto(
    const v1::MeetRequest& request);
// Returns the bootstrap bytes.
absl::StatusOr<std::string> BootstrapFromProto(const v1::MeetReply& reply);

void CutRequestToProto(JobId job, const CutRequest& request,
                       v1::AgreeCutRequest* out);
void CutReplyToProto(const CutReply& reply, v1::AgreeCutReply* out);
void MeetRequestToProto(JobId job, const MeetRequest& request,
                        v1::MeetRequest* out);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CONVERT_PEER_H_
