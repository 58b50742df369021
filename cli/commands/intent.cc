#include "cli/commands/intent.h"

#include <ostream>

#include "base/status.h"
#include "cli/print_change.h"
#include "cli/shared_options.h"

namespace skerry::cli {
namespace {

absl::Status SetIntent(Client& client, const std::string& worker,
                       v1::WorkerIntent intent, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::WorkerView view,
                          client.SetIntent(worker, intent));
  PrintChange(view, worker, view.state(), output);
  if (intent == v1::WORKER_INTENT_DRAIN && view.state() != "drained") {
    output.err << "it delivers what it owes and leaves its jobs; wait with: "
                  "skerryctl wait worker "
               << worker << " --for drained\n";
  }
  return absl::OkStatus();
}

// A row for what SetIntent asks of a worker.
template <v1::WorkerIntent kIntent>
Command IntentCommand(const char* words, const char* about) {
  return MakeCommand<WorkerArguments>(
      {.words = words,
       .about = about,
       .prints = Prints::kChange,
       .add_options = AddWorker,
       .run = +[](const WorkerArguments& worker, Client& client,
                  const Output& output) {
         return SetIntent(client, worker.name, kIntent, output);
       }});
}

}  // namespace

Command CordonCommand() {
  return IntentCommand<v1::WORKER_INTENT_CORDON>("cordon",
                                                 "gives a worker nothing new");
}

Command UncordonCommand() {
  return IntentCommand<v1::WORKER_INTENT_SERVE>("uncordon",
                                                "lets a worker serve again");
}

Command DrainCommand() {
  return IntentCommand<v1::WORKER_INTENT_DRAIN>(
      "drain", "lets a worker finish its round and leave its jobs");
}

}  // namespace skerry::cli
