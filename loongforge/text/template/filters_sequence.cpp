// Filters that make or read sequences.
#include <algorithm>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/filters.h"
#include "loongforge/text/template/objects.h"
#include "loongforge/text/template/string_functions.h"

namespace loongforge::jinja {
namespace {

Value first(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("first", arguments, {});
  const List items = iterate(input);
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("last", arguments, {});
  if (input.object_as<Items>() != nullptr && !input.as_object().length()) {
    fail("'", type_name(input), "' object is not reversible");
  }
  const List items = iterate(input);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value list(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("list", arguments, {});
  return iterate(input);
}

Value reverse(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("reverse", arguments, {});
  List items = iterate(input);
  std::reverse(items.begin(), items.end());
  if (input.is_string()) return join_text("", items);
  return generator(std::move(items));
}

Value dict_items(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("items", arguments, {});
  List pairs;
  if (!input.is_undefined() && !input.is_dict()) fail("Can only get item pairs from a mapping.");
  if (input.is_dict()) {
    for (const auto& [key, value] : input.as_dict().entries) pairs.push_back(Value::tuple({key, value}));
  }
  return generator(std::move(pairs));
}

// Sorts by keys that are compared one after another; equal ones keep their order.
List sorted(List items, const std::vector<List>& keys, bool reverse) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = 0; k < keys[a].size(); ++k) {
      if (!equal(keys[a][k], keys[b][k])) return compare(keys[a][k], keys[b][k]) < 0;
    }
    return false;
  };
  // Python keeps equal items in their order when it sorts backwards, too.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return reverse ? before(b, a) : before(a, b); });
  List out;
  for (const std::size_t i : order) out.push_back(std::move(items[i]));
  return out;
}

Value sort(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const Value attribute = read.value("attribute", Value());
  std::vector<AttributePath> paths;
  if (attribute.is_string()) {
    const std::string comma = ",";
    for (const Value& part : split_text(attribute.as_string(), &comma, -1)) paths.emplace_back(part);
  } else {
    paths.emplace_back(attribute);
  }
  List items = iterate(input);
  std::vector<List> keys;
  for (const Value& item : items) {
    List key;
    for (const AttributePath& path : paths) {
      const Value value = path.of(item);
      key.push_back(read.flag("case_sensitive", false) ? value : ignore_case(value));
    }
    keys.push_back(std::move(key));
  }
  return sorted(std::move(items), keys, read.flag("reverse", false));
}

Value dict_sort(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = read.text("by", "key").text;
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  require_defined(input);
  if (!input.is_dict()) fail("'", type_name(input), "' object has no attribute 'items'");
  List items;
  std::vector<List> keys;
  for (const auto& [key, value] : input.as_dict().entries) {
    items.push_back(Value::tuple({key, value}));
    const Value& chosen = by == "key" ? key : value;
    keys.push_back({read.flag("case_sensitive", false) ? chosen : ignore_case(chosen)});
  }
  return sorted(std::move(items), keys, read.flag("reverse", false));
}

Value unique(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("unique", arguments, {"case_sensitive", "attribute"});
  const AttributePath path(read.value("attribute", Value()));
  Dict seen;
  List out;
  for (Value& item : iterate(input)) {
    const Value value = path.of(item);
    const Value key = read.flag("case_sensitive", false) ? value : ignore_case(value);
    if (seen.find(key) != nullptr) continue;
    seen.set(key, Value());
    out.push_back(std::move(item));
  }
  return generator(std::move(out));
}

template <bool kLargest>
Value extreme(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read(kLargest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const AttributePath path(read.value("attribute", Value()));
  const List items = iterate(input);
  if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const auto key_of = [&](const Value& item) {
    const Value value = path.of(item);
    return read.flag("case_sensitive", false) ? value : ignore_case(value);
  };
  std::size_t best = 0;
  Value best_key = key_of(items[0]);
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Value key = key_of(items[i]);
    const int order = compare(key, best_key);
    if (kLargest ? order <= 0 : order >= 0) continue;
    best = i;
    best_key = key;
  }
  return items[best];
}

