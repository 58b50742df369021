#include "coordinator/convert/page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/hash.h"
#include "coordinator/convert/operator.h"
#include "google/protobuf/util/json_util.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::coordinator {
namespace {

// Losses of a job that are sent, and how many share one object.
constexpr size_t kLossesMax = 1024;
constexpr uint64_t kLossesPerObject = 64;
// Links of a worker that are sent.
constexpr size_t kLinksMax = 16;
// Rates change with every frame; nobody needs to see each.
constexpr absl::Duration kLinksRest = absl::Seconds(10);

std::string Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &text, options);
  // Only Any and well-known types out of their range can fail; the views have
  // neither.
  SKERRY_CHECK(status.ok());
  return text;
}

void PutMessage(PageList list, const std::string& key,
                const google::protobuf::Message& message, absl::Duration rest,
                std::optional<PageAge> age, ChangeLog& log) {
  const std::string bytes = message.SerializeAsString();
  log.Put(list, key, Hash64(std::as_bytes(std::span(bytes))), rest,
          std::move(age), [&message] { return Json(message); });
}

// The order of keys is that of numbers.
std::string NumberKey(uint64_t number) {
  return absl::StrFormat("%020d", number);
}

// Puts the losses that are sent, and empties them.
void PutLosses(const std::string& prefix, v1::JobView& view, ChangeLog& log) {
  const int count = view.losses_size();
  uint64_t stride = 1;
  while (static_cast<uint64_t>(count) / stride > kLossesMax) stride *= 2;
  v1::JobView part;
  part.set_id(view.id());
  uint64_t block = 0;
  const auto flush = [&] {
    if (part.losses_size() == 0) return;
    PutMessage(PageList::kJobs,
               absl::StrCat(prefix, "losses/", NumberKey(stride), "/",
                            NumberKey(block)),
               part, absl::ZeroDuration(), std::nullopt, log);
    part.clear_losses();
  };
  for (int i = 0; i < count; ++i) {
    v1::LossPoint& point = *view.mutable_losses(i);
    const bool sent = point.sequence() % stride == 0 || i == count - 1 ||
                      point.has_validation_loss();
    if (!sent) continue;
    const uint64_t its = point.sequence() / (stride * kLossesPerObject);
    if (its != block) flush();
    block = its;
    part.add_losses()->Swap(&point);
  }
  flush();
}

void PutReplicas(const std::string& prefix, v1::JobView& view, ChangeLog& log) {
  v1::JobView part;
  part.set_id(view.id());
  part.mutable_replicas()->Swap(view.mutable_replicas());
  for (v1::ReplicaView& replica : *part.mutable_replicas()) {
    for (v1::SeatView& seat : *replica.mutable_seats()) {
      seat.clear_anchor_hashes();
    }
  }
  PutMessage(PageList::kJobs, absl::StrCat(prefix, "replicas"), part,
             absl::ZeroDuration(), std::nullopt, log);
}

void PutJob(const JobView& job, Instant now, bool thorough, ChangeLog& log) {
  const std::string prefix = absl::StrCat(NumberKey(job.id.value()), "/");
  if (job.phase > JobPhase::kRunning && !thorough) {
    log.Keep(PageList::kJobs, prefix);
    return;
  }
  v1::JobView view;
  JobViewToProto(job, &view);
  view.clear_age_ms();
  view.clear_revision();
  v1::JobSpec::Model& model = *view.mutable_spec()->mutable_model();
  model.clear_config_json();
  if (model.has_program()) model.mutable_program()->clear_parameters_json();
  PutLosses(prefix, view, log);
  view.clear_losses();
  PutReplicas(prefix, view, log);
  PutMessage(PageList::kJobs, absl::StrCat(prefix, "head"), view,
             absl::ZeroDuration(), PageAge{"age_ms", now + -job.age}, log);
}

// The slowest link of the worker to each island, the slowest first.
std::vector<const LinkView*> SlowestLinks(
    const WorkerView& worker,
    const absl::btree_map<std::string_view, std::string_view>& islands) {
  absl::btree_map<std::string_view, const LinkView*> slowest;
  for (const LinkView& link : worker.links) {
    const auto island = islands.find(link.worker);
    if (island == islands.end()) continue;
    const LinkView*& kept = slowest[island->second];
    if (kept == nullptr || link.bytes_per_s < kept->bytes_per_s) kept = &link;
  }
  std::vector<const LinkView*> links;
  for (const auto& [island, link] : slowest) links.push_back(link);
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkView* a, const LinkView* b) {
                     return a->bytes_per_s < b->bytes_per_s;
                   });
  if (links.size() > kLinksMax) links.resize(kLinksMax);
  return links;
}

void PutWorker(
    const WorkerView& worker, Instant now,
    const absl::btree_map<std::string_view, std::string_view>& islands,
    ChangeLog& log) {
  v1::WorkerView view;
  WorkerViewToProto(worker, &view);
  // Numbers that each Status changes.
  view.clear_silence_ms();
  view.clear_clock_ahead_ms();
  view.clear_machine();
  view.clear_links();
  view.clear_stored_jobs();
  if (view.has_contender()) view.mutable_contender()->clear_age_ms();
  PutMessage(PageList::kWorkers, absl::StrCat(worker.worker, "/head"), view,
             absl::ZeroDuration(), PageAge{"silence_ms", now + -worker.silence},
             log);
  const auto links = SlowestLinks(worker, islands);
  if (links.empty()) return;
  v1::WorkerView part;
  part.set_worker(worker.worker);
  for (const LinkView* link : links) {
    v1::LinkView* one = part.add_links();
    one->set_worker(link->worker);
    one->set_bytes_per_s(link->bytes_per_s);
    one->set_round_trip_s(link->round_trip_s);
  }
  PutMessage(PageList::kWorkers, absl::StrCat(worker.worker, "/links"), part,
             kLinksRest, std::nullopt, log);
}

void PutEvent(const LoggedEvent& event, ChangeLog& log) {
  v1::Event view;
  EventToProto(event.event, absl::ZeroDuration(), &view);
  PutMessage(PageList::kEvents, NumberKey(event.event.revision.value()), view,
             absl::ZeroDuration(), PageAge{"age_ms", event.at}, log);
}

}  // namespace

void PutViews(const PageFacts& facts, bool thorough, ChangeLog& log) {
  log.Begin(facts.now);
  for (const JobView& job : facts.jobs) {
    PutJob(job, facts.now, thorough, log);
  }
  absl::btree_map<std::string_view, std::string_view> islands;
  for (const WorkerView& worker : facts.workers) {
    islands[worker.worker] = worker.island;
  }
  for (const WorkerView& worker : facts.workers) {
    PutWorker(worker, facts.now, islands, log);
  }
  for (const LoggedEvent& event : facts.events) PutEvent(event, log);
  log.End();
}

}  // namespace skerry::coordinator
