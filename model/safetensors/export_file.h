// model/safetensors/export_file.h
//
// A file that belongs beside the weights of an export.
#ifndef SKERRY_MODEL_SAFETENSORS_EXPORT_FILE_H_
#define SKERRY_MODEL_SAFETENSORS_EXPORT_FILE_H_

#include <string>

namespace skerry::model {

struct ExportFile {
  std::string name;  // plain, without a folder: config.json
  std::string content;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_EXPORT_FILE_H_
