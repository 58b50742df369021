#include "cli/view_arguments.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/word_checks.h"

namespace skerry::cli {

void AddListOptions(CLI::App* leaf, ListArguments& wanted) {
  leaf->add_option("-l,--selector", wanted.selector,
                   "FIELD=VALUE or FIELD!=VALUE, several with commas between "
                   "them: only those of which all hold; default: all")
      ->type_name("TESTS");
  leaf->add_option("--sort-by", wanted.sort_by,
                   "a field, as counters.tokens_per_s; default: as the "
                   "coordinator lists them")
      ->type_name("FIELD");
  leaf->add_flag_callback(
      "--no-headers", [&wanted] { wanted.headers = false; },
      "a table without its titles");
}

void AddWaitOptions(CLI::App* leaf, const std::string& what,
                    const std::vector<std::string>& states,
                    WaitArguments& wanted, std::string& limit) {
  leaf->add_option(
          "--for", wanted.until,
          absl::StrCat(what, ", one of: ", absl::StrJoin(states, ", ")))
      ->check(IsOneOf(states))
      ->required();
  leaf->add_option("--timeout", limit,
                   "give up after so long, as 90s or 10m; default: never")
      ->check(IsDuration())
      ->type_name("TIME");
}

}  // namespace skerry::cli
