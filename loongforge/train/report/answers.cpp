#include <algorithm>
#include <map>

#include "loongforge/base/random.h"
#include "loongforge/train/report/run_data.h"

namespace loongforge {
namespace {

using Answers = std::map<std::int64_t, Json>;

bool is_answer(const Json& line) {
  const auto text = [&](const char* key) { return line.contains(key) && line[key].is_string(); };
  return line.contains("index") && line["index"].is_number_integer() && line.contains("right") &&
         line["right"].is_boolean() && text("question") && text("answer") && text("expected") && text("task");
}

// Result file of one moment, or null; its answers go to `answers`.
Json read_moment(const fs::path& folder, const std::string& moment, Answers& answers) {
  const fs::path file = folder / "eval" / ("match_" + moment + ".json");
  if (!fs::exists(file)) return nullptr;
  Json result = read_json<DataError>(file);
  check<DataError>(result.is_object() && result.contains("tasks") && result["tasks"].is_object(),
                   file.string(), ": expected the result of 'eval match' with \"tasks\"; evaluate again");
  if (result.contains("answers") && result["answers"].is_string()) {
    // Only the name counts, so that a result cannot point out of the run folder.
    const fs::path name = fs::path(result["answers"].get<std::string>()).filename();
    for (const Json& line : whole_lines(file.parent_path() / name)) {
      if (is_answer(line)) answers.emplace(line["index"].get<std::int64_t>(), line);
    }
  }
  return result;
}

Json answer_of(const Answers& answers, std::int64_t index) {
  const auto found = answers.find(index);
  if (found == answers.end()) return nullptr;
  return {{"answer", found->second["answer"]}, {"right", found->second["right"]}};
}

// Indices of `count` questions, in turn from each task, each task in an order drawn by seed.
std::vector<std::int64_t> draw(const Answers& answers, std::uint64_t seed, std::int64_t count) {
  std::map<std::string, std::vector<std::int64_t>> tasks;
  for (const auto& [index, line] : answers) tasks[line["task"].get<std::string>()].push_back(index);
  std::vector<std::int64_t> drawn;
  for (std::uint64_t turn = 0; static_cast<std::int64_t>(drawn.size()) < count; ++turn) {
    const std::size_t before = drawn.size();
    for (const auto& [task, indices] : tasks) {
      if (turn >= indices.size() || static_cast<std::int64_t>(drawn.size()) >= count) continue;
      drawn.push_back(
          indices[permute_index(turn, indices.size(), seed, "report questions", hash_bytes(task))]);
    }
    if (drawn.size() == before) break;
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

Json read_match(const std::filesystem::path& folder, std::uint64_t seed, std::int64_t count) {
  Answers before, after;
  const Json result_before = read_moment(folder, "before", before);
  const Json result_after = read_moment(folder, "after", after);
  if (result_before.is_null() && result_after.is_null()) return nullptr;
  const Answers& asked = after.empty() ? before : after;
  Json questions = Json::array();
  for (const std::int64_t index : draw(asked, seed, count)) {
    const Json& line = asked.at(index);
    questions.push_back({{"task", line["task"]},
                         {"question", line["question"]},
                         {"expected", line["expected"]},
                         {"before", answer_of(before, index)},
                         {"after", answer_of(after, index)}});
  }
  return {{"before", result_before}, {"after", result_after}, {"questions", questions}};
}

}  // namespace loongforge
