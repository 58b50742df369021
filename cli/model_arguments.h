// cli/model_arguments.h
//
// The part of the command line that is about data sets, and models in folders.
#ifndef SKERRY_CLI_MODEL_ARGUMENTS_H_
#define SKERRY_CLI_MODEL_ARGUMENTS_H_

#include "cli/commands/data_import.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/sample.h"
#include "cli/commands/train_tokenizer.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// Each gives the command its options, whose values go to the second argument.
void AddDataPrepareOptions(CLI::App* prepare, DataPrepareArguments& wanted);
void AddDataImportOptions(CLI::App* import, DataImportOptions& wanted);
void AddTrainTokenizerOptions(CLI::App* train, TrainTokenizerArguments& wanted);
void AddSampleOptions(CLI::App* sample, SampleArguments& wanted);
void AddEvaluateOptions(CLI::App* evaluate, EvaluateArguments& wanted);
void AddDescribeModelOptions(CLI::App* describe,
                             DescribeModelArguments& wanted);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_MODEL_ARGUMENTS_H_
