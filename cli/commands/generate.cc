#include "cli/commands/generate.h"

#include "base/status.h"
#include "cli/json.h"

namespace skerry::cli {

absl::Status GenerateText(Client& client, const GenerateArguments& arguments,
                          const Output& output) {
  v1::GenerateTextRequest request;
  request.set_name(arguments.job);
  request.set_prompt(arguments.prompt);
  request.set_tokens(arguments.tokens);
  request.set_temperature(arguments.temperature);
  request.set_seed(arguments.seed);
  SKERRY_ASSIGN_OR_RETURN(const v1::GenerateTextReply reply,
                          client.Generate(request, arguments.timeout));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(reply);
    return absl::OkStatus();
  }
  output.out << arguments.prompt << reply.text() << "\n";
  output.err << "from sequence " << reply.sequence() << "\n";
  return absl::OkStatus();
}

}  // namespace skerry::cli
