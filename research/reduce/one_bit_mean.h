// research/reduce/one_bit_mean.h
//
// The two-phase compressed mean of 1-bit Adam (arXiv 2102.02888): every member
// encodes its values for the owner of each part, owners average and encode
// again, and both keep what their encoding lost for the next step. Moves no
// bytes itself, which OneBitAllReduce does:
//
//   Send(x)      u = x + e, one payload an owner
//   Reduce(...)  y = mean of decoded + e', one payload
//   Receive(...) the owners' payloads, decoded: the same bits at every member
//   Keep()       e = u - decoded, e' = y - decoded
//
// A step that is not kept leaves no trace in the errors: members that call
// Keep() only when all of them have come so far take a step together or not at
// all.
// Over any number of steps, in real arithmetic,
//
//   sum of results - sum of means = -(mean of e + e').
//
// Unlike published code nothing is padded, so no element that is not there
// takes part in a scale.
#ifndef SKERRY_RESEARCH_REDUCE_ONE_BIT_MEAN_H_
#define SKERRY_RESEARCH_REDUCE_ONE_BIT_MEAN_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "compression/codec.h"
#include "compression/workspace.h"

namespace skerry::compression {

class OneBitMean {
 public:
  using Payload = std::vector<std::byte>;

  // Any dense codec does; kSign1 is the one this is for. Nothing depends on how
  // many threads `executor` has; it outlives this, and nobody else runs loops
  // on it during a call. Requires: 0 <= rank < members.
  OneBitMean(size_t elements, int members, int rank, CodecId codec,
             ParallelExecutor& executor = CallingThread());

  // Elements of owner `rank`'s part: whole blocks of 256 but for the last, as
  // equal as that allows; [begin, end).
  static std::pair<size_t, size_t> PartOf(size_t elements, int members,
                                          int rank);
  std::pair<size_t, size_t> Part(int rank) const {
    return PartOf(elements_, members_, rank);
  }

  // One payload for each owner, this member among them. Begins a step.
  //
  // Errors: InvalidArgument when a value, or its sum with what is owed, is not
  // finite.
  absl::Status Send(std::span<const float> x, std::vector<Payload>& to_owners);

  // The members' payloads for this member's part, in the order of ranks.
  //
  // Errors: DataLoss when one is no encoding of the part, InvalidArgument when
  // their mean is not finite.
  absl::Status Reduce(std::span<const Payload> from_members, Payload& result);

  // The owners' payloads in the order of ranks. Errors: DataLoss, as Reduce;
  // `out` is then unspecified.
  absl::Status Receive(std::span<const Payload> results, std::span<float> out);

  // Ends the step: what its encodings lost goes into the next. Requires: the
  // three calls before were OK.
  void Keep();

  // After a change of members, and when a checkpoint is loaded: errors belong
  // to a member and a part, and are never carried to others.
  void Reset();

  std::span<const float> member_error() const { return member_error_; }
  std::span<const float> owner_error() const { return owner_error_; }

 private:
  const size_t elements_;
  const int members_;
  const Codec& codec_;
  std::vector<float> member_error_;
  std::vector<float> owner_error_;
  // What a step encodes and what the encoding decodes to, as a member and as an
  // owner.
  std::vector<float> sum_;
  std::vector<float> sent_;
  std::vector<float> owner_sum_;
  std::vector<float> owner_sent_;
  // How far the step has come.
  bool given_ = false;
  bool reduced_ = false;
  bool received_ = false;
  Workspace workspace_;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_REDUCE_ONE_BIT_MEAN_H_
