#include "loongforge/formats/webdataset.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_set>

#include "loongforge/formats/printable.h"

namespace loongforge {
namespace {

struct PartName {
  std::string_view key, extension;
};

// "__x__" as a whole or as first folder.
bool is_meta(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

std::optional<PartName> split_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == name.npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (is_meta(name) || dot == name.npos || dot == base) return std::nullopt;
  return PartName{name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

const SamplePart* WebdatasetSample::find(std::string_view extension) const {
  const auto found = std::ranges::find(parts, extension, &SamplePart::extension);
  return found == parts.end() ? nullptr : &*found;
}

WebdatasetShard::WebdatasetShard(const fs::path& path) : tar_(path) {
  if (fs::exists(index_path())) {
    read_index();
  } else {
    walk();
  }
}

void WebdatasetShard::read_index() {
  const std::string bytes = read_file(index_path());
  offsets_.resize(bytes.size() / sizeof(std::uint64_t));
  bytes.copy(reinterpret_cast<char*>(offsets_.data()), offsets_.size() * sizeof(std::uint64_t));
  const bool ascends = std::ranges::adjacent_find(offsets_, std::greater_equal<>()) == offsets_.end();
  check<DataError>(bytes.size() % sizeof(std::uint64_t) == 0 && !offsets_.empty() && ascends &&
                       tar_.ends_at(offsets_.back()),
                   index_path().string(), ": does not fit ", path().string(),
                   "; remove it to have the archive read anew");
  indexed_ = true;
}

void WebdatasetShard::walk() {
  std::unordered_set<std::string> keys;
  std::string key;
  std::uint64_t end = 0;
  for (auto member = tar_.member_at(0); member; member = tar_.member_at(member->end)) {
    end = member->end;
    const auto name = split_name(member->name);
    if (!name || (!offsets_.empty() && name->key == key)) continue;
    key = name->key;
    check<DataError>(keys.insert(key).second, path().string(), ": sample '", printable(key),
                     "' comes again at ", member->begin,
                     ", expected its parts side by side; sort the archive by name");
    offsets_.push_back(member->begin);
  }
  while (!tar_.ends_at(end)) end += 512;  // folders behind the last sample
  offsets_.push_back(end);
}

WebdatasetSample WebdatasetShard::sample(std::int64_t i) const {
  check(i >= 0 && i < size(), path().string(), ": sample ", i, " of ", size(), " asked for");
  const std::uint64_t begin = offsets_[static_cast<std::size_t>(i)],
                      end = offsets_[static_cast<std::size_t>(i) + 1];
  WebdatasetSample sample;
  for (auto member = tar_.member_at(begin); member && member->begin < end;
       member = tar_.member_at(member->end)) {
    const auto name = split_name(member->name);
    if (!name) continue;
    if (sample.parts.empty()) sample.key = name->key;
    check<DataError>(name->key == sample.key, path().string(), ": sample '", printable(sample.key), "' at ",
                     begin, " holds a part of '", printable(name->key), "'; remove ", index_path().string());
    check<DataError>(sample.find(name->extension) == nullptr, path().string(), ": two members '",
                     printable(member->name), "'; write the archive without one of them");
    sample.parts.push_back({std::string(name->extension), member->offset, member->size});
  }
  check<DataError>(!sample.parts.empty(), path().string(), ": no sample at ", begin, "; remove ",
                   index_path().string());
  return sample;
}

void WebdatasetShard::write_index() const {
  AtomicFile file(index_path());
  file.write(std::as_bytes(std::span(offsets_)));
  file.commit();
}

}  // namespace loongforge
