#include "coordinator/core/rules/programs.h"

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skerry::coordinator {
namespace {

// Programs, and workers of each, that one line names.
constexpr size_t kNamedMax = 3;

std::string Listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamedMax);
  std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  if (shown < names.size()) {
    absl::StrAppend(&text, " and ", names.size() - shown, " more");
  }
  return text;
}

// Says which programs are where, for example "mnist on a0, a1; gpt on b0".
std::string AllowedText(const std::vector<const Worker*>& workers) {
  absl::btree_map<std::string, std::vector<std::string>> where;
  for (const Worker* worker : workers) {
    for (const protocol::ProgramFact& program : worker->programs) {
      where[program.name].push_back(worker->self.worker);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, on] : where) {
    if (parts.size() == kNamedMax) {
      parts.push_back(absl::StrCat(where.size() - kNamedMax, " more"));
      break;
    }
    parts.push_back(absl::StrCat(name, " on ", Listed(on)));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace

const protocol::ProgramFact* ProgramOn(const job::JobSpec& spec,
                                       const Worker& worker) {
  if (!spec.model.program.has_value()) return nullptr;
  for (const protocol::ProgramFact& program : worker.programs) {
    if (program.name == spec.model.program->name) return &program;
  }
  return nullptr;
}

std::string WhyNoProgram(const job::JobSpec& spec, const std::string& sha256,
                         const Worker& worker) {
  if (!spec.model.program.has_value()) return "";
  const std::string& name = spec.model.program->name;
  const protocol::ProgramFact* program = ProgramOn(spec, worker);
  if (program == nullptr) {
    return absl::StrCat("it does not allow the program ", name,
                        "; start it with --program ", name, "=FILE");
  }
  if (program->sha256.empty()) {
    return absl::StrCat("it cannot read the file of its program ", name);
  }
  const bool named = !spec.model.program->sha256.empty();
  const std::string& wanted = named ? spec.model.program->sha256 : sha256;
  if (wanted.empty() || program->sha256 == wanted) return "";
  return absl::StrCat(
      "its program ", name, " has the SHA-256 ", program->sha256, ", and ",
      named ? "the job names " : "that of the job's first worker has ", wanted,
      "; give all workers the same file");
}

void ReviewPrograms(const job::JobSpec& spec,
                    const std::vector<const Worker*>& workers,
                    std::vector<std::string>& warnings,
                    job::SpecProblems& problems) {
  if (!spec.model.program.has_value()) return;
  std::vector<std::string> lacking;
  const Worker* other = nullptr;
  for (const Worker* worker : workers) {
    const std::string why = WhyNoProgram(spec, "", *worker);
    if (why.empty()) continue;
    lacking.push_back(absl::StrCat("worker ", worker->self.worker, ": ", why));
    if (ProgramOn(spec, *worker) != nullptr) other = worker;
  }
  if (lacking.empty()) return;
  if (lacking.size() < workers.size()) {
    warnings.push_back(absl::StrCat("model.program: ", Listed(lacking)));
    return;
  }
  if (other != nullptr) {
    problems.Add(
        "model.program.sha256",
        absl::StrCat("no worker has that program; worker ", other->self.worker,
                     ": ", WhyNoProgram(spec, "", *other)));
    return;
  }
  const std::string allowed = AllowedText(workers);
  const std::string& name = spec.model.program->name;
  problems.Add("model.program.name",
               absl::StrCat("no worker that is there allows the program ", name,
                            allowed.empty() ? "" : "; they allow ", allowed,
                            "; start workers with --program ", name, "=FILE"));
}

}  // namespace skerry::coordinator
