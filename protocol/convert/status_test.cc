#include "protocol/convert/status.h"

#include <functional>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "gtest/gtest.h"

namespace skerry::protocol {
namespace {

v1::Status Whole() {
  v1::Status status;
  status.set_protocol_version(kProtocolVersion);
  status.set_release("1");
  status.mutable_self()->set_worker("w");
  status.mutable_self()->set_address("h:1");
  status.set_island("a");
  status.set_boot(7);
  status.set_incarnation(3);
  status.set_counter(9);
  v1::JobStatus* job = status.add_jobs();
  job->set_job(2);
  job->set_life(5);
  job->set_state(v1::SEAT_STATE_ACTIVE);
  job->set_element_count(100);
  v1::FragmentStatus* fragment = job->add_fragments();
  fragment->set_applied(4);
  fragment->set_stored_through(5);
  fragment->add_anchor_hashes(11);
  v1::StoredResult* stored = fragment->mutable_stored();
  stored->set_sequence(5);
  stored->set_attempt(40);
  stored->add_hashes(12);
  v1::ReadyContribution* ready = fragment->mutable_ready();
  ready->set_round(2);
  ready->set_base(4);
  ready->set_weight(8);
  ready->add_ranges()->set_end(8);
  fragment->add_progress()->set_replica(1);
  fragment->add_bases()->add_hashes(11);
  job->add_evaluations()->set_sequence(4);
  job->add_generated()->set_request(6);
  v1::PeerLink* link = job->add_links();
  link->set_worker("w2");
  link->set_address("h:2");
  link->set_bytes_per_s(1e6);
  link->set_rate_spread(0.5);
  link->set_round_trip_s(0.25);
  link->set_round_trip_spread_s(0.125);
  v1::CodecSpeed* speed = job->add_codec_speeds();
  speed->set_codec("top_k/8");
  speed->set_encode_elements_per_s(1e8);
  speed->set_decode_elements_per_s(2e8);
  job->set_result_codecs(true);
  return status;
}

v1::FragmentStatus* Fragment(v1::Status& status) {
  return status.mutable_jobs(0)->mutable_fragments(0);
}

TEST(StatusFromProtoTest, EveryFieldArrives) {
  const auto facts = StatusFromProto(Whole());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->self.worker, "w");
  EXPECT_EQ(facts->boot, Boot(7));
  ASSERT_EQ(facts->jobs.size(), 1u);
  EXPECT_EQ(facts->jobs[0].life, Life(5));
  const FragmentFacts& fragment = facts->jobs[0].fragments.at(0);
  EXPECT_EQ(fragment.stored->attempt, Attempt(40));
  EXPECT_EQ(fragment.ready->ranges, data::RangeSet(data::SampleRange{0, 8}));
  EXPECT_EQ(fragment.progress.size(), 1u);
  EXPECT_EQ(fragment.bases.size(), 1u);
  EXPECT_EQ(facts->jobs[0].evaluations.size(), 1u);
  EXPECT_EQ(facts->jobs[0].generated.size(), 1u);
  ASSERT_EQ(facts->jobs[0].links.size(), 1u);
  EXPECT_EQ(facts->jobs[0].links[0],
            (PeerLink{"w2", 1e6, 0.5, 0.25, 0.125, "h:2"}));
  ASSERT_EQ(facts->jobs[0].codec_speeds.size(), 1u);
  EXPECT_EQ(facts->jobs[0].codec_speeds[0], (CodecSpeed{"top_k/8", 1e8, 2e8}));
  EXPECT_TRUE(facts->jobs[0].result_codecs);
}

TEST(StatusFromProtoTest, AWorkerBeforeResultCodecsDoesNotClaimThem) {
  v1::Status status = Whole();
  status.mutable_jobs(0)->clear_result_codecs();
  EXPECT_FALSE(StatusFromProto(status)->jobs[0].result_codecs);
}

TEST(StatusFromProtoTest, AnotherProtocolVersionIsNamedWithOurs) {
  v1::Status status = Whole();
  status.set_protocol_version(kProtocolVersion + 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(StatusFromProto(status).status()));
}

TEST(StatusFromProtoTest, SpeedsOfCodecsAreAboveZeroAndNamed) {
  const auto refused = [](std::function<void(v1::CodecSpeed&)> spoil) {
    v1::Status status = Whole();
    spoil(*status.mutable_jobs(0)->mutable_codec_speeds(0));
    const absl::Status said = StatusFromProto(status).status();
    return absl::IsInvalidArgument(said) &&
           absl::StrContains(said.message(), "jobs.codec_speeds");
  };
  EXPECT_TRUE(refused([](auto& s) { s.set_encode_elements_per_s(0); }));
  EXPECT_TRUE(refused([](auto& s) { s.set_decode_elements_per_s(-1); }));
  EXPECT_TRUE(refused([](auto& s) {
    s.set_decode_elements_per_s(std::numeric_limits<double>::quiet_NaN());
  }));
  EXPECT_TRUE(refused([](auto& s) { s.set_encode_elements_per_s(1e300); }));
  EXPECT_TRUE(refused([](auto& s) { s.clear_codec(); }));
}

void ExpectRefused(const std::string& field,
                   const std::function<void(v1::Status&)>& spoil) {
  v1::Status status = Whole();
  spoil(status);
  const absl::Status refused = StatusFromProto(status).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << field;
  EXPECT_EQ(refused.message().find(field), 0u) << refused;
}

TEST(StatusFromProtoTest, WhatIsWrongIsRefusedByItsField) {
  const struct {
    const char* field;
    std::function<void(v1::Status&)> spoil;
  } cases[] = {
      {"self.worker", [](auto& s) { s.mutable_self()->clear_worker(); }},
      {"self.address", [](auto& s) { s.mutable_self()->set_address("a b"); }},
      {"island", [](auto& s) { s.clear_island(); }},
      {"boot", [](auto& s) { s.clear_boot(); }},
      {"jobs.job", [](auto& s) { s.mutable_jobs(0)->clear_job(); }},
      {"jobs", [](auto& s) { s.add_jobs()->CopyFrom(s.jobs(0)); }},
      {"jobs.state", [](auto& s) { s.mutable_jobs(0)->clear_state(); }},
      {"jobs.state",
       [](auto& s) {
         s.mutable_jobs(0)->set_state(static_cast<v1::SeatState>(99));
       }},
      {"jobs.fragments",
       [](auto& s) {
         s.mutable_jobs(0)->add_fragments()->CopyFrom(s.jobs(0).fragments(0));
       }},
      {"jobs.fragments.anchor_hashes",
       [](auto& s) { Fragment(s)->set_span_begin(~uint32_t{0}); }},
      {"jobs.fragments.stored",
       [](auto& s) { Fragment(s)->mutable_stored()->clear_attempt(); }},
      {"jobs.fragments.ready.round",
       [](auto& s) { Fragment(s)->mutable_ready()->clear_round(); }},
      {"jobs.fragments.ready.weight",
       [](auto& s) { Fragment(s)->mutable_ready()->set_weight(-1); }},
      {"jobs.fragments.ready.weight",
       [](auto& s) {
         Fragment(s)->mutable_ready()->set_weight(
             std::numeric_limits<double>::quiet_NaN());
       }},
      {"jobs.fragments.ready.ranges",
       [](auto& s) { Fragment(s)->mutable_ready()->clear_ranges(); }},
      {"jobs.fragments.ready.ranges",
       [](auto& s) { Fragment(s)->mutable_ready()->add_ranges(); }},
      {"jobs.fragments.ready.scalars.loss",
       [](auto& s) {
         Fragment(s)->mutable_ready()->mutable_scalars()->set_loss(
             std::numeric_limits<double>::infinity());
       }},
      {"machine.host",
       [](auto& s) { s.mutable_machine()->set_host(std::string(300, 'h')); }},
      {"jobs.fragments.owed_norm",
       [](auto& s) {
         Fragment(s)->set_owed_norm(std::numeric_limits<double>::infinity());
       }},
  };
  for (const auto& [field, spoil] : cases) ExpectRefused(field, spoil);
}

TEST(StatusFromProtoTest, WhatIsWrongWithAProgramIsRefusedByItsField) {
  const struct {
    const char* field;
    std::function<void(v1::Status&)> spoil;
  } cases[] = {
      {"jobs.metrics",
       [](auto& s) { (*s.mutable_jobs(0)->mutable_metrics())["a b"] = 1; }},
      {"jobs.metrics",
       [](auto& s) { (*s.mutable_jobs(0)->mutable_metrics())[""] = 1; }},
      {"jobs.metrics",
       [](v1::Status& s) {
         (*s.mutable_jobs(0)->mutable_metrics())["lr"] =
             std::numeric_limits<double>::quiet_NaN();
       }},
      {"jobs.metrics",
       [](v1::Status& s) {
         for (size_t i = 0; i <= kMetricsMax; ++i) {
           (*s.mutable_jobs(0)->mutable_metrics())[absl::StrCat("m", i)] = 1;
         }
       }},
      {"programs.name", [](auto& s) { s.add_programs(); }},
      {"unreached", [](auto& s) { s.add_unreached(""); }},
      {"programs.sha256",
       [](v1::Status& s) {
         s.add_programs()->set_name("resnet");
         s.mutable_programs(0)->set_sha256(std::string(300, 'a'));
       }},
  };
  for (const auto& [field, spoil] : cases) ExpectRefused(field, spoil);
}

TEST(StatusFromProtoTest, WhatIsWrongWithALinkIsRefusedByItsField) {
  const struct {
    const char* field;
    std::function<void(v1::Status&)> spoil;
  } cases[] = {
      {"jobs.links",
       [](auto& s) {
         s.mutable_jobs(0)->mutable_links(0)->set_bytes_per_s(0);
       }},
      {"jobs.links",
       [](auto& s) {
         s.mutable_jobs(0)->mutable_links(0)->set_round_trip_spread_s(-1);
       }},
      {"jobs.links",
       [](v1::Status& s) {
         s.mutable_jobs(0)->mutable_links(0)->set_round_trip_s(
             std::numeric_limits<double>::infinity());
       }},
      {"jobs.links.worker",
       [](auto& s) { s.mutable_jobs(0)->mutable_links(0)->set_worker("a b"); }},
      {"jobs.links.address",
       [](auto& s) {
         s.mutable_jobs(0)->mutable_links(0)->clear_worker();
         s.mutable_jobs(0)->mutable_links(0)->clear_address();
       }},
  };
  for (const auto& [field, spoil] : cases) ExpectRefused(field, spoil);
}

TEST(StatusFromProtoTest, ALinkOfAnOlderReleaseHasAnAddressOnly) {
  v1::Status status = Whole();
  status.mutable_jobs(0)->mutable_links(0)->clear_worker();
  const auto facts = StatusFromProto(status);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->jobs[0].links[0].worker, "");
  EXPECT_EQ(facts->jobs[0].links[0].address, "h:2");
}

