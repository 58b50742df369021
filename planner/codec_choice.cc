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

// One codec in one hop of a member.
struct Hop {
  double seconds = 0.0;
  double squared_error = 0.0;  // what it adds to the mean's
};

// One codec of a member.
struct Hops {
  Hop contribution;
  Hop result;
};

// All that a choice depends on.
struct Table {
  std::vector<std::vector<Hops>> hops;  // by member and option
  std::vector<bool> apart;              // by member: ResultsApart()
  std::vector<uint32_t> allowed;
};

// What one unit of a member's squared relative error adds to the mean's.
struct ErrorShares {
  double contribution = 0.0;
  double result = 0.0;
};

ErrorShares SharesOf(const ExchangeShape& shape, const ExchangeMember& member) {
  double total = 0.0;
  for (const ExchangeMember& one : shape.members) total += one.weight;
  const double weight = member.weight / total;
  if (shape.hops == 1) return {weight * weight, 0.0};
  const double owned = static_cast<double>(member.owned_elements) /
                       static_cast<double>(shape.elements);
  return {weight * weight * (1.0 - owned), owned};
}

Hops HopsOf(const CodecProblem& problem, size_t member, uint32_t codec) {
  const CodecOption& option = problem.options[codec];
  const HopSeconds times = TimesOf(problem.shape, member, codec, option.cost);
  const ErrorShares shares =
      SharesOf(problem.shape, problem.shape.members[member]);
  const double squared = option.relative_rms * option.relative_rms;
  return {{times.first, shares.contribution * squared},
          {times.second, shares.result * squared}};
}

Table TableOf(const CodecProblem& problem) {
  Table table;
  for (size_t m = 0; m < problem.shape.members.size(); ++m) {
    std::vector<Hops> hops;
    for (uint32_t c = 0; c < problem.options.size(); ++c) {
      hops.push_back(HopsOf(problem, m, c));
    }
    table.hops.push_back(std::move(hops));
    table.apart.push_back(ResultsApart(problem, m));
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
  for (const auto& hops : table.hops) {
    for (const uint32_t c : table.allowed) {
      firsts.push_back(hops[c].contribution.seconds);
    }
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return firsts;
}

struct Pair {
  uint32_t codec = 0;
  uint32_t result_codec = 0;
};

// Ranks by the error and, where it is the same, by the time. The least is best.
std::pair<double, double> RankOf(const Hop& hop) {
  return {hop.squared_error, hop.seconds};
}

std::pair<double, double> RankOf(const Hops& hops) {
  return {hops.contribution.squared_error + hops.result.squared_error,
          hops.contribution.seconds + hops.result.seconds};
}

// The allowed option that fits and ranks first.
template <typename Fits, typename Rank>
std::optional<uint32_t> FirstOf(const Table& table, Fits fits, Rank rank) {
  std::optional<uint32_t> best;
  for (const uint32_t c : table.allowed) {
    if (fits(c) && (!best || rank(c) < rank(*best))) best = c;
  }
  return best;
}

// What a member sends with when its first hop has to end at `first` and its
// second at `end`, if it can. Within these, contributions and results do not
// limit each other.
std::optional<Pair> BestOf(const Table& table, size_t member, double first,
                           double end) {
  const std::vector<Hops>& hops = table.hops[member];
  const auto contributes = [&](uint32_t c) {
    return hops[c].contribution.seconds <= first;
  };
  const auto answers = [&](uint32_t c) {
    return first + hops[c].result.seconds <= end;
  };
  if (!table.apart[member]) {
    const auto both = FirstOf(
        table, [&](uint32_t c) { return contributes(c) && answers(c); },
        [&](uint32_t c) { return RankOf(hops[c]); });
    if (!both) return std::nullopt;
    return Pair{*both, *both};
  }
  const auto rank_in = [&](uint32_t c) { return RankOf(hops[c].contribution); };
  const auto rank_out = [&](uint32_t c) { return RankOf(hops[c].result); };
  const auto in = FirstOf(table, contributes, rank_in);
  const auto out = FirstOf(table, answers, rank_out);
  if (!in || !out) return std::nullopt;
  for (const uint32_t c : table.allowed) {
    if (rank_in(c) == rank_in(*in) && rank_out(c) == rank_out(*out)) {
      return Pair{c, c};
    }
  }
  return Pair{*in, *out};
}

// The shortest exchange of all assignments.
double ShortestSeconds(const Table& table) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const double first : FirstHops(table)) {
    double second = 0.0;
    for (size_t m = 0; m < table.hops.size(); ++m) {
      double least = std::numeric_limits<double>::infinity();
      bool contributes = false;
      for (const uint32_t c : table.allowed) {
        const Hops& hops = table.hops[m][c];
        const bool in_time = hops.contribution.seconds <= first;
        contributes |= in_time;
        if (in_time || table.apart[m]) {
          least = std::min(least, hops.result.seconds);
        }
      }
      if (!contributes) least = std::numeric_limits<double>::infinity();
      second = std::max(second, least);
    }
    shortest = std::min(shortest, first + second);
  }
  return shortest;
}

