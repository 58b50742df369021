#include "worker/convert/control.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "worker/convert/peer.h"

namespace skerry::worker {
namespace {

void SetHolder(uint32_t begin, uint32_t end, v1::SpanHolder* holder) {
  holder->set_span_begin(begin);
  holder->set_span_end(end);
  holder->mutable_peer()->set_worker("w");
  holder->mutable_peer()->set_address("h:1");
}

v1::JobOrders Good() {
  v1::JobOrders orders;
  orders.set_job(3);
  orders.set_phase(v1::JOB_PHASE_RUNNING);
  orders.set_epoch(9);
  orders.set_life(8);
  orders.set_replica(2);
  v1::JobSpec* spec = orders.mutable_spec();
  spec->mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  spec->mutable_outer()->set_undelayed_fraction(0.25);
  spec->mutable_training()->set_samples(1000);
  spec->mutable_training()->set_batch_samples(4);
  SetHolder(0, 1, orders.add_holders());
  SetHolder(1, 2, orders.add_holders());
  v1::SampleRange* granted = orders.add_granted();
  granted->set_begin(10);
  granted->set_end(20);
  v1::FragmentOrders* fragment = orders.add_fragments();
  fragment->set_newest(2);
  for (uint64_t n = 1; n <= 2; ++n) {
    v1::CommittedEntry* entry = fragment->add_committed();
    entry->set_sequence(n);
    entry->set_attempt(10 + n);
    entry->add_hashes(5);
    entry->add_hashes(6);
    entry->set_total_weight(30);
    entry->set_samples_committed(30 * n);
  }
  v1::OpenExchange* open = fragment->mutable_open();
  open->set_sequence(3);
  open->set_attempt(14);
  open->set_hops(v1::HOPS_TWO);
  open->set_total_weight(10);
  open->add_owners(0);
  open->add_owners(0);
  v1::Member* member = open->add_members();
  member->set_replica(2);
  member->set_life(8);
  member->set_codec("bf16");
  member->mutable_contribution()->set_round(4);
  member->mutable_contribution()->set_weight(10);
  SetHolder(0, 2, member->add_holders());
  fragment->mutable_outcome()->set_round(3);
  fragment->mutable_outcome()->set_kind(v1::Outcome::KIND_COMMITTED);
  fragment->mutable_outcome()->set_attempt(12);
  fragment->mutable_outcome()->set_sequence(2);
  v1::Source* source = fragment->add_sources();
  SetHolder(0, 2, source->mutable_holder());
  source->set_base(1);
  source->add_base_hashes(7);
  v1::GenerateOrder* generate = orders.add_generate();
  generate->set_request(1);
  generate->set_prompt("once");
  return orders;
}

TEST(JobOrdersTest, GoodOrdersAreReadInFull) {
  const auto orders = JobOrdersFromProto(Good());
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(orders->settings.tau, 12u);
  EXPECT_EQ(orders->settings.spans, 64u);
  EXPECT_EQ(orders->settings.codec, compression::CodecId::kInt8Block);
  EXPECT_EQ(orders->settings.outer.delay_rounds, 1);
  EXPECT_EQ(orders->settings.outer.undelayed_rounds_fraction, 0.25);
  EXPECT_EQ(orders->holders[1].begin, 1u);
  EXPECT_EQ(orders->holders[0].peer.island_address, "h:1");
  EXPECT_EQ(orders->granted.total(), 10u);
  EXPECT_EQ(orders->fragments[0].committed[1].attempt, Attempt(12));
  EXPECT_EQ(orders->fragments[0].open->members[0].codec,
            compression::CodecId::kBf16);
  EXPECT_EQ(orders->fragments[0].open->members[0].OfResults(),
            compression::CodecId::kBf16);
  EXPECT_EQ(orders->fragments[0].outcome->kind, Outcome::Kind::kCommitted);
  EXPECT_EQ(orders->fragments[0].sources[0].base_hashes,
            std::vector<uint64_t>{7});
  EXPECT_EQ(orders->generate[0].prompt, "once");
  EXPECT_FALSE(orders->paused);
  v1::JobOrders paused = Good();
  paused.set_paused(true);
  EXPECT_TRUE(JobOrdersFromProto(paused)->paused);
  EXPECT_EQ(orders->settings.checkpoint_every, 0u);
  EXPECT_FALSE(orders->settings.from_checkpoint);
  v1::JobOrders restored = Good();
  restored.mutable_spec()->mutable_checkpoint()->set_every(20);
  restored.mutable_restored()->set_sequence(7);
  EXPECT_EQ(JobOrdersFromProto(restored)->settings.checkpoint_every, 20u);
  EXPECT_FALSE(JobOrdersFromProto(restored)->settings.from_checkpoint);
  EXPECT_EQ(JobOrdersFromProto(restored)->settings.begins_at,
            std::vector<Sequence>({Sequence(7)}));
  restored.mutable_restored()->set_sha256("ab");
  EXPECT_TRUE(JobOrdersFromProto(restored)->settings.from_checkpoint);
  EXPECT_TRUE(JobOrdersFromProto(restored)->settings.begins_at.empty());
}

TEST(JobOrdersTest, ResultsHaveTheCodecThatOrdersNameForThem) {
  v1::JobOrders orders = Good();
  v1::Member* member =
      orders.mutable_fragments(0)->mutable_open()->mutable_members(0);
  member->set_result_codec("nf4");
  const auto read = JobOrdersFromProto(orders);
  ASSERT_TRUE(read.ok()) << read.status();
  const Member& said = read->fragments[0].open->members[0];
  EXPECT_EQ(said.OfContributions(), compression::CodecId::kBf16);
  EXPECT_EQ(said.OfResults(), compression::CodecId::kNf4);
  member->set_result_codec("zip");
  EXPECT_TRUE(absl::IsInvalidArgument(JobOrdersFromProto(orders).status()));
}

using Change = std::function<void(v1::JobOrders&)>;
using Changes = std::vector<std::pair<std::string, Change>>;

const double kNan = std::numeric_limits<double>::quiet_NaN();

void ExpectRefused(const Changes& changes) {
  for (const auto& [field, change] : changes) {
    v1::JobOrders orders = Good();
    change(orders);
    const auto read = JobOrdersFromProto(orders);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << field;
    EXPECT_NE(std::string(read.status().message()).find(field),
              std::string::npos)
        << field << ": " << read.status();
  }
}

TEST(JobOrdersTest, WrongFieldOfTheJobIsNamed) {
  ExpectRefused({
      {"job", [](auto& o) { o.set_job(0); }},
      {"phase", [](auto& o) { o.set_phase(static_cast<v1::JobPhase>(77)); }},
      {"holders", [](auto& o) { o.clear_holders(); }},
      {"holders", [](auto& o) { o.mutable_holders(1)->set_span_begin(0); }},
      {"holders",
       [](auto& o) { o.mutable_holders(0)->mutable_peer()->clear_address(); }},
      {"granted", [](auto& o) { o.mutable_granted(0)->set_begin(20); }},
      {"granted", [](auto& o) { o.add_granted()->set_end(11); }},
      {"samples",
       [](auto& o) { o.mutable_spec()->mutable_training()->clear_samples(); }},
      {"batch_samples",
       [](auto& o) {
         o.mutable_spec()->mutable_training()->clear_batch_samples();
       }},
      {"beta",
       [](auto& o) { o.mutable_spec()->mutable_outer()->set_beta(kNan); }},
      {"method",
       [](auto& o) { o.mutable_spec()->mutable_outer()->clear_method(); }},
      {"codec",
       [](auto& o) { o.mutable_spec()->mutable_exchange()->set_codec("zip"); }},
      {"generate",
       [](auto& o) { o.mutable_generate(0)->set_temperature(kNan); }},
  });
}

TEST(JobOrdersTest, AnAdaptiveJobIsOneOfInt8AndCarriesErrors) {
  v1::JobOrders orders = Good();
  orders.mutable_spec()->mutable_exchange()->set_codec("adaptive");
  orders.mutable_spec()->mutable_outer()->clear_beta();
  const auto read = JobOrdersFromProto(orders);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->settings.codec, compression::CodecId::kInt8Block);
  EXPECT_EQ(read->settings.beta, 1.0);
}

TEST(JobOrdersTest, WrongFieldOfTheFragmentIsNamed) {
  ExpectRefused({
      {"fragments", [](auto& o) { o.add_fragments(); }},
      {"fragments", [](auto& o) { o.mutable_fragments(0)->set_fragment(1); }},
      {"committed",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_committed(1)->set_sequence(3);
       }},
      {"committed",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_committed(1)->clear_hashes();
       }},
      {"committed",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_committed(1)->set_total_weight(1e300);
       }},
      {"open.total_weight",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_open()->set_total_weight(kNan);
       }},
      {"open.hops",
       [](auto& o) { o.mutable_fragments(0)->mutable_open()->clear_hops(); }},
      {"open.owners",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_open()->set_owners(0, 1);
       }},
      {"open.members",
       [](auto& o) {
         auto* open = o.mutable_fragments(0)->mutable_open();
         *open->add_members() = open->members(0);
       }},
      {"open.members",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_open()->clear_members();
       }},
      {"outcome",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_outcome()->clear_attempt();
       }},
      {"outcome",
       [](auto& o) {
         o.mutable_fragments(0)->mutable_outcome()->clear_kind();
       }},
      {"sources",
       [](auto& o) {
         auto* source = o.mutable_fragments(0)->mutable_sources(0);
         for (int i = 0; i < 3; ++i) source->add_base_hashes(1);
       }},
  });
}