Value batch(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("batch", arguments, {"linecount", "fill_with"});
  read.required("linecount");
  const std::int64_t size = read.integer("linecount", 1);
  const Value fill = read.value("fill_with", Value());
  if (size < 1 || size > (1 << 20)) fail("batch: expected a size from 1 on, got ", size);
  List rows, row;
  for (const Value& item : iterate(input)) {
    if (static_cast<std::int64_t>(row.size()) == size) rows.emplace_back(std::exchange(row, {}));
    row.push_back(item);
  }
  if (!row.empty()) {
    while (!fill.is_none() && static_cast<std::int64_t>(row.size()) < size) row.push_back(fill);
    rows.emplace_back(std::move(row));
  }
  return generator(std::move(rows));
}

Value slice(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("slice", arguments, {"slices", "fill_with"});
  read.required("slices");
  const std::int64_t slices = read.integer("slices", 1);
  const Value fill = read.value("fill_with", Value());
  if (slices < 1 || slices > (1 << 20)) fail("slice: expected a number of slices from 1 on, got ", slices);
  const List items = iterate(input);
  const auto n = static_cast<std::int64_t>(items.size());
  const std::int64_t each = n / slices, longer = n % slices;
  List columns;
  for (std::int64_t i = 0, at = 0; i < slices; ++i) {
    List column;
    const std::int64_t size = each + (i < longer ? 1 : 0);
    for (std::int64_t k = 0; k < size; ++k) column.push_back(items[static_cast<std::size_t>(at++)]);
    if (!fill.is_none() && i >= longer && longer > 0) column.push_back(fill);
    columns.emplace_back(std::move(column));
  }
  return generator(std::move(columns));
}

// What groupby yields: a pair whose parts have names.
class Group : public Object {
 public:
  Group(Value grouper, List items) : pair_{std::move(grouper), Value(std::move(items))} {}
  std::string repr() const override { return python_repr(Value::tuple(pair_)).text; }
  std::string type_name() const override { return "_GroupTuple"; }
  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "grouper") return pair_[0];
    if (name == "list") return pair_[1];
    return std::nullopt;
  }
  bool iterable() const override { return true; }
  std::optional<List> iterate() override { return pair_; }
  std::optional<std::size_t> length() const override { return 2; }
  int depth() const override { return 1 + std::max(pair_[0].depth(), pair_[1].depth()); }

 private:
  List pair_;
};

Value group_by(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("groupby", arguments, {"attribute", "default", "case_sensitive"});
  const AttributePath path(read.required("attribute"));
  const Value fallback = read.value("default", Value());
  const List items = iterate(input);
  List positions;
  std::vector<List> keys;
  std::vector<Value> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value value = path.of(items[i], &fallback);
    names.push_back(value);
    positions.emplace_back(static_cast<std::int64_t>(i));
    keys.push_back({read.flag("case_sensitive", false) ? value : ignore_case(value)});
  }
  List groups, group;
  std::optional<std::size_t> head;
  const auto flush = [&] {
    if (!head) return;
    groups.emplace_back(Value(
        std::static_pointer_cast<Object>(std::make_shared<Group>(names[*head], std::exchange(group, {})))));
  };
  for (const Value& position : sorted(positions, keys, false)) {
    const auto i = static_cast<std::size_t>(position.as_int());
    if (!head || !equal(keys[*head][0], keys[i][0])) {
      flush();
      head = i;
    }
    group.push_back(items[i]);
  }
  flush();
  return groups;
}

}  // namespace

const std::vector<NamedFilter>& sequence_filters() {
  static const std::vector<NamedFilter> filters = {
      {"batch", &batch},        {"dictsort", &dict_sort}, {"first", &first}, {"groupby", &group_by},
      {"items", &dict_items},   {"last", &last},          {"list", &list},   {"max", &extreme<true>},
      {"min", &extreme<false>}, {"reverse", &reverse},    {"slice", &slice}, {"sort", &sort},
      {"unique", &unique}};
  return filters;
}

}  // namespace loongforge::jinja
