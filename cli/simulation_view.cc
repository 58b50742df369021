#include "cli/simulation_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

std::string Share(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}

std::string TrafficTable(const Simulation::Plan& plan) {
  Table table({{"ISLAND"}, {"SENT", Align::kRight}});
  for (const Simulation::IslandTraffic& one : plan.traffic()) {
    table.AddRow({one.island(), BytesText(one.sent_bytes())});
  }
  return table.Text();
}

}  // namespace

std::string SimulationTable(const Simulation& simulation) {
  const auto& plans = simulation.plans();
  const bool churn = std::any_of(
      plans.begin(), plans.end(),
      [](const Simulation::Plan& plan) { return plan.live_share() < 1; });
  std::vector<Column> columns = {{"BEST"},
                                 {"TAU", Align::kRight},
                                 {"CODEC"},
                                 {"METHOD"},
                                 {"ISLANDS", Align::kRight},
                                 {"TOKENS/S", Align::kRight},
                                 {"STALLED", Align::kRight},
                                 {"SENT", Align::kRight},
                                 {"TIME", Align::kRight},
                                 {"COMMITS", Align::kRight},
                                 {"MEMBERS", Align::kRight}};
  if (churn) {
    columns.push_back({"LIVE", Align::kRight});
    columns.push_back({"GOODPUT", Align::kRight});
    columns.push_back({"OF LIVE", Align::kRight});
    columns.push_back({"LIVES", Align::kRight});
  }
  Table table(std::move(columns));
  for (const Simulation::Plan& plan : plans) {
    std::vector<std::string> row = {
        plan.best() ? "*" : "",
        absl::StrCat(plan.tau()),
        plan.codec(),
        plan.method(),
        absl::StrCat(plan.islands()),
        plan.tokens_per_s() > 0 ? absl::StrFormat("%.0f", plan.tokens_per_s())
                                : SamplesRateText(plan.samples_per_s()),
        Share(plan.stall_share()),
        BytesText(plan.sent_bytes()),
        AgeText(static_cast<uint64_t>(1000 * plan.seconds())),
        absl::StrCat(plan.commits()),
        absl::StrFormat("%.1f", plan.members_mean())};
    if (churn) {
      row.push_back(Share(plan.live_share()));
      row.push_back(Share(plan.goodput()));
      row.push_back(Share(plan.goodput_of_live()));
      row.push_back(absl::StrCat(plan.lives()));
    }
    table.AddRow(std::move(row));
  }
  std::string text = table.Text();
  if (plans.size() == 1) {
    absl::StrAppend(&text, "\n", TrafficTable(plans[0]));
  }
  return text;
}

}  // namespace skerry::cli
