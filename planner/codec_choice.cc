#include "planner/codec_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

// All that a choice depends on, by member and option.
struct Table {
  std::vector<std::vector<HopSeconds>> times;
  std::vector<std::vector<double>> squared_error;
  std::vector<uint32_t> allowed;
};

// What one unit of a member's squared relative error adds to the mean's.
double ErrorShare(const ExchangeShape& shape, const ExchangeMember& member) {
  double total = 0.0;
  for (const ExchangeMember& one : shape.members) total += one.weight;
  const double weight = member.weight / total;
  if (shape.hops == 1) return weight * weight;
  const double owned = static_cast<double>(member.owned_elements) /
                       static_cast<double>(shape.elements);
  return weight * weight * (1.0 - owned) + owned;
}

Table TableOf(const CodecProblem& problem) {
  Table table;
  for (size_t m = 0; m < problem.shape.members.size(); ++m) {
    const double share = ErrorShare(problem.shape, problem.shape.members[m]);
    std::vector<HopSeconds> times;
    std::vector<double> errors;
    for (size_t c = 0; c < problem.options.size(); ++c) {
      const CodecOption& option = problem.options[c];
      times.push_back(TimesOf(problem.shape, m, c, option.cost));
      errors.push_back(share * option.relative_rms * option.relative_rms);
    }
    table.times.push_back(std::move(times));
    table.squared_error.push_back(std::move(errors));
  }
  for (uint32_t c = 0; c < problem.options.size(); ++c) {
    if (WhyRefused(problem.options[c], problem.handling).empty()) {
      table.allowed.push_back(c);
    }
  }
  return table;
}

// Every length that the first hop can have.
std::vector<double> FirstHops(const Table& table) {
  std::vector<double> firsts;
  for (const auto& times : table.times) {
    for (const uint32_t c : table.allowed) firsts.push_back(times[c].first);
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return firsts;
}

// The shortest exchange of all assignments.
double ShortestSeconds(const Table& table) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const double first : FirstHops(table)) {
    double second = 0.0;
    for (const auto& times : table.times) {
      double least = std::numeric_limits<double>::infinity();
      for (const uint32_t c : table.allowed) {
        if (times[c].first <= first) least = std::min(least, times[c].second);
      }
      second = std::max(second, least);
    }
    shortest = std::min(shortest, first + second);
  }
  return shortest;
}

struct Assignment {
  std::vector<uint32_t> codec;
  double squared_error = 0.0;
  double seconds = 0.0;
};

// The least error with a first hop of at most `first`, if that can end within
// `budget`. Then no member's codec limits another's.
std::optional<Assignment> BestWithin(const Table& table, double first,
                                     double budget) {
  Assignment best;
  double last_first = 0.0;
  double last_second = 0.0;
  for (size_t m = 0; m < table.times.size(); ++m) {
    std::optional<uint32_t> codec;
    for (const uint32_t c : table.allowed) {
      const HopSeconds& times = table.times[m][c];
      if (times.first > first || first + times.second > budget) continue;
      const auto rank = [&](uint32_t option) {
        return std::pair(
            table.squared_error[m][option],
            table.times[m][option].first + table.times[m][option].second);
      };
      if (!codec || rank(c) < rank(*codec)) codec = c;
    }
    if (!codec) return std::nullopt;
    best.codec.push_back(*codec);
    best.squared_error += table.squared_error[m][*codec];
    last_first = std::max(last_first, table.times[m][*codec].first);
    last_second = std::max(last_second, table.times[m][*codec].second);
  }
  best.seconds = last_first + last_second;
  return best;
}

std::string NamesOf(const CodecProblem& problem,
                    const std::vector<uint32_t>& codec) {
  std::string names;
  for (size_t m = 0; m < codec.size(); ++m) {
    const ExchangeMember& member = problem.shape.members[m];
    absl::StrAppend(
        &names, m == 0 ? "" : ", ",
        absl::StrFormat(
            "replica %d (%.3g MB/s) %s", member.replica.value(),
            std::min(member.link.up_bytes_per_s, member.link.down_bytes_per_s) /
                1e6,
            problem.options[codec[m]].name));
  }
  return names;
}

}  // namespace

