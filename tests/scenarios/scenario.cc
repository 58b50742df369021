#include "tests/scenarios/scenario.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace skerry::scenarios {
namespace {

absl::Status Bad(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

std::vector<std::string> WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipWhitespace());
}

std::string* FieldOf(Scenario& scenario, absl::string_view name) {
  if (name == "seen") return &scenario.seen;
  if (name == "rule") return &scenario.rule;
  if (name == "stage") return &scenario.stage;
  return nullptr;
}

// "name: value", or the continuation of the field before.
absl::Status AddToHead(int number, absl::string_view line, Scenario& scenario,
                       std::string*& field) {
  if (line.front() == ' ') {
    if (field == nullptr) return Bad(number, "continues nothing");
    absl::StrAppend(field, " ", absl::StripAsciiWhitespace(line));
    return absl::OkStatus();
  }
  const std::vector<std::string> parts =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  field = FieldOf(scenario, parts[0]);
  if (field == nullptr || parts.size() != 2) {
    return Bad(number, "is none of seen:, rule:, stage:");
  }
  if (!field->empty()) return Bad(number, "is there twice");
  *field = std::string(absl::StripAsciiWhitespace(parts[1]));
  return absl::OkStatus();
}

}  // namespace

std::string Step::Text() const {
  return absl::StrCat("line ", line, ": ", absl::StrJoin(words, " "));
}

absl::StatusOr<Scenario> ParseScenario(std::string_view text) {
  Scenario scenario;
  std::string* field = nullptr;
  bool in_steps = false;
  int number = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (WordsOf(line).empty() || line.front() == '#') continue;
    if (in_steps) {
      scenario.steps.push_back({number, WordsOf(line)});
    } else if (line == "steps:") {
      in_steps = true;
    } else {
      const absl::Status added = AddToHead(number, line, scenario, field);
      if (!added.ok()) return added;
    }
  }
  if (scenario.seen.empty() || scenario.rule.empty() ||
      scenario.stage.empty() || scenario.steps.empty()) {
    return Bad(number, "seen:, rule:, stage: and steps: are needed");
  }
  return scenario;
}

std::optional<Args> Match(const Step& step, std::string_view pattern) {
  Args args;
  size_t at = 0;
  for (const std::string& want :
       WordsOf(absl::string_view(pattern.data(), pattern.size()))) {
    if (want == "...") {
      args.names.insert(args.names.end(), step.words.begin() + at,
                        step.words.end());
      return args;
    }
    if (at == step.words.size()) return std::nullopt;
    const std::string& word = step.words[at++];
    uint64_t number = 0;
    if (want == "N") {
      if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
      args.n.push_back(number);
    } else if (want == "NAME") {
      args.names.push_back(word);
    } else if (want != word) {
      return std::nullopt;
    }
  }
  if (at != step.words.size()) return std::nullopt;
  return args;
}

std::unique_ptr<Stage> MakeStage(std::string_view name) {
  if (name == "recovery") return MakeRecoveryStage();
  if (name == "retention") return MakeRetentionStage();
  if (name == "seats") return MakeSeatsStage();
  return nullptr;
}

absl::Status NoSuchStep(const Step& step) {
  return absl::InvalidArgumentError(
      absl::StrCat(step.Text(), ": this stage has no such step"));
}

absl::Status Expect(const Step& step, bool holds, std::string_view found) {
  if (holds) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      step.Text(), ": found ", absl::string_view(found.data(), found.size())));
}

}  // namespace skerry::scenarios
