#include "coordinator/core/log/audit.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

Entry Open(uint64_t index, std::vector<data::SampleRange> ranges) {
  Opened opened;
  opened.job = JobId(1);
  for (const data::SampleRange range : ranges) {
    Member member;
    member.contribution.ranges = data::RangeSet(range);
    opened.members.push_back(member);
  }
  return {Revision(index), opened};
}

Entry Commit(uint64_t index, uint64_t attempt) {
  Committed commit;
  commit.job = JobId(1);
  commit.attempt = Attempt(attempt);
  return {Revision(index), commit};
}

TEST(AuditTest, OnlyWhatACommittedAttemptNamesCounts) {
  Audit audit(JobId(1), 100);
  audit.Add(Open(5, {{0, 10}, {10, 20}}));
  audit.Add(Open(6, {{0, 10}}));
  audit.Add(Commit(7, 6));
  const AuditReport report = audit.Report();
  EXPECT_EQ(report.samples_committed, 10u);
  EXPECT_EQ(report.contributions, 1u);
  EXPECT_EQ(report.missing, (data::RangeSet{{10, 100}}));
}

TEST(AuditTest, ASampleCommittedTwiceIsShown) {
  Audit audit(JobId(1), 20);
  audit.Add(Open(5, {{0, 10}}));
  audit.Add(Commit(6, 5));
  audit.Add(Open(7, {{5, 20}}));
  audit.Add(Commit(8, 7));
  EXPECT_EQ(audit.Report().doubled, (data::RangeSet{{5, 10}}));
  EXPECT_TRUE(audit.Report().missing.empty());
}

TEST(AuditTest, SamplesGrantedAgainAreCountedAsReturned) {
  Audit audit(JobId(1), 20);
  audit.Add({Revision(2), Granted{JobId(1), Life(1), {{0, 8}}}});
  audit.Add({Revision(3), Granted{JobId(1), Life(2), {{4, 12}}}});
  audit.Add({Revision(4), Granted{JobId(9), Life(3), {{0, 20}}}});
  EXPECT_EQ(audit.Report().samples_returned, 4u);
}

TEST(AuditTest, WhatACheckpointHadTakenInCountsAndIsDoubledWhenTakenAgain) {
  Audit audit(JobId(1), 20, data::RangeSet(data::SampleRange{0, 8}));
  EXPECT_EQ(audit.Report().samples_committed, 8u);
  audit.Add(Open(5, {{6, 20}}));
  audit.Add(Commit(6, 5));
  EXPECT_EQ(audit.Report().samples_committed, 20u);
  EXPECT_EQ(audit.Report().doubled, (data::RangeSet{{6, 8}}));
}

}  // namespace
}  // namespace skerry::coordinator
