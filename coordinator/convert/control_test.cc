#include "coordinator/convert/control.h"

#include <functional>
#include <limits>

#include "absl/strings/match.h"
#include "base/release.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
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
  EXPECT_EQ(fragment.ready->ranges.at(0), (data::SampleRange{0, 8}));
  EXPECT_EQ(fragment.progress.size(), 1u);
  EXPECT_EQ(fragment.bases.size(), 1u);
  EXPECT_EQ(facts->jobs[0].evaluations.size(), 1u);
  EXPECT_EQ(facts->jobs[0].generated.size(), 1u);
  ASSERT_EQ(facts->jobs[0].links.size(), 1u);
  EXPECT_EQ(facts->jobs[0].links[0], (PeerLink{"h:2", 1e6, 0.5, 0.25, 0.125}));
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
      {"jobs.links.address",
       [](auto& s) { s.mutable_jobs(0)->mutable_links(0)->clear_address(); }},
      {"jobs.fragments.owed_norm",
       [](auto& s) {
         Fragment(s)->set_owed_norm(std::numeric_limits<double>::infinity());
       }},
  };
  for (const auto& [field, spoil] : cases) {
    v1::Status status = Whole();
    spoil(status);
    const absl::Status refused = StatusFromProto(status).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << field;
    EXPECT_EQ(refused.message().find(field), 0u) << refused;
  }
}

TEST(OrdersToProtoTest, EveryFieldIsSent) {
  Orders orders;
  orders.revision = Revision(9);
  orders.boot = Boot(7);
  orders.incarnation = Incarnation(3);
  orders.lease = absl::Seconds(10);
  orders.released = true;
  orders.drain = true;
  JobOrders job;
  job.job = JobId(2);
  job.phase = JobPhase::kRunning;
  job.life = Life(5);
  job.holders = {{0, 4, {"w", "h:1", "h:2"}, 0}};
  job.granted = {{0, 8}};
  job.paused = true;
  FragmentOrders fragment;
  fragment.newest = Sequence(4);
  fragment.committed = {{Sequence(4), Attempt(30), {1, 2}, 8, 32, {}}};
  OpenExchange open;
  open.attempt = Attempt(40);
  open.members = {{ReplicaId(1),
                   Life(5),
                   {Round(2), Sequence(4), 8, {{0, 8}}, {}},
                   job.holders,
                   "bf16"}};
  open.members.push_back(open.members[0]);
  open.members[1].result_codec = "nf4";
  open.owners = {0, 1};
  open.hops = Hops::kOne;
  open.deadline_in = absl::Milliseconds(1500);
  fragment.open = open;
  fragment.outcome =
      Outcome{Round(1), Outcome::Kind::kCommitted, Attempt(30), Sequence(4)};
  fragment.sources = {
      {job.holders[0], Sequence(3), Sequence(1), Sequence(4), {6}}};
  job.fragments = {fragment};
  job.evaluations = {{Sequence(4), 64}};
  job.generate = {{8, "once", 4, 0.5, 1}};
  orders.jobs = {job};
  v1::Orders out;
  out.add_jobs();
  OrdersToProto(orders, &out);
  EXPECT_EQ(out.protocol_version(), kProtocolVersion);
  EXPECT_EQ(out.lease_ms(), 10000u);
  EXPECT_TRUE(out.released());
  EXPECT_TRUE(out.drain());
  EXPECT_TRUE(out.jobs(0).paused());
  ASSERT_EQ(out.jobs_size(), 1);
  EXPECT_EQ(out.jobs(0).phase(), v1::JOB_PHASE_RUNNING);
  EXPECT_EQ(out.jobs(0).holders(0).peer().island_address(), "h:2");
  const v1::FragmentOrders& f = out.jobs(0).fragments(0);
  EXPECT_EQ(f.committed(0).samples_committed(), 32u);
  EXPECT_EQ(f.open().deadline_ms(), 1500u);
  EXPECT_EQ(f.open().hops(), v1::HOPS_ONE);
  EXPECT_EQ(f.open().members(0).codec(), "bf16");
  EXPECT_EQ(f.open().members(0).result_codec(), "");
  EXPECT_EQ(f.open().members(1).codec(), "bf16");
  EXPECT_EQ(f.open().members(1).result_codec(), "nf4");
  EXPECT_EQ(f.outcome().kind(), v1::Outcome::KIND_COMMITTED);
  EXPECT_EQ(f.sources(0).base_hashes(0), 6u);
  EXPECT_EQ(out.jobs(0).evaluations(0).samples_max(), 64u);
  EXPECT_EQ(out.jobs(0).generate(0).prompt(), "once");
}

}  // namespace
}  // namespace skerry::coordinator
