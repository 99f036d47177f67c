#include <algorithm>
#include <set>

#include "loongforge/base/json.h"
#include "loongforge/formats/safetensors.h"

namespace loongforge {
namespace {

// Messages name at most this many tensors.
constexpr std::size_t kMaxListed = 20;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxListed; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMaxListed) text += concat(" and ", names.size() - kMaxListed, " more");
  return text;
}

// weight_map of an index: tensor name -> file name, which must lie beside the index.
std::vector<std::pair<std::string, std::string>> parse_weight_map(const fs::path& index) {
  const Json root = read_json<CheckpointError>(index);
  const std::string file = index.string();
  check<CheckpointError>(root.is_object() && root.contains("weight_map") && root["weight_map"].is_object(),
                         file, ": expected an object with the key 'weight_map' (tensor name to file name)");
  std::vector<std::pair<std::string, std::string>> map;
  for (const auto& [name, value] : root["weight_map"].items()) {
    check<CheckpointError>(value.is_string(), file, ": expected 'weight_map.", name,
                           "' to be a file name, got ", value.type_name());
    const fs::path shard = value.get<std::string>();
    check<CheckpointError>(!shard.empty() && shard == shard.filename() && shard != ".." && shard != ".", file,
                           ": expected 'weight_map.", name, "' to be a file name without folders, got '",
                           shard.string(), "'");
    map.emplace_back(name, shard.string());
  }
  check<CheckpointError>(!map.empty(), file, ": 'weight_map' is empty; fetch or write it again");
  return map;
}

bool is_index(const fs::path& path) {
  return path.string().ends_with(".index.json");
}

}  // namespace

SafetensorsSet::SafetensorsSet(const fs::path& path, const std::string& stem) : path_(path) {
  if (!fs::is_directory(path)) {
    if (is_index(path)) {
      open_index(path);
    } else {
      add_shard(path);
    }
    return;
  }
  const fs::path single = path / (stem + ".safetensors");
  const fs::path index = path / (stem + ".safetensors.index.json");
  // The single file wins, as in transformers.
  if (fs::exists(single)) {
    add_shard(single);
  } else {
    check<CheckpointError>(fs::exists(index), path.string(), ": expected ", stem, ".safetensors or ", stem,
                           ".safetensors.index.json, found neither");
    open_index(index);
  }
}

void SafetensorsSet::add_shard(const fs::path& path) {
  shards_.emplace_back(path);
  const SafetensorsFile& shard = shards_.back();
  for (std::size_t i = 0; i < shard.tensors().size(); ++i) {
    const TensorInfo& info = shard.tensors()[i];
    const auto [at, added] = index_.try_emplace(info.name, shards_.size() - 1, tensors_.size());
    check<CheckpointError>(added, path.string(), ": tensor ", info.name, " is also in ",
                           shards_[at->second.first].path().string());
    tensors_.push_back(info);
  }
}

void SafetensorsSet::open_index(const fs::path& index) {
  const auto map = parse_weight_map(index);
  std::set<std::string> files;
  for (const auto& [name, file] : map) files.insert(file);
  for (const std::string& file : files) add_shard(index.parent_path() / file);

  std::vector<std::string> missing;
  for (const auto& [name, file] : map) {
    const auto found = index_.find(name);
    if (found == index_.end() || shards_[found->second.first].path().filename() != file) {
      missing.push_back(concat(name, " in ", file));
    }
  }
  check<CheckpointError>(missing.empty(), index.string(),
                         ": tensors that the index names are missing: ", listed(missing));
  std::vector<std::string> extra;
  if (index_.size() != map.size()) {
    std::set<std::string> named;
    for (const auto& [name, file] : map) named.insert(name);
    for (const TensorInfo& info : tensors_) {
      if (!named.contains(info.name)) extra.push_back(info.name);
    }
  }
  check<CheckpointError>(extra.empty(), index.string(),
                         ": tensors that the index does not name are in its files: ", listed(extra));
}

const TensorInfo* SafetensorsSet::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &tensors_[found->second.second];
}

std::span<const std::byte> SafetensorsSet::bytes(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  check<CheckpointError>(found != index_.end(), path_.string(), ": has no tensor ", name);
  return shards_[found->second.first].bytes(name);
}

}  // namespace loongforge
