#include "loongforge/train/report.h"

#include <string_view>
#include <utility>

#include "loongforge/base/process.h"
#include "loongforge/train/report/run_data.h"

namespace loongforge {

// Files of loongforge/train/report/, put into the program by CMake.
namespace report_assets {
extern const std::string_view page_html, page_css, charts_js, page_js;
}

namespace {

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// JSON that cannot end the script element that holds it.
std::string escape_for_script(const std::string& json) {
  std::string out;
  for (char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

// The page with each "<!--name-->" replaced. One pass: what is put in is never looked at again.
std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string out;
  for (auto mark = page.find("<!--"); mark != std::string_view::npos; mark = page.find("<!--")) {
    out += page.substr(0, mark);
    const auto end = page.find("-->", mark);
    const std::string_view name = page.substr(mark + 4, end - mark - 4);
    for (const auto& [key, text] : parts) {
      if (key == name) out += text;
    }
    page.remove_prefix(end + 3);
  }
  return out.append(page);
}

// Names that tell the runs apart: two runs "sft" of different folders get their parent's name too.
void separate_names(std::vector<Json>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (runs[i]["name"] != runs[j]["name"]) continue;
      runs[i]["name"] = runs[i]["path"];
      runs[j]["name"] = runs[j]["path"];
    }
  }
}

std::string joined_names(const std::vector<Json>& runs) {
  std::string names;
  for (const Json& run : runs) names += (names.empty() ? "" : ", ") + run["name"].get<std::string>();
  return names;
}

}  // namespace

std::string make_report(const std::vector<std::filesystem::path>& run_folders, const ReportOptions& options) {
  check<ConfigError>(!run_folders.empty(), "report: expected at least one run folder, got none");
  std::vector<Json> runs;
  for (const fs::path& folder : run_folders) runs.push_back(run_data(folder, options));
  separate_names(runs);
  Json data = {{"seed", options.seed}, {"runs", runs}, {"summary", nullptr}};
  if (!options.summary.empty()) {
    data["summary"] = read_json<DataError>(options.summary);
    check<DataError>(data["summary"].is_object(), options.summary.string(), ": expected a JSON object, got ",
                     data["summary"].type_name());
  }
  const std::string title =
      options.title.empty() ? concat("LoongForge: ", joined_names(runs)) : options.title;
  // Names of folders may hold any bytes: dump_json makes them UTF-8 as it does with the data.
  const auto text = [](const std::string& raw) {
    return escape_html(Json::parse(dump_json(Json(raw))).get<std::string>());
  };
  return fill(report_assets::page_html, {{"title", text(title)},
                                         {"subtitle", text(concat("made ", utc_timestamp()))},
                                         {"footer", "LoongForge " LOONGFORGE_VERSION},
                                         {"style", std::string(report_assets::page_css)},
                                         {"data", escape_for_script(dump_json(data))},
                                         {"charts", std::string(report_assets::charts_js)},
                                         {"page", std::string(report_assets::page_js)}});
}

void write_report(const std::vector<std::filesystem::path>& run_folders, const std::filesystem::path& file,
                  const ReportOptions& options) {
  write_file_atomic(file, make_report(run_folders, options));
}

}  // namespace loongforge
