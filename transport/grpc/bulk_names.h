// transport/grpc/bulk_names.h
//
// The names of the bulk methods and their metadata, for both ends:
// docs/formats/bulk.md.
#ifndef SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_
#define SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_

#include <cstddef>

namespace skerry::transport {

inline constexpr char kFramesMethod[] = "/skerry.v1.Bulk/Frames";
inline constexpr char kFetchMethod[] = "/skerry.v1.Bulk/Fetch";
// Opened by a worker that cannot be dialled.
inline constexpr char kReverseFramesMethod[] = "/skerry.v1.Bulk/ReverseFrames";
inline constexpr char kReverseFetchMethod[] = "/skerry.v1.Bulk/ReverseFetch";
// Those of two workers that both cannot be dialled, to the relay between them.
// The sender and the asker open the first two, and the peer that takes frames
// and gives objects opens the others.
inline constexpr char kRelayFramesMethod[] = "/skerry.v1.Bulk/RelayFrames";
inline constexpr char kRelayFetchMethod[] = "/skerry.v1.Bulk/RelayFetch";
inline constexpr char kRelayReverseFramesMethod[] =
    "/skerry.v1.Bulk/RelayReverseFrames";
inline constexpr char kRelayReverseFetchMethod[] =
    "/skerry.v1.Bulk/RelayReverseFetch";
inline constexpr char kVersionKey[] = "skerry-bulk-version";
inline constexpr char kVersion[] = "1";
inline constexpr char kFromKey[] = "skerry-from";
// The number of the stream, in ReverseFrames and in the frames of relays.
inline constexpr char kStreamKey[] = "skerry-stream";
// The worker at the far side of the relay.
inline constexpr char kPeerKey[] = "skerry-peer";
inline constexpr int kReverseStreamsMax = 64;
inline constexpr size_t kNameBytesMax = 256;

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_
