#include "job/checkpoint_owner.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace skerry::job {
namespace {

absl::string_view View(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

}  // namespace

std::string CheckpointOwnerText(std::string_view folder, std::string_view name,
                                JobId number) {
  return absl::StrCat(View(folder), " has checkpoints of job ", View(name),
                      " (number ", number.value(),
                      "); give each job a folder of its own");
}

}  // namespace skerry::job
