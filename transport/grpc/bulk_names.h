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
inline constexpr char kVersionKey[] = "skerry-bulk-version";
inline constexpr char kVersion[] = "1";
inline constexpr char kFromKey[] = "skerry-from";
// The number of the stream, in ReverseFrames alone.
inline constexpr char kStreamKey[] = "skerry-stream";
inline constexpr int kReverseStreamsMax = 64;
inline constexpr size_t kNameBytesMax = 256;

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_