TEST(JobFactsTest, EveryFactIsSaid) {
  JobFacts facts;
  facts.job = JobId(3);
  facts.life = Life(8);
  facts.abandoned_life = Life(7);
  facts.state = SeatState::kActive;
  facts.fragments[0].applied = Sequence(2);
  facts.fragments[0].anchor_hashes = {1, 2};
  facts.fragments[0].stored =
      StoredResultFact{Sequence(3), Attempt(14), {5, 6}, 1.5};
  facts.fragments[0].ready =
      Contribution{Round(4),
                   Sequence(2),
                   10,
                   data::RangeSet(data::SampleRange{10, 20}),
                   {2.5, 12, 0.5, 1.0}};
  facts.fragments[0].progress = {{ReplicaId(2), 10, 20}};
  facts.fragments[0].bases = {{Sequence(1), 0, {7, 8}}};
  facts.evaluations = {{Sequence(1), 3.5, 64}};
  facts.generated = {{1, "upon", ""}};
  facts.counters.stall_s = 0.5;
  v1::JobStatus status;
  JobFactsToProto(facts, &status);
  EXPECT_EQ(status.abandoned_life(), 7u);
  EXPECT_EQ(status.state(), v1::SEAT_STATE_ACTIVE);
  const v1::FragmentStatus& fragment = status.fragments(0);
  EXPECT_EQ(fragment.anchor_hashes_size(), 2);
  EXPECT_EQ(fragment.stored().hashes(1), 6u);
  EXPECT_EQ(fragment.ready().ranges(0).end(), 20u);
  EXPECT_EQ(fragment.ready().scalars().inner_steps(), 12u);
  EXPECT_EQ(fragment.progress(0).bytes_expected(), 20u);
  EXPECT_EQ(fragment.bases(0).hashes(1), 8u);
  EXPECT_EQ(status.generated(0).text(), "upon");
  EXPECT_EQ(status.counters().stall_s(), 0.5);
  EXPECT_TRUE(status.result_codecs());
}

