#include "cli/model_place.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

std::string OnWorkers(const v1::JobView& job) {
  const v1::ModelPlace& model = job.model();
  if (job.sequence() == 0) return "nothing was committed: there is no model\n";
  if (model.workers().empty()) {
    return absl::StrCat("no worker that is there has state ", job.sequence(),
                        " whole; start those that served the job\n");
  }
  std::string text = absl::StrCat(
      "state ", model.sequence(), " of ", job.sequence(), " is on ",
      model.workers_size() == 1 ? "worker " : "workers ",
      absl::StrJoin(model.workers(), ", "), " for ", AgeText(model.kept_ms()),
      " more (less when the ended jobs there exceed ",
      BytesText(model.keep_ended_bytes()), ")\n");
  // Only its workers know the tensors of a program: they save checkpoints.
  if (job.spec().model().has_program()) return text;
  absl::StrAppend(&text, "  take it out with: skerryctl checkpoint create ",
                  job.spec().name(),
                  " --to FOLDER\n  and make model files of that with: "
                  "skerryctl checkpoint export FOLDER --out MODEL\n");
  return text;
}

}  // namespace

std::string ModelPlaceText(const v1::JobView& job) {
  if (!job.has_model()) return "";
  std::string text = OnWorkers(job);
  if (job.checkpoint() > 0) {
    const std::string& folder = job.spec().checkpoint().directory();
    absl::StrAppend(&text, "checkpoint ", job.checkpoint(), " is in ", folder,
                    " until you remove it\n  make model files of it with: "
                    "skerryctl checkpoint export ",
                    folder, " --out MODEL\n");
  }
  return text;
}

}  // namespace skerry::cli
