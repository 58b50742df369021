// research/reduce/one_bit_all_reduce.h
//
// The two-phase compressed all-reduce of 1-bit Adam, 1-bit LAMB and 0/1 Adam
// (arXiv 2102.02888, 2104.06069, 2202.06009) among the members of a group: one
// all-to-all of what members encode for the owners of parts, one all-gather of
// what owners make of it. A member sends 2 (W - 1) / W of what encoding all
// values takes, of W members.
#ifndef SKERRY_RESEARCH_REDUCE_ONE_BIT_ALL_REDUCE_H_
#define SKERRY_RESEARCH_REDUCE_ONE_BIT_ALL_REDUCE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/collective.h"
#include "base/executor.h"
#include "compression/workspace.h"
#include "research/reduce/one_bit_mean.h"

namespace skerry::compression {

// Members make the same calls, as those of the group are. Those in between of
// others are allowed.
//
// Whatever a member is sent, or has to refuse, it makes the same calls of the
// group in every step: AllToAll, AllGather, and an AllReduceSum of a vote. Only
// when nobody has anything against a step does anybody keep it.
class OneBitAllReduce {
 public:
  // Any dense codec does; kSign1 is the one this is for. `group` and `executor`
  // outlive it; for the latter see OneBitMean.
  //
  // Errors: InvalidArgument when a part's encoding would have 4 GiB or more, or
  // the codec is sparse; Unimplemented when there is no such codec.
  static absl::StatusOr<std::unique_ptr<OneBitAllReduce>> Create(
      size_t elements, CodecId codec, Collective& group,
      ParallelExecutor& executor = CallingThread());

  // Replaces `values` by about the members' mean: the same bits everywhere.
  //
  // Errors, the same at every member: InvalidArgument when one of them has a
  // value that is not finite, or their mean is not; DataLoss when one was given
  // what is no encoding. The errors that are fed back are then what they were,
  // and the group goes on. Those of the group, with which it ends. `values` are
  // unspecified after any.
  absl::Status Mean(std::span<float> values);

  // After a change of members, and when a checkpoint is loaded.
  void Reset() { mean_.Reset(); }

  std::span<const float> member_error() const { return mean_.member_error(); }
  std::span<const float> owner_error() const { return mean_.owner_error(); }

 private:
  // What a member may have against a step, in the order in which it is told.
  enum Objection { kValues, kMean, kPayload, kResult, kObjections, kNone };

  OneBitAllReduce(size_t elements, CodecId codec, Collective& group,
                  size_t piece_bytes, ParallelExecutor& executor);

  // Puts a payload, or that there is none, into one of `to_`.
  void Put(const OneBitMean::Payload* payload, size_t piece);
  // Takes a payload out of each of `from_`; false when one is not there.
  bool Take();
  // Reduces what members sent.
  Objection Reduce();
  // Tells the others, and returns what any of them has against the step.
  absl::Status Vote(Objection objection);

  Collective& group_;
  OneBitMean mean_;
  const size_t piece_bytes_;
  std::vector<OneBitMean::Payload> payloads_;
  OneBitMean::Payload result_;
  std::vector<std::byte> to_;
  std::vector<std::byte> from_;
  // By objection and rank.
  std::vector<float> votes_;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_REDUCE_ONE_BIT_ALL_REDUCE_H_
