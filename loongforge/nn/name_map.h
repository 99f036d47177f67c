// Names of parameters in checkpoint files: declared once by a model card, used in both directions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace loongforge {

// Pairs of patterns (our name, the file's name); "{}" stands for one number, e.g. the layer.
class NameMap {
 public:
  NameMap() = default;
  explicit NameMap(std::vector<std::pair<std::string, std::string>> rules) : rules_(std::move(rules)) {}

  // The same rules for a part of a larger model: our names start with `prefix`, the file's with
  // `file_prefix`.
  NameMap under(const std::string& prefix, const std::string& file_prefix = "") const;
  NameMap& operator+=(const NameMap& other);

  // The file's name of our parameter. Throws InternalError when no rule fits.
  std::string to_file(const std::string& name) const;
  // Our name of the file's tensor, or nothing.
  std::optional<std::string> from_file(const std::string& name) const;
  // The file's module name of our linear: to_file(name + ".weight") without ".weight".
  std::string module_to_file(const std::string& linear) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;
};

}  // namespace loongforge