TEST(CutTest, RequestAndReplySurviveTheWire) {
  const CutRequest request{Life(8), 1, Round(4), {Sequence(2), Sequence(3)}};
  v1::AgreeCutRequest request_proto;
  CutRequestToProto(JobId(3), request, &request_proto);
  EXPECT_EQ(CutRequestFromProto(request_proto).value(), request);
  const CutReply reply{Epoch(9),
                       {{0, Sequence(2)}, {3, Sequence(5)}},
                       data::RangeSet(data::SampleRange{10, 20}),
                       2,
                       true,
                       true};
  v1::AgreeCutReply reply_proto;
  CutReplyToProto(reply, &reply_proto);
  EXPECT_EQ(CutReplyFromProto(reply_proto).value(), reply);
}

TEST(CutTest, MissingFieldsAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(CutReplyFromProto({}).status()));
  v1::AgreeCutRequest request;
  CutRequestToProto(JobId(3), {Life(8), 1, Round(4), {Sequence(2)}}, &request);
  request.set_round(0);
  EXPECT_TRUE(absl::IsInvalidArgument(CutRequestFromProto(request).status()));
  request.set_round(4);
  request.add_stored_through();
  EXPECT_TRUE(absl::IsInvalidArgument(CutRequestFromProto(request).status()));
}

}  // namespace
}  // namespace skerry::worker
