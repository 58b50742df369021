#include "coordinator/core/views/job_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/encoded_bytes.h"
#include "coordinator/core/rules/fit.h"
#include "coordinator/core/rules/placing.h"
#include "coordinator/core/state/layout.h"
#include "coordinator/core/views/job_standing.h"
#include "coordinator/core/views/worker_view.h"
#include "job/needs.h"
#include "optimizer/outer/outer.h"
#include "planner/codec_menu.h"
#include "planner/codec_policy.h"
#include "planner/exchange_time.h"
#include "planner/hops.h"
#include "planner/measured_links.h"
#include "planner/memory_model.h"
#include "planner/spans.h"

namespace skerry::coordinator {
namespace {

size_t CountSeats(const JobPlan& plan) {
  size_t seats = 0;
  for (const PlannedReplica& replica : plan.replicas) {
    seats += replica.seats.size();
  }
  return seats;
}

// The codec that the first exchange would use.
std::string CodecOf(const job::JobSpec& spec) {
  return planner::IsCodecPolicy(spec.exchange.codec)
             ? std::string(planner::kUnmeasuredCodec)
             : spec.exchange.codec;
}

void PlaceWorkers(const WorkerTable& workers, const ClusterOptions& options,
                  const Turn& turn, JobPlan& plan) {
  absl::btree_map<std::string, PlannedReplica> replicas;
  const Needed needed{job::NeedsOf(plan.spec).worker_bytes};
  for (const auto& [name, worker] : workers.all()) {
    std::string why =
        WhyNoPlace(plan.spec, needed, workers, worker, turn, options);
    if (!why.empty()) {
      plan.left_out.push_back({name, worker.island, std::move(why)});
      continue;
    }
    PlannedReplica& replica = replicas[worker.island];
    replica.island = worker.island;
    replica.seats.push_back({name});
  }
  for (auto& [island, replica] : replicas) {
    plan.replicas.push_back(std::move(replica));
  }
}

// One worker cannot hold less than a span.
void LeaveOutSurplus(uint32_t span_count, JobPlan& plan) {
  for (PlannedReplica& replica : plan.replicas) {
    while (replica.seats.size() > span_count) {
      plan.left_out.push_back(
          {replica.seats.back().worker, replica.island,
           absl::StrCat("the model has ", span_count,
                        " spans, and each worker of an island holds one at "
                        "least")});
      replica.seats.pop_back();
    }
  }
}

double HostBytes(const JobPlan& plan, uint64_t elements_held,
                 const std::vector<planner::SpanRange>& spans) {
  planner::WorkerMemoryInputs inputs;
  inputs.elements_held = elements_held;
  for (const planner::SpanRange& span : spans) {
    inputs.largest_span_elements =
        std::max(inputs.largest_span_elements, span.size());
  }
  inputs.members =
      static_cast<uint32_t>(std::max<size_t>(1, plan.replicas.size()));
  inputs.owner_share = 1.0 / inputs.members;
  const uint64_t all = spans.back().end;
  const double each =
      EncodedBytes(CodecOf(plan.spec), all) / static_cast<double>(all);
  inputs.contribution_bytes_per_element = each;
  inputs.result_bytes_per_element = each;
  const optimizer::OuterStateBytes outer =
      optimizer::OuterStateBytesOf(OuterOptionsOf(plan.spec));
  inputs.momentum_bytes = outer.momentum;
  inputs.round_start_bytes = outer.round_start;
  inputs.delayed = OuterDelay(plan.spec) > 0;
  return planner::ModelWorkerMemory(inputs).bytes;
}

void CutModel(uint64_t elements, JobPlan& plan) {
  const auto cut = planner::CutFragments(elements, FragmentCount(plan.spec),
                                         plan.spec.exchange.spans);
  if (!cut.ok()) return;
  const auto span_count = static_cast<uint32_t>(cut->front().size());
  LeaveOutSurplus(span_count, plan);
  for (PlannedReplica& replica : plan.replicas) {
    const auto parts =
        SplitSpans(span_count, static_cast<uint32_t>(replica.seats.size()));
    for (size_t rank = 0; rank < replica.seats.size(); ++rank) {
      PlannedSeat& seat = replica.seats[rank];
      std::tie(seat.span_begin, seat.span_end) = parts[rank];
      for (const std::vector<planner::SpanRange>& spans : *cut) {
        seat.elements +=
            spans[seat.span_end - 1].end - spans[seat.span_begin].begin;
      }
      seat.host_bytes =
          static_cast<uint64_t>(HostBytes(plan, seat.elements, cut->back()));
    }
  }
}

// What workers of the replicas have measured of each other; empty when nobody
// has measured the way from one replica to another.
std::vector<planner::PairRate> PairsOf(const JobPlan& plan,
                                       LinksOfWorker links_of) {
  absl::btree_map<std::string, size_t> replica_of;
  for (size_t r = 0; r < plan.replicas.size(); ++r) {
    for (const PlannedSeat& seat : plan.replicas[r].seats) {
      replica_of[seat.worker] = r;
    }
  }
  std::vector<planner::PairRate> pairs;
  absl::btree_set<std::pair<size_t, size_t>> measured;
  for (const auto& [worker, from] : replica_of) {
    for (const LinkView& link : links_of(worker)) {
      const auto to = replica_of.find(link.worker);
      if (to == replica_of.end() || to->second == from) continue;
      measured.emplace(from, to->second);
      pairs.push_back({from, to->second, link.bytes_per_s, 0.0,
                       absl::Seconds(link.round_trip_s)});
    }
  }
  const size_t count = plan.replicas.size();
  if (measured.size() < count * (count - 1)) return {};
  return pairs;
}

// The hops that the coordinator will choose when it opens an exchange.
planner::HopChoice HopsOf(const JobPlan& plan, uint64_t elements,
                          LinksOfWorker links_of) {
  const auto members = static_cast<uint32_t>(plan.replicas.size());
  const uint32_t fragments = FragmentCount(plan.spec);
  const std::string codec = CodecOf(plan.spec);
  const double bytes = EncodedBytes(codec, elements) / fragments;
  const planner::HopChoice choice = planner::ChooseHops(members, bytes, bytes);
  if (members != 2 || !IsUncoded(codec)) return choice;
  absl::Duration round_trip = absl::ZeroDuration();
  for (const planner::PairRate& pair : PairsOf(plan, links_of)) {
    round_trip = std::max(round_trip, pair.round_trip);
  }
  const auto cut =
      planner::CutFragments(elements, fragments, plan.spec.exchange.spans);
  const bool takes_two =
      cut.ok() && round_trip > absl::ZeroDuration() &&
      planner::TwoMembersTakeTwoHops(
          bytes, static_cast<uint32_t>(cut->front().size()), round_trip);
  return takes_two ? planner::DescribeHops(2, members, bytes, bytes) : choice;
}

PlannedExchange Exchanged(const JobPlan& plan, uint64_t elements,
                          LinksOfWorker links_of) {
  PlannedExchange exchange;
  exchange.members = static_cast<uint32_t>(plan.replicas.size());
  exchange.codec = CodecOf(plan.spec);
  const double bytes = EncodedBytes(exchange.codec, elements);
  const uint32_t fragments = FragmentCount(plan.spec);
  const planner::HopChoice choice = HopsOf(plan, elements, links_of);
  exchange.hops = static_cast<uint32_t>(choice.hops);
  exchange.reason = choice.reason;
  exchange.model_bytes = static_cast<uint64_t>(bytes);
  exchange.sent_bytes_each =
      static_cast<uint64_t>(choice.bytes_each * fragments);
  const auto& training = plan.spec.training;
  exchange.samples_per_round =
      uint64_t{training.tau} * training.batch_samples * CountSeats(plan);
  exchange.rounds = (training.samples + exchange.samples_per_round - 1) /
                    exchange.samples_per_round;
  return exchange;
}

// For one fragment, with owners of equal shares.
double SecondsOf(const JobPlan& plan, const PlannedExchange& exchange,
                 uint64_t elements, LinksOfWorker links_of) {
  const auto links =
      planner::LinksOfMembers(exchange.members, PairsOf(plan, links_of));
  if (!links.has_value() || elements == 0) return 0;
  planner::ExchangeShape shape;
  shape.elements = elements;
  shape.hops = static_cast<int>(exchange.hops);
  for (const planner::LinkFacts& link : *links) {
    planner::ExchangeMember member;
    member.link = link;
    member.owned_elements = shape.elements / exchange.members;
    shape.members.push_back(member);
  }
  const std::vector<double> bytes(
      exchange.members,
      EncodedBytes(exchange.codec, elements) / static_cast<double>(elements));
  return absl::ToDoubleSeconds(planner::LinkTime(shape, bytes));
}

void Judge(const Turn& turn, JobPlan& plan) {
  const size_t seats = CountSeats(plan);
  const size_t wanted = std::max<size_t>(1, plan.spec.placement.workers_min);
  plan.starts = seats >= wanted;
  plan.reason = WorkersText(seats, wanted);
  if (plan.starts) {
    const std::string few = WhyTooFewIslands(plan.spec, plan.replicas.size());
    if (few.empty()) return;
    plan.starts = false;
    absl::StrAppend(&plan.reason, "; ", few);
    return;
  }
  plan.queue_position = turn.position;
  plan.queue_length = turn.length;
  absl::StrAppend(&plan.reason, "; it would be number ", turn.position, " of ",
                  turn.length, " in the queue");
  if (!turn.held.empty()) absl::StrAppend(&plan.reason, ": ", turn.held);
}

}  // namespace

JobPlan PlanJob(job::ReviewedSpec reviewed, uint64_t elements,
                const WorkerTable& workers, const ClusterOptions& options,
                const Turn& turn, LinksOfWorker links) {
  JobPlan plan;
  plan.spec = std::move(reviewed.spec);
  plan.warnings = std::move(reviewed.warnings);
  PlaceWorkers(workers, options, turn, plan);
  if (elements > 0) CutModel(elements, plan);
  Judge(turn, plan);
  plan.data_pending = DataPending(plan.spec, workers);
  if (elements > 0 && !plan.replicas.empty()) {
    plan.exchange = Exchanged(plan, elements, links);
    // Each fragment has its own delays.
    const uint32_t fragments = FragmentCount(plan.spec);
    plan.exchange->seconds = fragments * SecondsOf(plan, *plan.exchange,
                                                   elements / fragments, links);
  }
  return plan;
}

JobPlan PlanNext(job::ReviewedSpec reviewed, uint64_t elements,
                 const JobTable& jobs, const WorkerTable& workers,
                 const ClusterOptions& options) {
  const Turn turn = jobs.TurnOfNext(reviewed.spec, workers);
  return PlanJob(std::move(reviewed), elements, workers, options, turn,
                 [&](const std::string& name) {
                   const Worker* worker = workers.FindCurrent(name);
                   return worker == nullptr ? std::vector<LinkView>()
                                            : LinksOf(jobs, workers, *worker);
                 });
}

}  // namespace skerry::coordinator
