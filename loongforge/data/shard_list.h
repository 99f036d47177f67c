// Which WebDataset shards an entry of data.train means.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "loongforge/base/files.h"

namespace loongforge {

// Texts of a shell pattern: "x-{008..010}.tar" gives three, "{a,b}.tar" two; others stand for themselves.
std::vector<std::string> expand_braces(const std::string& pattern);

struct ShardList {
  std::vector<fs::path> shards;    // none: the entry is no WebDataset
  fs::path folder;                 // that `excluded` begins at
  std::set<std::string> excluded;  // samples "SHARD/INDEX" that are left out

  bool keeps(const fs::path& shard, std::int64_t sample) const;
};

// Of X.tar, a pattern of such, or a folder: its shards by name, or those of the split of .nv-meta/split.yaml
// (Megatron-Energon), where FOLDER:val names another split than train. Throws DataError for a garbled
// split.yaml and a split that it lacks; the shards are not opened.
ShardList find_shards(const std::string& entry);

}  // namespace loongforge
