#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/models/card.h"
#include "loongforge/models/preset_texts.h"

namespace loongforge {
namespace {

Json scalar(const YAML::Node& node) {
  const std::string text = node.Scalar();
  // Quoted scalars carry the tag "!".
  if (node.Tag() == "!") return text;
  std::int64_t integer = 0;
  double number = 0;
  bool flag = false;
  if (YAML::convert<std::int64_t>::decode(node, integer)) return integer;
  if (YAML::convert<double>::decode(node, number)) return number;
  if (YAML::convert<bool>::decode(node, flag)) return flag;
  return text;
}

Json to_json(const YAML::Node& node) {
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    Json out = Json::array();
    for (const YAML::Node& item : node) out.push_back(to_json(item));
    return out;
  }
  if (node.IsMap()) {
    Json out = Json::object();
    for (const auto& item : node) out[item.first.Scalar()] = to_json(item.second);
    return out;
  }
  return nullptr;
}

}  // namespace

Json preset_config(const std::string& name) {
  std::string known;
  for (const PresetText& preset : preset_texts()) {
    if (preset.name == name) return to_json(YAML::Load(std::string(preset.yaml)));
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw ConfigError(concat("model.preset: expected one of ", known, ", got '", name, "'"));
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const PresetText& preset : preset_texts()) names.emplace_back(preset.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace loongforge
