// job/text_forms.h
//
// Tells which texts of a job have a form that commands and files can carry, and
// shows a text that has another.
#ifndef SKERRY_JOB_TEXT_FORMS_H_
#define SKERRY_JOB_TEXT_FORMS_H_

#include <string>
#include <string_view>

namespace skerry::job {

// Returns true for 1 to kLabelBytesMax lower-case letters, digits, dashes and
// characters of `extra`.
bool IsLabel(std::string_view text, std::string_view extra);

// The text in quotes, with escapes for what cannot be shown. Only the first 80
// bytes of a longer text are shown.
std::string Quoted(std::string_view text);

}  // namespace skerry::job

#endif  // SKERRY_JOB_TEXT_FORMS_H_
