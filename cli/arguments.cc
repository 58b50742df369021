#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/release.h"
#include "cli/command_table.h"
#include "cli/commands/complete.h"
#include "cli/output_forms.h"
#include "runtime/command_line/empty_value.h"
#include "runtime/command_line/sorted_help.h"

namespace skerry::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 ok, 1 internal, 2 usage, 3 not found, 4 conflict,\n"
    "5 denied, 6 unavailable (repeat it), 7 invalid, 8 the followed job\n"
    "failed, 9 it was cancelled, 10 it succeeded and its last state was not\n"
    "saved, 124 the time to wait is over, 130 interrupted.";

class Parser {
 public:
  Parser();
  Parsed Parse(const std::vector<std::string>& words);
  const CLI::App& app() const { return app_; }

 private:
  // A command at the end of the line, and where its values go.
  struct Leaf {
    const Command* command;
    CLI::App* app;
    std::any arguments;
  };

  void Add(const Command& command);
  // The app that the commands of a group stand in.
  CLI::App* GroupOf(const std::string& word);
  // `where` is the command whose help tells more.
  Parsed Wrong(const std::string& what, const std::string& where) const;
  void TakeEnvironment();
  // What the words mean together; an error text, or nothing.
  std::string Finish();

  CLI::App app_{"Drives a Skerry cluster through its coordinator.",
                "skerryctl"};
  SharedArguments shared_;
  CLI::Option* coordinator_ = nullptr;
  std::string form_ = "table";
  std::map<std::string, CLI::App*> groups_;
  // They stay where they are.
  std::deque<Leaf> leaves_;
  Leaf* chosen_ = nullptr;
};

Parser::Parser() {
  runtime::SortHelp(app_);
  // Options of skerryctl may stand behind the command.
  app_.fallthrough();
  app_.set_version_flag("--version",
                        std::string("skerryctl ") + kRelease + "\n");
  coordinator_ = app_.add_option("--coordinator", shared_.coordinator,
                                 "where the coordinator listens; default: "
                                 "SKERRY_COORDINATOR, else what the context "
                                 "says, else this address")
                     ->type_name("HOST:PORT")
                     ->capture_default_str();
  app_.add_option("--context", shared_.context,
                  "a cluster that skerryctl config has named; default: the "
                  "current one")
      ->type_name("NAME");
  app_.add_option("-o,--output", form_,
                  "what is printed, one of: table, wide, json, jsonl, yaml, "
                  "name or custom-columns=TITLE:FIELD,..")
      ->type_name("FORM")
      ->capture_default_str()
      ->check(IsForm());
  app_.require_subcommand(1);
  app_.footer(kFooter);
  for (const Command& command : Commands()) Add(command);
}

CLI::App* Parser::GroupOf(const std::string& word) {
  CLI::App*& found = groups_[word];
  if (found != nullptr) return found;
  const auto group =
      std::find_if(CommandGroups().begin(), CommandGroups().end(),
                   [&](const CommandGroup& one) { return one.word == word; });
  SKERRY_CHECK(group != CommandGroups().end());
  found = app_.add_subcommand(word, group->about);
  found->require_subcommand(1);
  return found;
}

void Parser::Add(const Command& command) {
  const size_t space = command.words.find(' ');
  CLI::App* parent = space == std::string::npos
                         ? &app_
                         : GroupOf(command.words.substr(0, space));
  const std::string name = space == std::string::npos
                               ? command.words
                               : command.words.substr(space + 1);
  Leaf& leaf = leaves_.emplace_back();
  leaf.command = &command;
  leaf.app = parent->add_subcommand(name, command.about);
  leaf.app->callback([this, &leaf] { chosen_ = &leaf; });
  command.add_options(*leaf.app, leaf.arguments);
}

Parsed Parser::Wrong(const std::string& what, const std::string& where) const {
  std::string line = what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {.line = std::nullopt,
          .text = line + " (see " + where + " --help)\n",
          .code = ExitCode::kUsage};
}

void Parser::TakeEnvironment() {
  if (coordinator_->count() > 0) {
    shared_.coordinator_origin = SharedArguments::Origin::kLine;
    return;
  }
  const char* given = std::getenv("SKERRY_COORDINATOR");
  if (!shared_.context.empty() || given == nullptr || *given == '\0') return;
  shared_.coordinator = given;
  shared_.coordinator_origin = SharedArguments::Origin::kEnvironment;
}

std::string Parser::Finish() {
  TakeEnvironment();
  const Command& command = *chosen_->command;
  const std::string problem = command.finish(chosen_->arguments, shared_);
  if (!problem.empty()) return problem;
  const OutputForm form = ReadForm(form_, &shared_.columns);
  if (!HasForm(command.prints, form)) {
    return "-o: this command does not print that form";
  }
  shared_.form = SeenForm(command.prints, form);
  return "";
}

Parsed Parser::Parse(const std::vector<std::string>& words) {
  // CLI11 takes the words from the back, and speaks in exceptions; they end
  // here.
  try {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return {.line = std::nullopt, .text = app_.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.line = std::nullopt, .text = version.what()};
  } catch (const CLI::ParseError& error) {
    const std::string wrong = ExplainWrongCommand(app_, words);
    return Wrong(wrong.empty() ? error.what() : wrong,
                 TypedCommand(app_, words));
  }
  std::string problem =
      runtime::ExplainEmptyValue(app_, {"--prompt", "--stop"});
  if (problem.empty()) problem = Finish();
  if (!problem.empty()) return Wrong(problem, TypedCommand(app_, words));
  return {
      .line = CommandLine{.command = chosen_->command,
                          .arguments = std::move(chosen_->arguments),
                          .shared = shared_,
                          .job = NameGiven(*chosen_->app, Names::kJobs),
                          .worker = NameGiven(*chosen_->app, Names::kWorkers)},
      .text = ""};
}

// Words that are no line yet.
Parsed HalfLine(const std::vector<std::string>& words) {
  static const auto* const command = new Command(HalfLineCommand());
  CommandLine line;
  line.command = command;
  line.arguments = HalfLineArguments{CompleteArguments(words)};
  return {.line = std::move(line), .text = ""};
}

}  // namespace

Parsed ParseArguments(std::vector<std::string> words) {
  if (!words.empty() && words.front() == kHalfLineWord) {
    return HalfLine({words.begin() + 1, words.end()});
  }
  return Parser().Parse(words);
}

Completion CompleteArguments(const std::vector<std::string>& words) {
  return CompleteLine(Parser().app(), words);
}

}  // namespace skerry::cli
