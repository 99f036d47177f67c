#include "loongforge/models/card.h"

#include <algorithm>

#include "loongforge/base/error.h"

namespace loongforge {

// Made by CMake from the list of card folders.
void register_all_cards(Registry& registry);

namespace {

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<std::string> strings_at(const Json& config, const std::string& key) {
  const auto it = config.find(key);
  if (it == config.end()) return {};
  if (it->is_string()) return {it->get<std::string>()};
  std::vector<std::string> out;
  if (!it->is_array()) return out;
  for (const Json& item : *it) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "nothing" : text;
}

ModelParts whole_of(LanguagePart language) {
  ModelParts parts;
  parts.info = language.info;
  parts.segments = std::move(language.segments);
  parts.embedding = language.embedding;
  parts.head = language.head;
  return parts;
}

}  // namespace

void Registry::add(Card card) {
  for (const Card& other : cards_) {
    for (const std::string& type : card.model_types) {
      check(!has(other.model_types, type), "model cards '", other.family, "' and '", card.family,
            "' both serve model_type '", type, "'");
    }
  }
  cards_.push_back(std::move(card));
}

const Card& Registry::find(const Json& config, const std::string& where) const {
  check<CheckpointError>(config.is_object(), where, ": expected a JSON object, got ", config.type_name());
  const std::vector<std::string> types = strings_at(config, "model_type");
  const std::vector<std::string> architectures = strings_at(config, "architectures");
  for (const Card& card : cards_) {
    if (!types.empty() && has(card.model_types, types.front())) return card;
  }
  for (const Card& card : cards_) {
    for (const std::string& name : architectures) {
      if (types.empty() && has(card.architectures, name)) return card;
    }
  }
  std::vector<std::string> known;
  for (const Card& card : cards_) known.insert(known.end(), card.model_types.begin(), card.model_types.end());
  throw CheckpointError(concat(where, ": key 'model_type': expected one of ", joined(known), ", got ",
                               joined(types), " (architectures: ", joined(architectures), ")"));
}

std::vector<std::string> Registry::families() const {
  std::vector<std::string> out;
  for (const Card& card : cards_) out.push_back(card.family);
  return out;
}

const Registry& model_registry() {
  static const Registry registry = [] {
    Registry made;
    register_all_cards(made);
    return made;
  }();
  return registry;
}

std::unique_ptr<Model> build_model(const Json& config, const ParamPlan& plan, const std::string& where) {
  const Card& card = model_registry().find(config, where);
  check<CheckpointError>(card.whole || card.language, where, ": key 'model_type': ", card.family,
                         " is a vision tower, a part of a model and no model that stands alone");
  const NameMap names = card.names(config);
  const NameMap module_names = card.module_names ? card.module_names(config) : names;
  ParamBuilder builder(plan, module_names);
  ModelParts parts =
      card.whole ? card.whole(config, builder, where) : whole_of(card.language(config, builder, where));
  builder.check_targets_met();
  parts.info.family = card.family;
  parts.config = config;
  parts.names = names;
  parts.module_names = module_names;
  parts.plan = builder.plan();
  parts.params = builder.params();
  return std::make_unique<Model>(std::move(parts));
}

}  // namespace loongforge
