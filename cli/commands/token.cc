#include "cli/commands/token.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/table.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

struct TokenId {
  std::string id;
};

constexpr absl::Duration kTtlMax = absl::Hours(24 * 366);

// The token goes through a file, since arguments can be read by everyone on a
// machine.
std::string JoinCommand(const v1::CreateTokenReply& reply) {
  const v1::TokenView& token = reply.token();
  const bool one_name = token.worker_pattern().find('*') == std::string::npos;
  return absl::StrCat("(umask 077; echo ", reply.secret(), " > join-token)\n",
                      "skerry-worker --name ",
                      one_name ? token.worker_pattern() : "NAME", " --island ",
                      token.island(), " --state STATE --coordinator ",
                      reply.address(), " --ca-pin ", reply.ca_pin(),
                      " --join-token-file join-token\n");
}

absl::Status CreateToken(const TokenArguments& wanted, Client& client,
                         const Output& output) {
  v1::CreateTokenRequest request;
  request.set_island(wanted.island);
  request.set_worker_pattern(wanted.worker);
  request.set_ttl_s(static_cast<uint64_t>(absl::ToInt64Seconds(wanted.ttl)));
  request.set_uses(wanted.uses);
  SKERRY_ASSIGN_OR_RETURN(const v1::CreateTokenReply reply,
                          client.CreateToken(request));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(reply);
  } else if (wanted.join_command) {
    output.out << JoinCommand(reply);
  } else {
    output.out << reply.secret() << "\n";
    output.err << "pin of the CA: " << reply.ca_pin() << "\n";
  }
  return absl::OkStatus();
}

std::string LeftOf(const v1::TokenView& token) {
  if (token.expires_in_s() <= 0) return "expired";
  return absl::FormatDuration(absl::Seconds(token.expires_in_s()));
}

absl::Status ListTokens(const NoArguments&, Client& client,
                        const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListTokensReply tokens,
                          client.ListTokens());
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(tokens);
    return absl::OkStatus();
  }
  Table table({{"TOKEN"}, {"ISLAND"}, {"WORKERS"}, {"USES"}, {"LEFT"}});
  for (const v1::TokenView& token : tokens.tokens()) {
    table.AddRow({token.id(), token.island(), token.worker_pattern(),
                  absl::StrCat(token.uses(), "/", token.uses_max()),
                  LeftOf(token)});
  }
  output.out << table.Text();
  return absl::OkStatus();
}

absl::Status DeleteToken(const TokenId& wanted, Client& client,
                         const Output& output) {
  SKERRY_RETURN_IF_ERROR(client.DeleteToken(wanted.id));
  output.out << wanted.id << " deleted\n";
  return absl::OkStatus();
}

void AddTtl(CLI::App& app, absl::Duration& ttl) {
  app.add_option_function<std::string>(
         "--ttl",
         [&ttl](const std::string& text) { absl::ParseDuration(text, &ttl); },
         "how long it can be used")
      ->check(CLI::Validator(
          [](const std::string& text) {
            absl::Duration read;
            const bool fine = absl::ParseDuration(text, &read) &&
                              read >= absl::Seconds(1) && read <= kTtlMax;
            return fine ? std::string()
                        : "has to be a time of 1s to 8784h, like 24h, not " +
                              text;
          },
          ""))
      ->type_name("TIME")
      ->default_str("24h");
}

void AddToken(CLI::App& app, TokenArguments& wanted) {
  app.add_option("--island", wanted.island, "island of the workers")
      ->required();
  app.add_option("--worker", wanted.worker,
                 "names of the workers; * stands for any characters")
      ->type_name("PATTERN")
      ->capture_default_str();
  AddTtl(app, wanted.ttl);
  runtime::AddNumber(app, "--uses", wanted.uses, {1, 100'000},
                     "workers that it lets in")
      ->capture_default_str();
  app.add_flag("--print-join-command", wanted.join_command,
               "print the lines that start a worker with it");
}

}  // namespace

Command CreateTokenCommand() {
  return MakeCommand<TokenArguments>(
      {.words = "token create",
       .about = "makes a token that lets workers join; it is shown this once",
       .add_options = AddToken,
       .run = CreateToken});
}

Command ListTokensCommand() {
  return MakeCommand<NoArguments>({.words = "token list",
                                   .about = "the tokens, without their secrets",
                                   .run = ListTokens});
}

Command DeleteTokenCommand() {
  return MakeCommand<TokenId>(
      {.words = "token delete",
       .about = "deletes a token; workers that it has let in stay",
       .prints = Prints::kText,
       .add_options =
           +[](CLI::App& app, TokenId& wanted) {
             app.add_option("TOKEN", wanted.id, "the part before the dot")
                 ->required();
           },
       .run = DeleteToken});
}

}  // namespace skerry::cli
