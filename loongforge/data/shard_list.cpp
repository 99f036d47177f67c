#include "loongforge/data/shard_list.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr const char* kSplits = ".nv-meta/split.yaml";

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The choices of what stands between braces: numbers FIRST..LAST as wide as the wider of the two, or texts
// with commas.
std::vector<std::string> choices_of(std::string_view inside) {
  std::vector<std::string> out;
  if (const std::size_t dots = inside.find(".."); dots != std::string_view::npos) {
    const std::string_view first = inside.substr(0, dots), last = inside.substr(dots + 2);
    const auto from = number_of(first), to = number_of(last);
    const bool padded = first.starts_with('0') || last.starts_with('0');
    for (std::int64_t i = from.value_or(0); from && to && i <= *to; ++i) {
      std::string digits = std::to_string(i);
      const std::size_t width = padded ? std::max(first.size(), last.size()) : 0;
      out.push_back(std::string(std::max(width, digits.size()) - digits.size(), '0') + digits);
    }
    return out;
  }
  for (std::size_t at = 0; at <= inside.size();) {
    const std::size_t comma = std::min(inside.find(',', at), inside.size());
    out.emplace_back(inside.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

std::vector<fs::path> shards_in(const fs::path& folder) {
  std::vector<fs::path> shards;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.path().extension() == ".tar") shards.push_back(file.path());
  }
  std::ranges::sort(shards);
  return shards;
}

// Every text of a list with its patterns written out.
std::vector<std::string> expanded(const YAML::Node& list) {
  std::vector<std::string> out;
  for (const YAML::Node& item : list) {
    const std::vector<std::string> names = expand_braces(item.as<std::string>());
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

ShardList split_of(const fs::path& folder, const std::string& split) {
  const fs::path file = folder / kSplits;
  ShardList out{{}, folder, {}};
  try {
    const YAML::Node node = YAML::Load(read_file(file));
    const YAML::Node parts = node["split_parts"][split];
    check<DataError>(parts.IsDefined() && parts.size() > 0, file.string(),
                     ": expected shards in split_parts.", split, ", got none; name another split as ",
                     folder.string(), ":SPLIT");
    for (const std::string& name : expanded(node["exclude"])) out.excluded.insert(name);
    for (const std::string& name : expanded(parts)) {
      if (!out.excluded.contains(name)) out.shards.push_back(folder / name);
    }
  } catch (const YAML::Exception& error) {
    throw DataError(concat(file.string(), ": expected Energon's lists of shards: ", error.msg, " in line ",
                           error.mark.line + 1));
  }
  return out;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& pattern) {
  const std::size_t open = pattern.find('{'), close = pattern.find('}', std::min(open, pattern.size()));
  if (close == std::string::npos) return {pattern};
  std::vector<std::string> out;
  for (const std::string& rest : expand_braces(pattern.substr(close + 1))) {
    for (const std::string& choice : choices_of(std::string_view(pattern).substr(open + 1, close - open - 1)))
      out.push_back(pattern.substr(0, open) + choice + rest);
  }
  std::ranges::sort(out);
  return out;
}

bool ShardList::keeps(const fs::path& shard, std::int64_t sample) const {
  if (excluded.empty()) return true;
  return !excluded.contains(concat(shard.lexically_relative(folder).string(), "/", sample));
}

ShardList find_shards(const std::string& entry) {
  if (entry.ends_with(".tar")) {
    const std::vector<std::string> names = expand_braces(entry);
    return {{names.begin(), names.end()}, {}, {}};
  }
  std::string folder = entry, split = "train";
  const std::size_t colon = entry.rfind(':');
  if (!fs::is_directory(folder) && colon != std::string::npos) {
    folder = entry.substr(0, colon);
    split = entry.substr(colon + 1);
  }
  if (!fs::is_directory(folder)) return {};
  if (fs::exists(fs::path(folder) / kSplits)) return split_of(folder, split);
  if (folder != entry) return {};
  return {shards_in(folder), {}, {}};
}

}  // namespace loongforge