double RoundsAtOnce(double relative_rms, double beta) {
  const double kept = beta * relative_rms * relative_rms;
  return kept < 1.0 ? 1.0 / (1.0 - kept)
                    : std::numeric_limits<double>::infinity();
}

std::string WhyRefused(const CodecOption& option,
                       const ErrorHandling& handling) {
  if (const auto diverges =
          FindDivergence(option.loss, handling.beta, handling.momentum)) {
    return std::string(diverges->why);
  }
  if (option.relative_rms > handling.error_max) {
    return absl::StrFormat("its error of %.3g is above error_max, %.3g",
                           option.relative_rms, handling.error_max);
  }
  if (option.loss == CodecLoss::kRounding) return "";
  const double rounds = RoundsAtOnce(option.relative_rms, handling.beta);
  if (rounds < handling.rounds_at_once_max) return "";
  return absl::StrFormat(
      "error feedback would send %.3g rounds of work at once, and %.3g "
      "overshoot",
      rounds, handling.rounds_at_once_max);
}

absl::Status ValidateProblem(const CodecProblem& problem) {
  SKERRY_RETURN_IF_ERROR(ValidateShape(problem.shape));
  if (!(problem.budget >= absl::ZeroDuration())) {
    return absl::InvalidArgumentError("the budget has to be at least 0");
  }
  std::string refusals;
  bool any_allowed = false;
  for (const CodecOption& option : problem.options) {
    const CodecCost& cost = option.cost;
    if (!(cost.bytes_per_element > 0.0 && cost.encode_elements_per_s > 0.0 &&
          cost.decode_elements_per_s > 0.0 && option.relative_rms >= 0.0 &&
          std::isfinite(cost.bytes_per_element) &&
          std::isfinite(option.relative_rms))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "codec ", option.name,
          ": bytes and speeds have to be positive, its error at least 0"));
    }
    const std::string why = WhyRefused(option, problem.handling);
    any_allowed |= why.empty();
    if (!why.empty()) absl::StrAppend(&refusals, "; ", option.name, ": ", why);
  }
  if (any_allowed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no codec to choose", refusals));
}

CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec) {
  CodecChoice choice;
  double first = 0.0;
  double second = 0.0;
  double squared_error = 0.0;
  for (size_t m = 0; m < codec.size(); ++m) {
    const CodecOption& option = problem.options[codec[m]];
    const HopSeconds times = TimesOf(problem.shape, m, codec[m], option.cost);
    first = std::max(first, times.first);
    second = std::max(second, times.second);
    squared_error += ErrorShare(problem.shape, problem.shape.members[m]) *
                     option.relative_rms * option.relative_rms;
  }
  const double budget = absl::ToDoubleSeconds(problem.budget);
  choice.exchange = absl::Seconds(first + second);
  choice.hides = first + second <= budget;
  choice.relative_error = std::sqrt(squared_error);
  choice.reason = absl::StrFormat(
      "%s: the exchange takes %.3g s and %s the %.3g s it has; "
      "expected error %.3g",
      NamesOf(problem, codec), first + second,
      choice.hides ? "hides in" : "is longer than", budget,
      choice.relative_error);
  choice.codec = std::move(codec);
  return choice;
}

absl::StatusOr<CodecChoice> ChooseCodecs(const CodecProblem& problem) {
  SKERRY_RETURN_IF_ERROR(ValidateProblem(problem));
  const Table table = TableOf(problem);
  const double budget =
      std::max(absl::ToDoubleSeconds(problem.budget), ShortestSeconds(table));
  std::optional<Assignment> best;
  for (const double first : FirstHops(table)) {
    std::optional<Assignment> one = BestWithin(table, first, budget);
    if (!one) continue;
    if (!best || std::pair(one->squared_error, one->seconds) <
                     std::pair(best->squared_error, best->seconds)) {
      best = std::move(one);
    }
  }
  CodecChoice choice = Appraise(problem, std::move(best->codec));
  for (const CodecOption& option : problem.options) {
    const std::string why = WhyRefused(option, problem.handling);
    if (!why.empty()) {
      absl::StrAppend(&choice.reason, "; ", option.name, " refused: ", why);
    }
  }
  return choice;
}

}  // namespace skerry::planner
