#include "loongforge/data/prepare/part_file.h"

#include <cstdio>
#include <cstring>
#include <span>
#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/json.h"

namespace loongforge {
namespace {

// The first line of the file is JSON; the arrays follow as little-endian int32.
constexpr const char* kKind = "loongforge part 1";

bool take(std::string_view& rest, std::vector<std::int32_t>& out, std::int64_t count) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * sizeof(std::int32_t);
  if (count < 0 || bytes > rest.size()) return false;
  out.resize(static_cast<std::size_t>(count));
  if (bytes > 0) std::memcpy(out.data(), rest.data(), bytes);
  rest.remove_prefix(bytes);
  return true;
}

bool parse(const std::string& text, Part& part) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return false;
  const Json head = parse_json<DataError>(std::string_view(text).substr(0, line), "part");
  if (head.value("kind", "") != kKind) return false;
  std::string_view rest = std::string_view(text).substr(line + 1);
  for (std::size_t s = 0; s < 2; ++s) {
    PartSide& side = part.sides[s];
    side.counts = counts_from_json(head.at("sides").at(s));
    if (!take(rest, side.lengths, side.counts.documents) || !take(rest, side.tokens, side.counts.tokens)) {
      return false;
    }
  }
  for (const Json& entry : head.at("sources")) {
    part.sources[entry.at(0).get<std::size_t>()] = {entry.at(1).get<std::int64_t>(),
                                                    entry.at(2).get<std::int64_t>()};
  }
  return rest.empty();
}

}  // namespace

void add_counts(PreparedSet& sum, const PreparedSet& more) {
  sum.documents += more.documents;
  sum.tokens += more.tokens;
  sum.text_bytes += more.text_bytes;
  for (const auto& [reason, count] : more.dropped) sum.dropped[reason] += count;
  sum.replaced += more.replaced;
  sum.cut += more.cut;
  sum.cut_tokens += more.cut_tokens;
}

Json counts_to_json(const PreparedSet& counts) {
  Json dropped = Json::object();
  for (const auto& [reason, count] : counts.dropped) dropped[reason] = count;
  return {{"documents", counts.documents},   {"tokens", counts.tokens},
          {"text_bytes", counts.text_bytes}, {"dropped", dropped},
          {"replaced", counts.replaced},     {"cut", counts.cut},
          {"cut_tokens", counts.cut_tokens}};
}

PreparedSet counts_from_json(const Json& json) {
  PreparedSet counts;
  counts.documents = json.at("documents").get<std::int64_t>();
  counts.tokens = json.at("tokens").get<std::int64_t>();
  counts.text_bytes = json.at("text_bytes").get<std::int64_t>();
  for (const auto& [reason, count] : json.at("dropped").items()) {
    counts.dropped[reason] = count.get<std::int64_t>();
  }
  counts.replaced = json.at("replaced").get<std::int64_t>();
  counts.cut = json.at("cut").get<std::int64_t>();
  counts.cut_tokens = json.at("cut_tokens").get<std::int64_t>();
  return counts;
}

fs::path part_path(const fs::path& folder, std::int64_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "%08lld.part", static_cast<long long>(number));
  return folder / name;
}

void write_part(const fs::path& path, const Part& part) {
  Json head = {{"kind", kKind}, {"sides", Json::array()}, {"sources", Json::array()}};
  for (const PartSide& side : part.sides) head["sides"].push_back(counts_to_json(side.counts));
  for (const auto& [source, counts] : part.sources) {
    head["sources"].push_back(Json::array({source, counts.documents, counts.tokens}));
  }
  AtomicFile file(path);
  file.write(dump_json(head) + "\n");
  for (const PartSide& side : part.sides) {
    file.write(std::as_bytes(std::span(side.lengths)));
    file.write(std::as_bytes(std::span(side.tokens)));
  }
  file.commit();
}

std::optional<Part> read_part(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  Part part;
  try {
    if (parse(read_file(path), part)) return part;
  } catch (const DataError&) {
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

}  // namespace loongforge
