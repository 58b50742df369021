#include "cli/command_walk.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/did_you_mean.h"

namespace skerry::cli {
namespace {

struct Walk {
  // The innermost command.
  const CLI::App* app = nullptr;
  // The option whose value comes next, or null.
  const CLI::Option* awaiting = nullptr;
  // Words given to `app` that are no options.
  size_t positionals = 0;
  // The first word that is no command or option of its place.
  std::string stray;
  std::string coordinator;
  std::string context;
};

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) {
    // Those without a group are hidden.
    return !sub->get_group().empty();
  });
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : CommandsOf(app)) names.push_back(sub->get_name());
  return names;
}

// The options, without positional arguments, of `app` and of the commands
// around it.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  std::vector<const CLI::Option*> all;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (!option->get_positional()) all.push_back(option);
    }
  }
  return all;
}

std::vector<std::string> Spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_lnames()) {
    all.push_back("--" + name);
  }
  for (const std::string& name : option.get_snames()) {
    all.push_back("-" + name);
  }
  return all;
}

const CLI::Option* FindOption(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : OptionsOf(app)) {
    const std::vector<std::string> spelled = Spellings(*option);
    if (std::find(spelled.begin(), spelled.end(), word) != spelled.end()) {
      return option;
    }
  }
  return nullptr;
}

bool IsLong(const std::string& word) { return absl::StartsWith(word, "--"); }

void TakeValue(const CLI::Option& option, const std::string& value,
               Walk& walk) {
  const std::vector<std::string> spelled = Spellings(option);
  const auto is = [&](const char* name) {
    return std::find(spelled.begin(), spelled.end(), name) != spelled.end();
  };
  if (is("--coordinator")) walk.coordinator = value;
  if (is("--context")) walk.context = value;
}

void TakeOption(const std::string& word, Walk& walk) {
  // "--name=value", "-xvalue"
  const size_t end = IsLong(word) ? std::min(word.find('='), word.size()) : 2;
  const std::string name = word.substr(0, end);
  const CLI::Option* option = FindOption(*walk.app, name);
  if (option == nullptr) {
    walk.stray = name;
  } else if (end < word.size()) {
    TakeValue(*option, word.substr(IsLong(word) ? end + 1 : end), walk);
  } else if (option->get_items_expected_max() > 0) {
    walk.awaiting = option;
  }
}

void TakeWord(const std::string& word, Walk& walk) {
  if (walk.awaiting != nullptr) {
    TakeValue(*walk.awaiting, word, walk);
    walk.awaiting = nullptr;
    return;
  }
  if (word.size() > 1 && word[0] == '-') return TakeOption(word, walk);
  const std::vector<const CLI::App*> commands = CommandsOf(*walk.app);
  for (const CLI::App* command : commands) {
    if (command->get_name() != word) continue;
    walk.app = command;
    walk.positionals = 0;
    return;
  }
  if (!commands.empty()) walk.stray = word;
  ++walk.positionals;
}

Walk Along(const CLI::App& root, const std::vector<std::string>& words,
           size_t count) {
  Walk walk;
  walk.app = &root;
  for (size_t i = 0; i < count && walk.stray.empty(); ++i) {
    TakeWord(words[i], walk);
  }
  return walk;
}

// The positional argument that the next word fills; null when there is none.
const CLI::Option* NextPositional(const Walk& walk) {
  const CLI::Option* next = nullptr;
  size_t index = 0;
  for (const CLI::Option* option : walk.app->get_options()) {
    if (!option->get_positional()) continue;
    next = option;
    if (index++ == walk.positionals) return option;
  }
  // The last one may take many.
  return next != nullptr && next->get_items_expected_max() > 1 ? next : nullptr;
}

Names NamesFor(const std::string& argument) {
  if (argument == "NAME") return Names::kJobs;
  if (argument == "WORKER" || argument == "--worker") return Names::kWorkers;
  if (argument == "CONTEXT" || argument == "--context") return Names::kContexts;
  if (argument == "FIELD") return Names::kFields;
  for (const char* file :
       {"FILE", "FOLDER", "INPUT", "--file", "--state", "--to", "--out",
        "--cluster", "--data", "--description", "--folder", "--text",
        "--tokenizer", "--trace", "--validation-input"}) {
    if (argument == file) return Names::kFiles;
  }
  return Names::kNone;
}

