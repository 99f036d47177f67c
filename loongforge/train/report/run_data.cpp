#include "loongforge/train/report/run_data.h"

#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include "loongforge/base/base64.h"
#include "loongforge/base/config/fields.h"
#include "loongforge/base/config/load.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/train/config.h"

namespace loongforge {
namespace {

void check_is_run(const fs::path& folder) {
  check<DataError>(fs::is_directory(folder), folder.string(), ": expected a run folder, got ",
                   fs::exists(folder) ? "a file" : "nothing", "; give a folder that 'loongforge train' made");
  check<DataError>(
      fs::exists(folder / "metrics.jsonl") || fs::exists(folder / "config.yaml"), folder.string(),
      ": expected a run folder, got one without metrics.jsonl and config.yaml; give a folder that "
      "'loongforge train' made");
}

Json read_if_there(const fs::path& file) {
  return fs::exists(file) ? read_json<DataError>(file) : Json();
}

std::uint64_t tree_bytes(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;  // a checkpoint may be removed while it is counted
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code no_file;
    const auto size = it->is_regular_file(no_file) ? it->file_size(no_file) : 0;
    if (!no_file) bytes += size;
  }
  return bytes;
}

Json checkpoints_of(const fs::path& folder) {
  Json list = Json::array();
  for (const CheckpointRef& checkpoint : RunFolder(folder).complete()) {
    list.push_back({{"step", checkpoint.step},
                    {"path", checkpoint.path.lexically_relative(folder).string()},
                    {"bytes", tree_bytes(checkpoint.path)}});
  }
  return list;
}

// Warnings and errors of log.txt, the same message once; lines read "TIME warning: text".
Json warnings_of(const fs::path& folder) {
  Json list = Json::array();
  if (!fs::exists(folder / "log.txt")) return list;
  std::map<std::string, bool> seen;
  std::istringstream in(read_file<DataError>(folder / "log.txt"));
  for (std::string line; std::getline(in, line) && list.size() < 200;) {
    const auto blank = line.find(' ');
    const std::string message = blank == std::string::npos ? line : line.substr(blank + 1);
    if (!message.starts_with("warning: ") && !message.starts_with("error: ")) continue;
    if (!std::exchange(seen[message], true)) list.push_back(line);
  }
  return list;
}

// machine.json, else the machine of the summary.
Json machine_of(const fs::path& folder, const Json& summary) {
  Json machine = read_if_there(folder / "machine.json");
  if (machine.is_null() && summary.is_object() && summary.contains("machine")) machine = summary["machine"];
  return machine.is_object() ? machine : Json::object();
}

// "pretrain", or "a/pretrain" would be "pretrain" too: the last part of the path that is a name.
std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return whole.filename().empty() ? whole.string() : whole.filename().string();
}

}  // namespace

// The picture's file as a data: address, so that the page needs no other file; empty where it is gone.
std::string embedded_picture(const fs::path& file) {
  if (!fs::is_regular_file(file)) return "";
  const std::string bytes = read_file<DataError>(file);
  const char* kind = bytes.starts_with("\x89PNG") ? "png" : bytes.starts_with("RIFF") ? "webp" : "jpeg";
  return concat("data:image/", kind, ";base64,", encode_base64(bytes));
}

Json read_samples(const std::filesystem::path& folder) {
  Json samples = Json::array();
  std::map<std::string, std::size_t> places;
  for (const Json& line : whole_lines(folder / "samples.jsonl")) {
    const bool good = line.contains("step") && line["step"].is_number_integer() && line.contains("prompt") &&
                      line["prompt"].is_string() && line.contains("text") && line["text"].is_string();
    if (!good) continue;
    const auto prompt = line["prompt"].get<std::string>();
    const std::string picture = line.value("picture", "");
    const auto [place, is_new] = places.emplace(prompt + "\n" + picture, samples.size());
    if (is_new) {
      samples.push_back({{"prompt", prompt}, {"states", Json::array()}});
      if (!picture.empty()) samples.back()["picture"] = embedded_picture(picture);
      if (line.contains("expected")) samples.back()["expected"] = line["expected"];
    }
    samples[place->second]["states"].push_back({{"step", line["step"]}, {"text", line["text"]}});
  }
  return samples;
}

Json read_configuration(const std::filesystem::path& folder) {
  Json out = {{"entries", Json::array()}, {"text", ""}};
  const fs::path file = folder / "config.yaml";
  if (!fs::exists(file)) return out;
  out["text"] = read_file<DataError>(file);
  const Json origins = read_if_there(folder / "config_origins.json");
  RunConfig config;
  Fields fields;
  config.fields(fields);
  try {
    load_config(fields, file, {});
  } catch (const Error&) {
    return out;  // made by another version: the text is shown
  }
  for (const Field& field : fields.all()) {
    const std::string value = field.value_text();
    std::string origin = field.origin;
    if (origins.is_object() && origins.contains(field.path) && origins[field.path].is_string()) {
      origin = origins[field.path].get<std::string>();
    }
    out["entries"].push_back({{"key", field.path},
                              {"value", value},
                              {"origin", origin},
                              {"changed", value != field.default_text}});
  }
  return out;
}

Json run_data(const std::filesystem::path& folder, const ReportOptions& options) {
  check_is_run(folder);
  const Json summary = read_if_there(folder / "summary.json");
  return {{"name", name_of(folder)},
          {"path", folder.string()},
          {"curves", read_curves(folder / "metrics.jsonl", options.max_points)},
          {"eval", read_curves(folder / "eval.jsonl", options.max_points)},
          {"summary", summary},
          {"config", read_configuration(folder)},
          {"samples", read_samples(folder)},
          {"match", read_match(folder, options.seed, options.questions)},
          {"checkpoints", checkpoints_of(folder)},
          {"warnings", warnings_of(folder)},
          {"machine", machine_of(folder, summary)}};
}

}  // namespace loongforge
