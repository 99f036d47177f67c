#include <algorithm>
#include <cctype>
#include <cstdio>

#include "loongforge/base/json.h"
#include "loongforge/formats/safetensors_writer.h"

namespace loongforge {
namespace {

std::string shard_name(const std::string& stem, std::size_t number, std::size_t count) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "-%05zu-of-%05zu", number, count);
  return stem + digits + ".safetensors";
}

// STEM-00001-of-00003.safetensors
bool is_shard_of(const std::string& stem, const std::string& file) {
  const std::string pattern = "-ddddd-of-ddddd.safetensors";
  if (file.size() != stem.size() + pattern.size() || !file.starts_with(stem)) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = file[stem.size() + i];
    // 'd' stands for a digit, except in "safetensors", which has none.
    if (pattern[i] == 'd' ? std::isdigit(static_cast<unsigned char>(c)) == 0 : c != pattern[i]) return false;
  }
  return true;
}

// Deals the tensors out in order; a shard closes when the next tensor would pass the limit.
std::vector<std::vector<TensorInfo>> deal(std::vector<TensorInfo> infos, std::uint64_t max_shard_bytes) {
  std::vector<std::vector<TensorInfo>> shards(1);
  std::uint64_t filled = 0;
  for (TensorInfo& info : infos) {
    const auto size = static_cast<std::uint64_t>(info.nbytes());
    if (!shards.back().empty() && filled + size > max_shard_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    filled += size;
    shards.back().push_back(std::move(info));
  }
  return shards;
}

}  // namespace

ShardedSafetensorsWriter::ShardedSafetensorsWriter(const fs::path& dir, const std::string& stem,
                                                   std::uint64_t max_shard_bytes,
                                                   std::vector<TensorInfo> infos,
                                                   std::map<std::string, std::string> metadata)
    : dir_(dir), stem_(stem) {
  std::vector<std::vector<TensorInfo>> shards = deal(std::move(infos), max_shard_bytes);
  for (const auto& shard : shards) {
    for (const TensorInfo& info : shard) total_size_ += static_cast<std::uint64_t>(info.nbytes());
  }
  require_disk_space(dir, total_size_);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const TensorInfo& info : shards[i]) {
      check(home_.try_emplace(info.name, i).second, dir.string(), ": tensor ", info.name,
            " is declared twice");
      names_.push_back(info.name);
    }
    const std::string file =
        shards.size() == 1 ? stem + ".safetensors" : shard_name(stem, i + 1, shards.size());
    shards_.push_back(std::make_unique<SafetensorsWriter>(dir / file, std::move(shards[i]), metadata));
  }
}

void ShardedSafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = home_.find(std::string(name));
  check(found != home_.end(), dir_.string(), ": tensor ", name, " was not declared");
  shards_[found->second]->write(name, bytes);
}

std::string ShardedSafetensorsWriter::index_text() const {
  std::string text =
      concat("{\n  \"metadata\": {\n    \"total_size\": ", total_size_, "\n  },\n  \"weight_map\": {\n");
  std::vector<std::string> names = names_;
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string file = shards_[home_.at(names[i])]->path().filename().string();
    text += concat("    ", dump_json(Json(names[i])), ": ", dump_json(Json(file)),
                   i + 1 < names.size() ? ",\n" : "\n");
  }
  return text + "  }\n}\n";
}

void ShardedSafetensorsWriter::remove_stale() const {
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(dir_)) {
    const std::string file = entry.path().filename().string();
    const bool ours = std::any_of(shards_.begin(), shards_.end(),
                                  [&](const auto& shard) { return shard->path().filename() == file; });
    if (ours) continue;
    const bool old_index = file == stem_ + ".safetensors.index.json" && shards_.size() == 1;
    if (old_index || file == stem_ + ".safetensors" || is_shard_of(stem_, file))
      stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) remove_tree(path);
}

void ShardedSafetensorsWriter::commit() {
  for (const auto& shard : shards_) shard->check_complete();
  for (const auto& shard : shards_) shard->commit();
  if (shards_.size() > 1) write_file_atomic(dir_ / (stem_ + ".safetensors.index.json"), index_text());
  // An older single file would win over the new index, an older index would name shards that are gone.
  remove_stale();
  sync_directory(dir_);
}

}  // namespace loongforge