// The words that an argument's description lists: "one of: table or yaml".
std::vector<std::string> ValuesFor(const CLI::Option& option) {
  std::vector<std::string> values;
  std::string word;
  const std::string& about = option.get_description();
  constexpr std::string_view kList = "one of: ";
  const size_t begin = about.find(kList);
  if (begin == std::string::npos) return values;
  for (const char c : about.substr(begin + kList.size()) + " ") {
    if (c != ' ' && c != ',') {
      word += c;
      continue;
    }
    if (!word.empty() && word != "or") values.push_back(word);
    word.clear();
  }
  return values;
}

// "data prepare"; the program's name for the root.
std::string PlaceOf(const CLI::App& app, const CLI::App& root) {
  std::string place;
  for (const CLI::App* at = &app; at != &root; at = at->get_parent()) {
    place = place.empty() ? at->get_name()
                          : absl::StrCat(at->get_name(), " ", place);
  }
  return place.empty() ? root.get_name() : place;
}

}  // namespace

Completion CompleteLine(const CLI::App& root,
                        const std::vector<std::string>& words) {
  Completion completion;
  if (words.empty()) return completion;
  completion.prefix = words.back();
  const Walk walk = Along(root, words, words.size() - 1);
  completion.coordinator = walk.coordinator;
  completion.context = walk.context;
  if (!walk.stray.empty()) return completion;
  std::vector<std::string> all;
  const CLI::Option* argument =
      walk.awaiting != nullptr ? walk.awaiting : NextPositional(walk);
  if (walk.awaiting == nullptr && absl::StartsWith(completion.prefix, "-")) {
    for (const CLI::Option* option : OptionsOf(*walk.app)) {
      const std::vector<std::string> spelled = Spellings(*option);
      if (!spelled.empty()) all.push_back(spelled.front());
    }
  } else if (argument != nullptr) {
    const std::vector<std::string> spelled = Spellings(*argument);
    completion.names =
        NamesFor(spelled.empty() ? argument->get_name() : spelled.front());
    all = ValuesFor(*argument);
  } else {
    all = CommandNames(*walk.app);
  }
  for (std::string& word : all) {
    if (absl::StartsWith(word, completion.prefix)) {
      completion.words.push_back(std::move(word));
    }
  }
  auto& found = completion.words;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return completion;
}

std::string NameGiven(const CLI::App& leaf, Names kind) {
  for (const CLI::Option* option : leaf.get_options()) {
    const std::vector<std::string> spelled = Spellings(*option);
    const std::string name =
        spelled.empty() ? option->get_name() : spelled.front();
    if (NamesFor(name) == kind && option->count() > 0) {
      return option->results().front();
    }
  }
  return "";
}

std::string ExplainWrongCommand(const CLI::App& root,
                                const std::vector<std::string>& words) {
  const Walk walk = Along(root, words, words.size());
  const std::vector<std::string> commands = CommandNames(*walk.app);
  const std::string place = PlaceOf(*walk.app, root);
  // Those of the root are too many for a line.
  const auto among = [&](const char* before) {
    return walk.app == &root
               ? std::string()
               : absl::StrCat(before, absl::StrJoin(commands, ", "));
  };
  if (walk.stray.empty()) {
    const bool missing = !commands.empty() && walk.awaiting == nullptr;
    return missing ? absl::StrCat(place, " needs a command", among(": ")) : "";
  }
  if (walk.stray[0] != '-') {
    const std::string nearest = DidYouMean(walk.stray, commands);
    return absl::StrCat(place, " has no command ", walk.stray,
                        nearest.empty() ? among("; it has: ") : nearest);
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : OptionsOf(*walk.app)) {
    for (std::string& name : Spellings(*option)) {
      if (IsLong(name) == IsLong(walk.stray)) known.push_back(std::move(name));
    }
  }
  const std::string nearest =
      IsLong(walk.stray) ? DidYouMean(walk.stray, known) : "";
  return absl::StrCat(place, " has no option ", walk.stray, nearest);
}

std::string TypedCommand(const CLI::App& root,
                         const std::vector<std::string>& words) {
  const Walk walk = Along(root, words, words.size());
  const std::string place = PlaceOf(*walk.app, root);
  return walk.app == &root ? place : absl::StrCat(root.get_name(), " ", place);
}

}  // namespace skerry::cli