FragmentFacts OneFragment() {
  FragmentFacts fragment;
  fragment.fragment = FragmentId(3);
  fragment.span_begin = 1;
  fragment.applied = Sequence(2);
  fragment.anchor_hashes = {1, 2};
  fragment.stored_through = Sequence(5);
  fragment.stored = StoredResult{Sequence(3), Attempt(14), {5, 6}, 1.5};
  fragment.ready = Contribution{Round(4),
                                Sequence(2),
                                10,
                                data::RangeSet(data::SampleRange{10, 20}),
                                {2.5, 12, 0.5, 1.0, true}};
  fragment.progress = {{ReplicaId(2), 10, 20}};
  fragment.bases = {{Sequence(1), 1, {7, 8}}};
  fragment.first_result_kept = Sequence(1);
  fragment.pin = Sequence(2);
  fragment.owed_norm = 0.5;
  fragment.lost_norm = 0.25;
  fragment.applied_attempt = Attempt(13);
  fragment.last_result = Sequence(3);
  fragment.last_result_attempt = Attempt(14);
  return fragment;
}

StatusFacts Facts() {
  StatusFacts facts;
  facts.release = "1";
  facts.self = {"w", "h:1", "h:2", true, true};
  facts.island = "a";
  facts.boot = Boot(7);
  facts.incarnation = Incarnation(3);
  facts.counter = 9;
  facts.draining = true;
  facts.drain_reason = "notice of gcp";
  facts.machine = {1, 2, 3, std::nullopt, 4, "host"};
  facts.data = {{"/d", "", std::string(64, 'a'), 257, 100, 10, "full"}};
  facts.looks_at_data = true;
  facts.takes_streams = facts.takes_relays = facts.fetches_data = true;
  facts.unreached = {"b", "c"};
  facts.tried = {{"b", Incarnation(4), absl::Milliseconds(20), 0, "refused"}};
  facts.self.more_addresses = {"[::1]:2"};
  facts.folder = FolderId(12);
  facts.process = Boot(6);
  facts.seen = Revision(90);
  facts.stored = {{{{JobId(2), 77}, 600, 5}}, absl::Hours(1), 1000};
  facts.programs = {{"resnet", std::string(64, 'b')}, {"gone", ""}};
  facts.revoked_version = 91;
  JobFacts& job = facts.jobs.emplace_back();
  job.job = JobId(2);
  job.life = Life(8);
  job.abandoned_life = Life(7);
  job.state = SeatState::kActive;
  job.error = "none";
  job.element_count = 100;
  job.epoch_samples = 50;
  job.flops_per_sample = 1.5;
  job.validation_samples = 0;
  job.initial_hash = 21;
  job.layout_hash = 22;
  job.average_begin = 4096;
  job.trainer_trouble = "slow";
  job.evaluations = {{Sequence(1), 3.5, 64}};
  job.generated = {{1, "upon", "why"}};
  job.counters = {1, 2, 3.5, 0.5, 4, 5, 6};
  job.links = {{"w2", 1e6, 0.5, 0.25, 0.125, "h:2"}};
  job.codec_speeds = {{"top_k/8", 1e8, 2e8}};
  job.result_codecs = true;
  job.checkpoint = CheckpointFact{Sequence(4), "ab", 10, "why"};
  job.uid = 77;
  job.checkpoint_trouble = "read-only";
  job.metrics = {{"accuracy/top-1", 0.5}, {"lr", 0.001}};
  job.trains_alone = true;
  job.has_data = true;
  job.begun_with = 0x9900aabbccddeeff;
  job.fragments = {OneFragment()};
  return facts;
}

TEST(StatusTest, EveryFactSurvivesTheWire) {
  v1::Status status;
  status.add_jobs();
  StatusToProto(Facts(), &status);
  EXPECT_EQ(status.protocol_version(), kProtocolVersion);
  const auto heard = StatusFromProto(status);
  ASSERT_TRUE(heard.ok()) << heard.status();
  EXPECT_EQ(*heard, Facts());
}

TEST(StatusTest, AMachineThatNobodyLooksAtIsNotSaid) {
  StatusFacts facts = Facts();
  facts.machine = {};
  v1::Status status;
  StatusToProto(facts, &status);
  EXPECT_FALSE(status.has_machine());
}

}  // namespace
}  // namespace skerry::protocol
