// The typed schema of a configuration, declared once: each struct of settings names its fields, and from
// that one declaration come reading, checking, --print-config, --help and docs/configuration.md.
//
//   struct OptimConfig {
//     double lr = 3e-4;
//     void fields(Fields& f) { f.field("optim.lr", lr, "Peak learning rate.").above(0); }
//   };
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {

// Where a value came from: "default", "file.yaml:3:5", "command line".
struct Field {
  using Target = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*,
                              std::vector<double>*, std::optional<std::int64_t>*, std::optional<double>*,
                              std::optional<std::string>*>;

  std::string path;
  Target target;
  std::string sentence;
  std::string unit_name;
  std::string default_text;
  std::string origin = "default";
  std::optional<double> low, high;
  bool low_open = false, high_open = false;
  std::vector<std::string> choices;
  bool is_required = false;

  Field& at_least(double bound) { return low = bound, *this; }
  Field& at_most(double bound) { return high = bound, *this; }
  Field& above(double bound) { return low = bound, low_open = true, *this; }
  Field& below(double bound) { return high = bound, high_open = true, *this; }
  Field& one_of(std::vector<std::string> values) { return choices = std::move(values), *this; }
  Field& unit(std::string name) { return unit_name = std::move(name), *this; }
  Field& required() { return is_required = true, *this; }

  // "integer", "number", "true or false", "text", "list of texts", ...
  std::string type_name() const;
  // Present value as YAML flow text.
  std::string value_text() const;
  // What is allowed beyond the type, e.g. ">= 1" or "cosine | linear"; empty when everything is.
  std::string range_text() const;
};

// All fields of a configuration in order of declaration; targets must outlive it.
class Fields {
 public:
  template <typename T>
  Field& field(std::string path, T& target, std::string sentence) {
    return add(std::move(path), Field::Target(&target), std::move(sentence));
  }

  const std::deque<Field>& all() const { return fields_; }
  Field* find(const std::string& path);
  // The declared path most like `path`; empty when none comes near.
  std::string nearest(const std::string& path) const;
  // True when some field lies below `path` ("optim" for "optim.lr").
  bool is_block(const std::string& path) const;

 private:
  Field& add(std::string path, Field::Target target, std::string sentence);
  std::deque<Field> fields_;
};

}  // namespace loongforge
