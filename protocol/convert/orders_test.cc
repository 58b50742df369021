#include "protocol/convert/orders.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/release.h"
#include "gtest/gtest.h"

namespace skerry::protocol {
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
  member->mutable_contribution()->add_ranges()->set_end(10);
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

absl::StatusOr<JobOrders> Read(const v1::JobOrders& orders) {
  v1::Orders message;
  *message.add_jobs() = orders;
  HeardOrders heard = OrdersFromProto(message);
  if (!heard.refused.empty()) return heard.refused.front().why;
  return heard.orders.jobs.front();
}

TEST(OrdersFromProtoTest, GoodOrdersAreReadInFull) {
  const auto orders = Read(Good());
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(orders->spec.training.samples, 1000u);
  EXPECT_EQ(orders->holders[1].span_begin, 1u);
  EXPECT_EQ(orders->holders[0].peer.inside(), "h:1");
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
  EXPECT_FALSE(RestoredAt(*orders).is_set());
  v1::JobOrders paused = Good();
  paused.set_paused(true);
  paused.mutable_restored()->set_sequence(7);
  EXPECT_TRUE(Read(paused)->paused);
  EXPECT_EQ(RestoredAt(*Read(paused)), Sequence(7));
}

TEST(OrdersFromProtoTest, AJobThatMakesNoSenseSpoilsNoOther) {
  v1::Orders message;
  *message.add_jobs() = Good();
  message.mutable_jobs(0)->clear_phase();
  message.mutable_jobs(0)->set_uid(77);
  *message.add_jobs() = Good();
  message.mutable_jobs(1)->set_job(4);
  const HeardOrders heard = OrdersFromProto(message);
  ASSERT_EQ(heard.refused.size(), 1u);
  EXPECT_EQ(heard.refused[0].job, (StoredJobKey{JobId(3), 77}));
  ASSERT_EQ(heard.orders.jobs.size(), 1u);
  EXPECT_EQ(heard.orders.jobs[0].job, JobId(4));
}

TEST(OrdersFromProtoTest, ResultsHaveTheCodecThatOrdersNameForThem) {
  v1::JobOrders orders = Good();
  v1::Member* member =
      orders.mutable_fragments(0)->mutable_open()->mutable_members(0);
  member->set_result_codec("nf4");
  const auto read = Read(orders);
  ASSERT_TRUE(read.ok()) << read.status();
  const Member& said = read->fragments[0].open->members[0];
  EXPECT_EQ(said.OfContributions(), compression::CodecId::kBf16);
  EXPECT_EQ(said.OfResults(), compression::CodecId::kNf4);
  member->set_result_codec("zip");
  EXPECT_TRUE(absl::IsInvalidArgument(Read(orders).status()));
}

using Change = std::function<void(v1::JobOrders&)>;
using Changes = std::vector<std::pair<std::string, Change>>;

const double kNan = std::numeric_limits<double>::quiet_NaN();

void ExpectRefused(const Changes& changes) {
  for (const auto& [field, change] : changes) {
    v1::JobOrders orders = Good();
    change(orders);
    const auto read = Read(orders);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << field;
    EXPECT_NE(std::string(read.status().message()).find(field),
              std::string::npos)
        << field << ": " << read.status();
  }
}

TEST(OrdersFromProtoTest, WrongFieldOfTheJobIsNamed) {
  ExpectRefused({
      {"job", [](auto& o) { o.set_job(0); }},
      {"phase", [](auto& o) { o.set_phase(static_cast<v1::JobPhase>(77)); }},
      {"holders", [](auto& o) { o.clear_holders(); }},
      {"holders", [](auto& o) { o.mutable_holders(1)->set_span_begin(0); }},
      {"holders",
       [](auto& o) { o.mutable_holders(0)->mutable_peer()->clear_address(); }},
      {"granted", [](auto& o) { o.mutable_granted(0)->set_begin(20); }},
      {"granted", [](auto& o) { o.add_granted()->set_end(11); }},
      {"generate",
       [](auto& o) { o.mutable_generate(0)->set_temperature(kNan); }},
  });
}

TEST(OrdersFromProtoTest, WrongFieldOfTheFragmentIsNamed) {
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

FragmentOrders Fragment(const std::vector<SpanHolder>& holders) {
  OpenExchange open;
  open.sequence = Sequence(5);
  open.attempt = Attempt(40);
  open.members = {
      {ReplicaId(1),
       Life(5),
       {Round(2), Sequence(4), 8, data::RangeSet(data::SampleRange{0, 8}), {}},
       holders,
       compression::CodecId::kBf16}};
  open.members.push_back(open.members[0]);
  open.members[1].replica = ReplicaId(2);
  open.members[1].result_codec = compression::CodecId::kNf4;
  open.owners = {0, 1};
  open.hops = Hops::kOne;
  open.total_weight = 16;
  open.deadline_in = absl::Milliseconds(1500);
  open.reason = "why";
  FragmentOrders fragment;
  fragment.newest = Sequence(4);
  fragment.committed = {{Sequence(4), Attempt(30), {1, 2}, 8, 32, {}, 4}};
  fragment.open = open;
  fragment.outcome =
      Outcome{Round(1), Outcome::Kind::kCommitted, Attempt(30), Sequence(4)};
  fragment.keep_from = Sequence(1);
  fragment.sources = {{holders[0], Sequence(3), Sequence(1), Sequence(4), {6}}};
  fragment.wanted = true;
  return fragment;
}

Orders All() {
  Orders orders;
  orders.revision = Revision(9);
  orders.boot = Boot(7);
  orders.incarnation = Incarnation(3);
  orders.lease = absl::Seconds(10);
  orders.released = true;
  orders.drain = true;
  orders.data_paths = {"/d"};
  orders.directory = {{"a", {"h:1", "h:7"}},
                      {"b", {kReverse, "h:2"}},
                      {"c", {ViaRelay("r"), "h:3"}}};
  orders.awaited_by = {"a", "c"};
  orders.relayed = {{"d", "e"}, {"d", "f"}, {"e", "f"}};
  orders.ended_jobs = {{JobId(1), 11}};
  orders.removed_jobs = {{JobId(1), 12}};
  orders.revoked = {7, {"A1", "spiffe://lab/island/west/worker/w1"}};
  JobOrders& job = orders.jobs.emplace_back();
  job.job = JobId(2);
  job.uid = 77;
  job.spec.name = "bible";
  job.phase = JobPhase::kRunning;
  job.epoch = Epoch(6);
  job.life = Life(5);
  job.replica = ReplicaId(1);
  job.holders = {{0, 4, {"w", "h:1", "h:2"}, 1}};
  job.granted = data::RangeSet(data::SampleRange{0, 8});
  job.paused = true;
  job.fragments = {Fragment(job.holders)};
  job.evaluations = {{Sequence(4), 64}};
  job.generate = {{8, "once", 4, 0.5, 1}};
  job.checkpoint = CheckpointOrder{Sequence(4),    8,
                                   {{6, {"h:1"}}}, job.granted,
                                   {Sequence(1)},  {Sequence(4)}};
  job.restored =
      RestoredState{Sequence(3), Sequence(2), "ab", 4, {Sequence(3)}};
  job.nothing_left = true;
  job.element_count = 100;
  job.initial_hash = 21;
  job.average_begin = 4096;
  job.workers = {"w", "x"};
  job.data_holders = {"x"};
  return orders;
}

TEST(OrdersTest, EveryFieldSurvivesTheWire) {
  v1::Orders out;
  out.add_jobs();
  OrdersToProto(All(), &out);
  EXPECT_EQ(out.protocol_version(), kProtocolVersion);
  const HeardOrders heard = OrdersFromProto(out);
  ASSERT_TRUE(heard.refused.empty()) << heard.refused[0].why;
  EXPECT_EQ(heard.orders, All());
}

TEST(OrdersTest, TheMessageHasTheNamesAndUnitsOfTheWire) {
  v1::Orders out;
  OrdersToProto(All(), &out);
  EXPECT_EQ(out.lease_ms(), 10000u);
  EXPECT_EQ(out.jobs(0).phase(), v1::JOB_PHASE_RUNNING);
  EXPECT_EQ(out.jobs(0).holders(0).peer().island_address(), "h:2");
  const v1::OpenExchange& open = out.jobs(0).fragments(0).open();
  EXPECT_EQ(open.deadline_ms(), 1500u);
  EXPECT_EQ(open.hops(), v1::HOPS_ONE);
  EXPECT_EQ(open.members(0).codec(), "bf16");
  EXPECT_EQ(open.members(0).result_codec(), "");
  EXPECT_EQ(open.members(1).codec(), "bf16");
  EXPECT_EQ(open.members(1).result_codec(), "nf4");
  EXPECT_EQ(out.jobs(0).fragments(0).outcome().kind(),
            v1::Outcome::KIND_COMMITTED);
}

TEST(OrdersTest, TheJobsWorkersAreNoSources) {
  v1::Orders out;
  OrdersToProto(All(), &out);
  EXPECT_EQ(out.jobs(0).fragments(0).sources_size(), 1);
  ASSERT_EQ(out.jobs(0).workers_size(), 2);
  EXPECT_EQ(out.jobs(0).workers(1), "x");
}

TEST(OrdersTest, AWorkerOfTheJobWithABadNameRefusesTheJobAlone) {
  v1::Orders out;
  OrdersToProto(All(), &out);
  out.mutable_jobs(0)->add_workers("two\nlines");
  const HeardOrders heard = OrdersFromProto(out);
  ASSERT_EQ(heard.refused.size(), 1u);
  EXPECT_NE(heard.refused[0].why.message().find("workers"), std::string::npos);
}

TEST(OrdersTest, AHolderOfDataWithABadNameRefusesTheJobAlone) {
  v1::Orders out;
  OrdersToProto(All(), &out);
  out.mutable_jobs(0)->add_data_holders("");
  const HeardOrders heard = OrdersFromProto(out);
  ASSERT_EQ(heard.refused.size(), 1u);
  EXPECT_NE(heard.refused[0].why.message().find("data_holders"),
            std::string::npos);
}

TEST(OrdersTest, RelayedPairsAreGroupedAndThoseOfNoUseLeftOut) {
  v1::Orders out;
  OrdersToProto(All(), &out);
  ASSERT_EQ(out.relayed_size(), 2);
  EXPECT_EQ(out.relayed(0).worker(), "d");
  EXPECT_EQ(out.relayed(0).peers_size(), 2);
  out.mutable_relayed(1)->add_peers("e");
  out.mutable_relayed(1)->add_peers("two\nlines");
  out.mutable_relayed(1)->add_peers("a");
  out.add_relayed()->add_peers("z");
  RelayedPairs pairs = All().relayed;
  pairs.insert({"a", "e"});
  EXPECT_EQ(OrdersFromProto(out).orders.relayed, pairs);
}

}  // namespace
}  // namespace skerry::protocol
