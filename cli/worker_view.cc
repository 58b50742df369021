#include "cli/worker_view.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/job_folder_name.h"
#include "cli/reach_diagnosis.h"
#include "cli/table.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

void AddFact(const std::string& name, const std::string& value,
             std::string* text) {
  if (value.empty()) return;
  absl::StrAppendFormat(text, "%-16s %s\n", name + ":", Printable(value));
}

std::string ClockText(const v1::WorkerView& worker) {
  if (!worker.has_clock_ahead_ms()) return "";
  const int64_t ahead = worker.clock_ahead_ms();
  return absl::StrFormat("%.3f s %s the coordinator's",
                         static_cast<double>(ahead < 0 ? -ahead : ahead) / 1e3,
                         ahead < 0 ? "behind" : "ahead of");
}

std::string LinksText(const v1::WorkerView& worker) {
  if (worker.links_size() == 0) return "";
  Table table({{"TO"}, {"RATE", Align::kRight}, {"ROUND TRIP", Align::kRight}});
  for (const v1::LinkView& link : worker.links()) {
    table.AddRow({link.worker(), RateText(link.bytes_per_s()),
                  absl::StrFormat("%.1f ms", link.round_trip_s() * 1e3)});
  }
  return absl::StrCat("\nLinks\n", table.Text());
}

void AddTries(const v1::WorkerView& worker, std::string* text) {
  if (worker.found_hidden()) {
    AddFact("Found", "nobody can dial it, so it opens the connections itself",
            text);
  }
  for (const v1::TriedBy& tried : worker.tried_by()) {
    AddFact("Dialled by",
            absl::StrCat(tried.worker(), " of island ", tried.island(), ": ",
                         tried.error().empty()
                             ? absl::StrFormat("%.1f ms", tried.round_trip_ms())
                             : absl::StrCat("in vain, ", tried.error())),
            text);
  }
}

void AddRelays(const v1::WorkerView& worker, std::string* text) {
  const std::map<std::string, std::string> relayed(worker.relayed().begin(),
                                                   worker.relayed().end());
  for (const auto& [peer, relay] : relayed) {
    AddFact("Relayed", absl::StrCat(peer, " through relay ", relay), text);
  }
  if (!worker.relay()) return;
  AddFact("Relay",
          absl::StrCat("passes frames and fetches on between ",
                       worker.relayed_pairs(), " pair(s) of workers"),
          text);
}

}  // namespace

std::string RateText(double bytes_per_s) {
  return absl::StrFormat("%.1f Mbit/s", bytes_per_s * 8 / 1e6);
}

std::string WorkerDescription(const v1::WorkerView& worker,
                              const std::vector<v1::Event>& events) {
  std::string text;
  AddFact("Name", worker.worker(), &text);
  AddFact("Island", worker.island(), &text);
  AddFact("State", worker.state(), &text);
  AddFact("Apart", worker.apart(), &text);
  AddFact("Drains for", worker.drain_reason(), &text);
  AddFact("Heard",
          absl::StrCat(AgeText(worker.silence_ms()), " ago, of a lease of ",
                       AgeText(worker.lease_ms())),
          &text);
  AddFact("Address", worker.address(), &text);
  for (const std::string& address : worker.more_addresses()) {
    AddFact("Address", address, &text);
  }
  AddFact("Reached", worker.reached(), &text);
  AddTries(worker, &text);
  AddRelays(worker, &text);
  AddFact("Unreached by", absl::StrJoin(worker.unreached_by(), ", "), &text);
  if (worker.has_contender()) {
    AddFact("Refused",
            absl::StrCat("another process of this name, at ",
                         worker.contender().address(), ", ",
                         AgeText(worker.contender().age_ms()), " ago"),
            &text);
  }
  AddFact("Incarnation", absl::StrCat(worker.incarnation()), &text);
  AddFact("Release", worker.release(), &text);
  AddFact("Jobs",
          worker.jobs_size() == 0 ? "none" : absl::StrJoin(worker.jobs(), ", "),
          &text);
  for (const v1::WorkerView::Unserved& unserved : worker.unserved()) {
    AddFact("Cannot serve",
            absl::StrCat(unserved.job(), ": ", unserved.reason()), &text);
  }
  for (const v1::WorkerView::Program& program : worker.programs()) {
    AddFact("Allows",
            absl::StrCat("program ", program.name(), ", ",
                         program.sha256().empty()
                             ? "whose file it cannot read"
                             : absl::StrCat("SHA-256 ", program.sha256())),
            &text);
  }
  AddFact("Clock", ClockText(worker), &text);
  const v1::Machine& machine = worker.machine();
  if (machine.state_bytes() > 0) {
    AddFact("Disk",
            absl::StrCat(BytesText(machine.state_free_bytes()), " free of ",
                         BytesText(machine.state_bytes())),
            &text);
  }
  absl::StrAppend(&text, LinksText(worker));
  if (worker.stored_jobs_size() > 0) {
    Table table({{"FOLDER"}, {"JOB"}, {"STATE"}, {"SIZE", Align::kRight}});
    for (const v1::StoredJobView& stored : worker.stored_jobs()) {
      table.AddRow({JobFolderName(stored.job(), stored.uid()), stored.name(),
                    stored.state(), BytesText(stored.bytes())});
    }
    absl::StrAppend(&text, "\nOn its disk\n", table.Text());
  }
  if (!events.empty()) {
    absl::StrAppend(&text, "\nEvents\n");
    for (const v1::Event& event : events) {
      absl::StrAppend(&text, EventLine(event), "\n");
    }
  }
  return text;
}

}  // namespace skerry::cli
