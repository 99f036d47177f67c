#include "loongforge/data/prepare/source_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"

namespace loongforge {
namespace {

const std::map<std::string, TextFormat> kExtensions = {
    {".txt", TextFormat::kText},    {".text", TextFormat::kText},         {".rst", TextFormat::kText},
    {".md", TextFormat::kMarkdown}, {".markdown", TextFormat::kMarkdown}, {".html", TextFormat::kHtml},
    {".htm", TextFormat::kHtml},    {".xhtml", TextFormat::kHtml},        {".jsonl", TextFormat::kJsonl},
    {".ndjson", TextFormat::kJsonl}};

const std::map<std::string, TextFormat> kFormats = {{"text", TextFormat::kText},
                                                    {"markdown", TextFormat::kMarkdown},
                                                    {"html", TextFormat::kHtml},
                                                    {"jsonl", TextFormat::kJsonl}};

// Extension in lower case, that of a compressed file without its last one.
std::string extension_of(const fs::path& path) {
  fs::path name = path.filename();
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  std::string extension = lower(name.extension().string());
  if (extension == ".gz" || extension == ".zst") extension = lower(name.stem().extension().string());
  return extension;
}

std::optional<TextFormat> known_format(const fs::path& path) {
  const auto found = kExtensions.find(extension_of(path));
  if (found == kExtensions.end()) return std::nullopt;
  return found->second;
}

class Finder {
 public:
  explicit Finder(const PrepareOptions& options) : options_(options) {
    if (options.format == "auto") return;
    const auto found = kFormats.find(options.format);
    check<ConfigError>(found != kFormats.end(),
                       "--format: expected auto, text, markdown, html or jsonl, got '", options.format, "'");
    forced_ = found->second;
  }

  SourceList run() {
    check<ConfigError>(!options_.inputs.empty(), "prepare: expected files or directories to read, got none");
    for (const std::string& input : options_.inputs) {
      std::error_code error;
      const fs::file_status status = fs::status(input, error);
      check<DataError>(fs::exists(status), input, ": no such file or directory");
      if (fs::is_directory(status)) {
        directory(input);
      } else {
        file(input);
      }
    }
    check<DataError>(!list_.files.empty(), options_.inputs.front(),
                     ": every file is left out by --include and --exclude");
    return std::move(list_);
  }

 private:
  bool wanted(const std::string& name) const {
    if (!options_.include.empty() && !matches_any(options_.include, name)) return false;
    return !matches_any(options_.exclude, name);
  }

  void file(const fs::path& path) {
    const std::string reason = why_unreadable(path);
    check<DataError>(reason.empty(), path.string(), ": ", reason);
    check<DataError>(forced_ || extension_of(path) != ".json", path.string(),
                     ": expected text, markdown, html or jsonl, got .json; write one JSON object a line "
                     "(.jsonl), or give --format");
    if (wanted(path.filename().string())) {
      add(path, path.filename().string(),
          forced_ ? *forced_ : known_format(path).value_or(TextFormat::kText));
    }
  }

  void directory(const fs::path& root) {
    std::vector<fs::path> paths;
    std::error_code error;
    fs::recursive_directory_iterator walk(root, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
      throw_if_interrupted();
      std::error_code ignored;
      if (fs::is_regular_file(walk->status(ignored))) paths.push_back(walk->path());
    }
    check<DataError>(!error, root.string(), ": cannot be listed: ", error.message());
    std::sort(paths.begin(), paths.end(),
              [](const fs::path& a, const fs::path& b) { return a.generic_string() < b.generic_string(); });
    const std::size_t before = list_.files.size();
    std::map<std::string, std::int64_t> other;
    for (const fs::path& path : paths) entry(root, path, other);
    std::string seen;
    for (const auto& [extension, count] : other)
      seen += concat(seen.empty() ? "" : ", ", count, " ", extension);
    check<DataError>(list_.files.size() > before, root.string(),
                     ": expected .txt, .md, .rst, .html or .jsonl files (also .gz, .zst), found ",
                     seen.empty() ? "none that the globs let through" : seen,
                     "; --include or --format reads other files as text");
  }

  void entry(const fs::path& root, const fs::path& path, std::map<std::string, std::int64_t>& other) {
    const std::string name = path.lexically_relative(root).generic_string();
    const std::optional<TextFormat> known = known_format(path);
    // Files that a glob names are read even where their extension says nothing.
    if (!known && !forced_ && options_.include.empty()) {
      const std::string extension = extension_of(path);
      ++other[extension.empty() ? "without extension" : extension];
      ++list_.ignored[extension.empty() ? "without extension" : extension];
      return;
    }
    if (!wanted(name)) return;
    const std::string reason = why_unreadable(path);
    check<DataError>(reason.empty(), path.string(), ": ", reason);
    add(path, name, forced_ ? *forced_ : known.value_or(TextFormat::kText));
  }

  void add(const fs::path& path, const std::string& name, TextFormat format) {
    std::error_code error;
    SourceFile source{path, name, format};
    source.bytes = fs::file_size(path, error);
    check<DataError>(!error, path.string(), ": ", error.message());
    const auto modified = fs::last_write_time(path, error);
    source.modified_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(modified.time_since_epoch()).count();
    source.held_out = matches_any(options_.held_out, name);
    list_.files.push_back(std::move(source));
  }

  const PrepareOptions& options_;
  std::optional<TextFormat> forced_;
  SourceList list_;
};

}  // namespace

std::string text_format_name(TextFormat format) {
  for (const auto& [name, value] : kFormats) {
    if (value == format) return name;
  }
  return "text";
}

std::uint64_t SourceList::total_bytes() const {
  std::uint64_t sum = 0;
  for (const SourceFile& file : files) sum += file.bytes;
  return sum;
}

bool matches_any(const std::vector<std::string>& globs, const std::string& name) {
  const std::string last = fs::path(name).filename().string();
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), name.c_str(), 0) == 0 || fnmatch(glob.c_str(), last.c_str(), 0) == 0;
  });
}

SourceList find_sources(const PrepareOptions& options) {
  return Finder(options).run();
}

}  // namespace loongforge
