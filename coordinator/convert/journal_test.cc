#include "coordinator/convert/journal.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

job::JobSpec FilledSpec() {
  job::JobSpec spec;
  spec.name = "job";
  spec.model = {"{}", 3};
  spec.data = {"/data", "aa", 4, 64};
  spec.training.samples = 100;
  spec.training.tau = 12;
  spec.training.clip_norm = 0.0;
  spec.training.evaluate_every = 7;
  spec.outer.method = job::OuterMethod::kCo2;
  spec.outer.momentum = 0.0;
  spec.outer.nesterov = false;
  spec.outer.clip = 2.0;
  spec.exchange.codec = "bf16";
  spec.exchange.quorum = 0.5;
  spec.exchange.error_max = 0.25;
  spec.exchange.carry = 0;
  spec.placement.islands = {"a", "b"};
  spec.queue = {-3, "vision"};
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 10, 3};
  return spec;
}

std::vector<Record> OneOfEach() {
  const SpanHolder holder{0, 4, {"w", "h:1", "h:2"}, 1};
  const RoundScalars scalars{2.5, 12, 1.5, 0.25};
  const Member member{ReplicaId(1),
                      Life(5),
                      {Round(2), Sequence(4), 8,
                       data::RangeSet(data::SampleRange{0, 8}), scalars},
                      {holder},
                      compression::CodecId::kBf16};
  Member apart = member;
  apart.result_codec = compression::CodecId::kNf4;
  return {
      JobSubmitted{FilledSpec(), "key"},
      JobEnded{JobId(1), JobPhase::kCancelled, "why"},
      JobSized{JobId(1), 100, 50, 1.5},
      JobSized{JobId(1), 100, 50, 1.5, 0, 77, 78},
      JobSized{JobId(1), 100, 50, 1.5, 0, 77, 78, std::string(64, 'a')},
      JobSized{JobId(1), 4200, 50, 1.5, 0, 77, 78, std::string(64, 'a'), 4096},
      JobPaused{JobId(1), true},
      JobDeleted{JobId(1)},
      JobPaused{JobId(1), false},
      WorkerAdmitted{holder.peer, Boot(7), "a", "1.0", FolderId(5), Boot(6)},
      WorkerMarked{"w", WorkerIntent::kServe},
      WorkerMarked{"w", WorkerIntent::kCordon},
      WorkerMarked{"w", WorkerIntent::kDrain},
      JoinChanged{TokenMade{"abcdef", "hash", "west", "w*", -1, 3}},
      JoinChanged{TokenDeleted{"abcdef"}},
      JoinChanged{WorkerJoined{"w", "west", "key", "10.0.0.1", "abcdef"}},
      JoinChanged{WorkerForgotten{"w"}},
      WorkerLeft{"w", Incarnation(3), "why"},
      ReplicaAdmitted{JobId(1), ReplicaId(2), "a", {holder}, {Incarnation(3)}},
      ReplicaEnded{JobId(1), Life(5), "why"},
      Planned{JobId(1), 12, "bf16", "why"},
      Granted{JobId(1), Life(5), {{0, 8}, {16, 24}}},
      Opened{JobId(1),
             FragmentId(0),
             Sequence(5),
             {member},
             {0, 0},
             Hops::kOne,
             8,
             "why"},
      Opened{JobId(1),
             FragmentId(0),
             Sequence(5),
             {member, apart},
             {0, 1},
             Hops::kTwo,
             16,
             "why"},
      Opened{JobId(1), FragmentId(0), Sequence(5), {}, {}, Hops::kTwo, 0, "x"},
      Dropped{JobId(1), FragmentId(0), Life(5), Round(2), "why", {{0, 8}}},
      Committed{
          JobId(1), FragmentId(0), Sequence(5), Attempt(9), {1, 2}, 8, scalars},
      Evaluated{JobId(1), Sequence(5), 2.5, 64},
      Checkpointed{
          JobId(1), Sequence(5), "w", "abc", 100, "", {{0, 8}, {16, 24}}},
      Checkpointed{JobId(1), Sequence(5), "w", "", 0, "disk full", {}},
      Restored{JobId(1), Sequence(9), Sequence(5), "why"},
      Restored{JobId(1), Sequence(1), Sequence(0), "why", {}, 77},
      Counted{JobId(1), "w", {1, 2, 0.5, 0.25, 3, 4, 5}},
      SeatNoted{JobId(1), "w", "its data are gone"},
      NumbersRaised{"w", Revision(1 << 30)},
      Diverged{JobId(1), "w", "it holds sequence 79"},
      Adopted{JobId(1), {Sequence(79), Sequence(80)}, "two workers agree"},
      Adopted{JobId(1), {Sequence(79)}, "why", {Attempt(310)}},
  };
}

TEST(JournalConvertTest, EveryRecordComesBackAsItWas) {
  for (const Record& record : OneOfEach()) {
    std::string bytes;
    ASSERT_TRUE(RecordToProto(record).SerializeToString(&bytes));
    v1::JournalRecord read;
    ASSERT_TRUE(read.ParseFromString(bytes));
    const auto back = RecordFromProto(read);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(*back == record) << "kind " << record.index();
  }
}

TEST(JournalConvertTest, ARecordOfAnotherReleaseIsDataLoss) {
  EXPECT_EQ(RecordFromProto(v1::JournalRecord()).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(JournalConvertTest, AnOwnerThatIsNoMemberIsDataLoss) {
  v1::JournalRecord record = RecordToProto(OneOfEach()[9]);
  record.mutable_opened()->add_owners(1);
  EXPECT_EQ(RecordFromProto(record).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace skerry::coordinator
