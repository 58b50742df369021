// runtime/command_line/number_option.h
//
// Adds an option that takes a number to a command line. Every number of every
// program is read here, because CLI11's own reading lets a negative one wrap
// round to 2^64 and takes 010 for 8.
#ifndef SKERRY_RUNTIME_COMMAND_LINE_NUMBER_OPTION_H_
#define SKERRY_RUNTIME_COMMAND_LINE_NUMBER_OPTION_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"

namespace skerry::runtime {

// Refuses a word that is no number within `bounds`.
template <typename T>
CLI::Validator IsNumber(Bounds<T> bounds) {
  return {[bounds](const std::string& text) {
            return std::string(ReadNumber<T>(text, bounds).status().message());
          },
          ""};
}

// `value` keeps what it has when the option is not given, and outlives `app`.
template <typename T>
CLI::Option* AddNumber(CLI::App& app, const std::string& name, T& value,
                       Bounds<std::type_identity_t<T>> bounds,
                       const std::string& about) {
  CLI::Option* option = app.add_option_function<std::string>(
      name,
      [&value, bounds](const std::string& text) {
        value = *ReadNumber<T>(text, bounds);
      },
      about);
  option->default_function([&value] { return absl::StrCat(value); });
  return option->check(IsNumber<T>(bounds))->type_name("N");
}

// None when the option is not given.
template <typename T>
CLI::Option* AddNumber(CLI::App& app, const std::string& name,
                       std::optional<T>& value,
                       Bounds<std::type_identity_t<T>> bounds,
                       const std::string& about) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, bounds](const std::string& text) {
            value = *ReadNumber<T>(text, bounds);
          },
          about)
      ->check(IsNumber<T>(bounds))
      ->type_name("N");
}

// Several numbers with commas between them.
template <typename T>
CLI::Option* AddNumbers(CLI::App& app, const std::string& name,
                        std::vector<T>& values,
                        Bounds<std::type_identity_t<T>> bounds,
                        const std::string& about) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [&values, bounds](const std::vector<std::string>& texts) {
            values.clear();
            for (const std::string& text : texts) {
              values.push_back(*ReadNumber<T>(text, bounds));
            }
          },
          about)
      ->check(IsNumber<T>(bounds))
      ->type_name("N,..")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_COMMAND_LINE_NUMBER_OPTION_H_