struct Assignment {
  std::vector<uint32_t> codec;
  std::vector<uint32_t> result_codec;
  double squared_error = 0.0;
  double seconds = 0.0;
};

// The least error with a first hop of at most `first`, if that can end within
// `budget`. Then no member's codecs limit another's.
std::optional<Assignment> BestWithin(const Table& table, double first,
                                     double budget) {
  Assignment best;
  HopSeconds last;
  for (size_t m = 0; m < table.hops.size(); ++m) {
    const std::optional<Pair> pair = BestOf(table, m, first, budget);
    if (!pair) return std::nullopt;
    const Hop& contribution = table.hops[m][pair->codec].contribution;
    const Hop& result = table.hops[m][pair->result_codec].result;
    best.codec.push_back(pair->codec);
    best.result_codec.push_back(pair->result_codec);
    best.squared_error += contribution.squared_error + result.squared_error;
    last.first = std::max(last.first, contribution.seconds);
    last.second = std::max(last.second, result.seconds);
  }
  best.seconds = last.first + last.second;
  return best;
}

std::string NamesOf(const CodecProblem& problem, const CodecChoice& choice) {
  std::string names;
  for (size_t m = 0; m < choice.codec.size(); ++m) {
    const ExchangeMember& member = problem.shape.members[m];
    absl::StrAppend(
        &names, m == 0 ? "" : ", ",
        absl::StrFormat(
            "replica %d (%.3g MB/s) %s", member.replica.value(),
            std::min(member.link.up_bytes_per_s, member.link.down_bytes_per_s) /
                1e6,
            problem.options[choice.codec[m]].name));
    if (choice.result_codec[m] == choice.codec[m]) continue;
    absl::StrAppend(&names, ", results ",
                    problem.options[choice.result_codec[m]].name);
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

bool ResultsApart(const CodecProblem& problem, size_t member) {
  return problem.results_apart && problem.shape.hops == 2 &&
         problem.shape.members[member].owned_elements > 0;
}

CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec,
                     std::vector<uint32_t> result_codec) {
  CodecChoice choice;
  HopSeconds last;
  double squared_error = 0.0;
  for (size_t m = 0; m < codec.size(); ++m) {
    const Hop contribution = HopsOf(problem, m, codec[m]).contribution;
    const Hop result = HopsOf(problem, m, result_codec[m]).result;
    last.first = std::max(last.first, contribution.seconds);
    last.second = std::max(last.second, result.seconds);
    squared_error += contribution.squared_error + result.squared_error;
  }
  const double seconds = last.first + last.second;
  const double budget = absl::ToDoubleSeconds(problem.budget);
  choice.codec = std::move(codec);
  choice.result_codec = std::move(result_codec);
  choice.exchange = absl::Seconds(seconds);
  choice.hides = seconds <= budget;
  choice.relative_error = std::sqrt(squared_error);
  choice.reason = absl::StrFormat(
      "%s: the exchange takes %.3g s and %s the %.3g s it has; "
      "expected error %.3g",
      NamesOf(problem, choice), seconds,
      choice.hides ? "hides in" : "is longer than", budget,
      choice.relative_error);
  return choice;
}

CodecChoice Appraise(const CodecProblem& problem, std::vector<uint32_t> codec) {
  std::vector<uint32_t> same = codec;
  return Appraise(problem, std::move(codec), std::move(same));
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
  CodecChoice choice =
      Appraise(problem, std::move(best->codec), std::move(best->result_codec));
  for (const CodecOption& option : problem.options) {
    const std::string why = WhyRefused(option, problem.handling);
    if (!why.empty()) {
      absl::StrAppend(&choice.reason, "; ", option.name, " refused: ", why);
    }
  }
  return choice;
}

}  // namespace skerry::planner
