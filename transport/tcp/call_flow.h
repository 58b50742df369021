// transport/tcp/call_flow.h
//
// Says which bytes of a collective go to which member, and in what order. A
// flow knows no sockets: its caller moves what it offers.
#ifndef SKERRY_TRANSPORT_TCP_CALL_FLOW_H_
#define SKERRY_TRANSPORT_TCP_CALL_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace skerry::transport {

// One member's part in one call. Ranks are those of the other members. Between
// two members the bytes have one order, which both flows know.
class CallFlow {
 public:
  virtual ~CallFlow() = default;
  // The next bytes for that rank; empty while there are none.
  virtual std::span<const std::byte> ToSend(int rank) = 0;
  // The first `bytes` of them are on their way.
  virtual void OnSent(int rank, size_t bytes) = 0;
  // Where the next bytes of that rank go; empty while none are wanted.
  virtual std::span<std::byte> ToReceive(int rank) = 0;
  // The first `bytes` of it are filled.
  virtual void OnReceived(int rank, size_t bytes) = 0;
  // Whether this member's part is done.
  virtual bool IsDone() const = 0;
};

// Memory that an all-reduce needs beside the values. It is kept from call to
// call.
struct ReduceStaging {
  std::unique_ptr<float[]> memory;
  size_t elements = 0;
};

// Every member sums the same part of every segment in the order of the ranks,
// and gives the others the result. So all have the bits that a member would
// have that sums everything, and each moves 2 (size - 1) / size of the values
// each way. Several segments are on their way at a time.
class AllReduceFlow final : public CallFlow {
 public:
  // `size` >= 2. `values` and `staging` outlive the flow.
  AllReduceFlow(int rank, int size, std::span<float> values,
                ReduceStaging& staging);

  std::span<const std::byte> ToSend(int rank) override;
  void OnSent(int rank, size_t bytes) override;
  std::span<std::byte> ToReceive(int rank) override;
  void OnReceived(int rank, size_t bytes) override;
  bool IsDone() const override;

  // Elements of one member's part of a segment, at most.
  static constexpr size_t kPartElements = 65536;

 private:
  // A place in the bytes between two members: contributions run kAhead segments
  // ahead of results.
  struct Cursor {
    size_t contributions = 0;  // segments whose contribution is past
    size_t results = 0;        // likewise
    size_t offset = 0;         // bytes past of what comes now
  };
  struct Peer {
    Cursor out;
    Cursor in;
  };

  static bool AtContribution(const Cursor& cursor, size_t segments);
  // Steps over what is complete, if anything is.
  void Settle(Cursor& cursor, int contributes_to, int results_of) const;
  std::span<float> Part(size_t segment, int rank) const;
  // What `rank` contributes to this member's part of the segment.
  std::span<float> Staged(size_t segment, int rank) const;
  void SumWhatIsComplete();

  const int rank_;
  const int size_;
  const std::span<float> values_;
  const size_t segment_elements_;
  const size_t segments_;
  const size_t slots_;  // segments that the staging holds
  float* staging_;
  std::vector<Peer> peers_;
  size_t summed_ = 0;  // segments
};

// From the root on, every member passes the values to the next one.
class BroadcastFlow final : public CallFlow {
 public:
  BroadcastFlow(int rank, int size, int root, std::span<std::byte> values);

  std::span<const std::byte> ToSend(int rank) override;
  void OnSent(int, size_t bytes) override { sent_ += bytes; }
  std::span<std::byte> ToReceive(int rank) override;
  void OnReceived(int, size_t bytes) override { received_ += bytes; }
  bool IsDone() const override;

 private:
  const std::span<std::byte> values_;
  int previous_ = -1;  // none at the root
  int next_ = -1;      // none at the last one
  size_t received_ = 0;
  size_t sent_ = 0;
};

// Every member has a piece for each other, and gets one of each.
class PiecesFlow final : public CallFlow {
 public:
  // Pieces by rank. Those of the member itself are empty.
  PiecesFlow(std::vector<std::span<const std::byte>> to,
             std::vector<std::span<std::byte>> from)
      : to_(std::move(to)), from_(std::move(from)) {}

  std::span<const std::byte> ToSend(int rank) override;
  void OnSent(int rank, size_t bytes) override;
  std::span<std::byte> ToReceive(int rank) override;
  void OnReceived(int rank, size_t bytes) override;
  bool IsDone() const override;

 private:
  std::vector<std::span<const std::byte>> to_;  // what is left of each
  std::vector<std::span<std::byte>> from_;      // likewise
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_CALL_FLOW_H_
