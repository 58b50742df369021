#include "cli/checkpoint_arguments.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "runtime/command_line/number_option.h"

namespace skerry::cli {

void AddCheckpointCreateOptions(CLI::App* create, CheckpointArguments& wanted) {
  create
      ->add_option("--to", wanted.folder,
                   "folder of this job's checkpoints; made when it is missing")
      ->type_name("FOLDER")
      ->required();
  runtime::AddNumber(*create, "--keep", wanted.keep, {0, 1'000'000},
                     "finished checkpoints that stay there; 0 keeps all")
      ->capture_default_str();
}

void AddCheckpointListOptions(CLI::App* list, CheckpointArguments& wanted) {
  list->add_option("FOLDER", wanted.folder,
                   "a job's checkpoints: its checkpoint.directory, or what "
                   "`checkpoint create` made")
      ->required();
}

void AddCheckpointVerifyOptions(CLI::App* verify, CheckpointArguments& wanted) {
  AddCheckpointListOptions(verify, wanted);
  verify->add_option("--name", wanted.name, "one of them; default: all")
      ->type_name("NAME");
}

void AddCheckpointExportOptions(CLI::App* exported,
                                CheckpointArguments& wanted) {
  AddCheckpointListOptions(exported, wanted);
  exported
      ->add_option("--name", wanted.name, "one of them; default: the newest")
      ->type_name("NAME");
  exported->add_option("--out", wanted.out, "folder to make")
      ->type_name("FOLDER")
      ->required();
  const std::map<std::string, model::Dtype> dtypes = {
      {"f32", model::Dtype::kF32},
      {"bf16", model::Dtype::kBf16},
      {"f16", model::Dtype::kF16}};
  exported
      ->add_option("--dtype", wanted.dtype,
                   "type of the weights, one of: f32, bf16 or f16")
      ->transform(CLI::CheckedTransformer(dtypes).description(""))
      ->type_name("TYPE")
      ->default_str("f32");
  runtime::AddNumber(*exported, "--file-bytes", wanted.file_bytes_max,
                     {.low = 1}, "bytes of weights in one file, at most")
      ->capture_default_str();
}

}  // namespace skerry::cli
