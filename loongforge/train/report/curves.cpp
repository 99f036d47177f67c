#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "loongforge/train/report/run_data.h"

namespace loongforge {
namespace {

// Numbers of one line by key; inner objects by "outer.inner".
void collect(const Json& value, const std::string& prefix, std::map<std::string, double>& row,
             std::vector<std::string>& order) {
  for (const auto& [name, inner] : value.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (inner.is_object()) collect(inner, key, row, order);
    if (!inner.is_number() || key == "step") continue;
    row[key] = inner.get<double>();
    order.push_back(key);
  }
}

// Seven digits: more than a curve can show, at half the size of the page.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::floor(value) == value && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return std::strtod(text, nullptr);
}

// The clock of a line ("time", seconds since 1970) is shown as seconds since the first line.
constexpr const char* kClock = "time";
constexpr const char* kElapsed = "elapsed_seconds";

struct Rows {
  std::map<std::int64_t, std::map<std::string, double>> by_step;
  std::vector<std::string> keys;  // in order of appearance
};

Rows collect_rows(const std::vector<Json>& lines) {
  Rows rows;
  std::map<std::string, bool> known;
  for (const Json& line : lines) {
    if (!line.contains("step") || !line["step"].is_number_integer()) continue;
    const auto step = line["step"].get<std::int64_t>();
    // A resumed run goes back: what an earlier start wrote beyond its checkpoint never became part of the
    // run.
    rows.by_step.erase(rows.by_step.lower_bound(step), rows.by_step.end());
    std::vector<std::string> order;
    collect(line, "", rows.by_step[step], order);
    for (const std::string& key : order) {
      if (!std::exchange(known[key], true)) rows.keys.push_back(key);
    }
  }
  return rows;
}

void use_elapsed_time(Rows& rows) {
  std::optional<double> first;
  for (auto& [step, row] : rows.by_step) {
    const auto clock = row.find(kClock);
    if (clock == row.end()) continue;
    if (!first) first = clock->second;
    row[kElapsed] = clock->second - *first;
    row.erase(clock);
  }
  std::replace(rows.keys.begin(), rows.keys.end(), std::string(kClock), std::string(kElapsed));
}

}  // namespace

std::vector<Json> whole_lines(const std::filesystem::path& file, std::int64_t* damaged) {
  std::vector<Json> lines;
  if (!fs::exists(file)) return lines;
  std::istringstream in(read_file<DataError>(file));
  for (std::string text; std::getline(in, text);) {
    const bool last_is_open = in.eof();
    if (text.empty()) continue;
    Json line = Json::parse(text, nullptr, false);
    if (line.is_object()) {
      lines.push_back(std::move(line));
    } else if (!last_is_open && damaged != nullptr) {
      ++*damaged;
    }
  }
  return lines;
}

Json read_curves(const std::filesystem::path& file, std::int64_t max_points) {
  std::int64_t damaged = 0;
  Rows rows = collect_rows(whole_lines(file, &damaged));
  use_elapsed_time(rows);
  const auto total = static_cast<std::int64_t>(rows.by_step.size());
  const std::int64_t stride = max_points > 0 ? (total + max_points - 1) / max_points : 1;
  Json steps = Json::array(), columns = Json::object();
  for (const std::string& key : rows.keys) columns[key] = Json::array();
  std::int64_t index = 0;
  for (const auto& [step, row] : rows.by_step) {
    const bool kept = stride <= 1 || index % stride == 0 || index + 1 == total;
    ++index;
    if (!kept) continue;
    steps.push_back(step);
    for (const std::string& key : rows.keys) {
      const auto found = row.find(key);
      columns[key].push_back(found == row.end() ? Json() : rounded(found->second));
    }
  }
  std::string note;
  if (stride > 1) note = concat("curves show one of ", stride, " steps");
  if (damaged > 0)
    note += concat(note.empty() ? "" : "; ", damaged, " damaged lines of ", file.filename().string(),
                   " left out");
  return {{"steps", steps}, {"columns", columns}, {"note", note}};
}

}  // namespace loongforge
