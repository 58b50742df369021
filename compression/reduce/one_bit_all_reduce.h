// compression/reduce/one_bit_all_reduce.h
//
// The two-phase compressed all-reduce of 1-bit Adam, 1-bit LAMB and 0/1 Adam
// (arXiv 2102.02888, 2104.06069, 2202.06009) among the members of a group: one
// all-to-all of what members encode for the owners of parts, one all-gather of
// what owners make of it. A member sends 2 (W - 1) / W of what encoding all
// values takes, of W members.
#ifndef SKERRY_COMPRESSION_REDUCE_ONE_BIT_ALL_REDUCE_H_
#define SKERRY_COMPRESSION_REDUCE_ONE_BIT_ALL_REDUCE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/collective.h"
#include "compression/reduce/one_bit_mean.h"

namespace skerry::compression {

// Members make the same calls, as those of the group are. Those in between of
// others are allowed.
class OneBitAllReduce {
 public:
  // Any dense codec does; kSign1 is the one this is for. `group` has to outlive
  // it.
  OneBitAllReduce(size_t elements, CodecId codec, Collective& group);

  // Replaces `values` by about the members' mean: the same bits everywhere.
  //
  // Errors: InvalidArgument at every member when one of them has a value that
  // is not finite, DataLoss at every member when an owner was given what is no
  // encoding; the errors that are fed back are then what they were, and the
  // group goes on. Those of the group. `values` is unspecified after any but
  // the first.
  absl::Status Mean(std::span<float> values);

  // After a change of members, and when a checkpoint is loaded.
  void Reset() { mean_.Reset(); }

  std::span<const float> member_error() const { return mean_.member_error(); }
  std::span<const float> owner_error() const { return mean_.owner_error(); }

 private:
  // Takes a payload out of each piece.
  absl::Status Take();

  Collective& group_;
  OneBitMean mean_;
  const size_t piece_bytes_;
  std::vector<OneBitMean::Payload> payloads_;
  OneBitMean::Payload result_;
  std::vector<std::byte> to_;
  std::vector<std::byte> from_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_REDUCE_ONE_BIT_ALL_REDUCE_H_
