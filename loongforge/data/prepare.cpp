#include "loongforge/data/prepare.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/base/parallel.h"
#include "loongforge/base/process.h"
#include "loongforge/base/progress.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/prepare/assemble.h"
#include "loongforge/data/prepare/part_file.h"
#include "loongforge/data/prepare/plan.h"
#include "loongforge/data/prepare/source_files.h"
#include "loongforge/data/prepare/tokenise_unit.h"
#include "loongforge/data/prepare/unit_reader.h"
#include "loongforge/formats/indexed_dataset.h"

namespace loongforge {
namespace {

void check_options(const PrepareOptions& options) {
  check<InternalError>(options.tokenizer != nullptr, "prepare: no tokenizer");
  const fs::path out = options.out;
  check<ConfigError>(!out.filename().empty() && out.extension() != ".bin" && out.extension() != ".idx",
                     "--out: expected a prefix such as data/books, got '", options.out, "'");
  check<ConfigError>(options.held_out_fraction >= 0 && options.held_out_fraction < 1,
                     "--held-out-fraction: expected 0 or more and below 1, got ", options.held_out_fraction);
  check<ConfigError>(options.min_tokens >= 0 && options.max_tokens >= 0,
                     "--min-tokens, --max-tokens: expected 0 or more");
  check<ConfigError>(options.max_tokens == 0 || options.max_tokens >= options.min_tokens,
                     "--max-tokens: expected at least --min-tokens (", options.min_tokens, "), got ",
                     options.max_tokens);
  check<ConfigError>(options.append_eos || options.eos_token.empty(),
                     "--eos-token: has no effect with --no-eos; leave one of them out");
}

bool same_sources(const Json& manifest, const SourceList& sources, const fs::path& path) {
  const Json now = plan_sources(sources);
  const Json& then = manifest.at("sources");
  if (then.size() != now.size()) return false;
  std::error_code error;
  const auto made = fs::last_write_time(path, error);
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (const auto& [key, value] : now[i].items()) {
      if (then[i].value(key, Json()) != value) return false;
    }
    if (fs::last_write_time(sources.files[i].path, error) > made) return false;
  }
  return true;
}

// Fills `result` from the manifest when PREFIX stands complete and was made from the same sources with the
// same options; throws when something else stands there.
bool found_done(const PrepareOptions& options, const SourceList& sources, PrepareResult& result) {
  std::error_code error;
  const bool stands = fs::exists(indexed_bin_path(options.out), error) ||
                      fs::exists(indexed_idx_path(options.out), error) ||
                      fs::exists(manifest_path(options.out), error);
  if (!stands) return false;
  const Json manifest = read_manifest(options.out);
  const Json settings = plan_settings(options);
  std::string differs;
  if (!manifest.is_object() || !manifest.contains("sources")) {
    // A call that was killed between its files has left its parts, from which they are written again.
    if (fs::exists(options.out + ".parts", error)) return false;
    differs = "it has no manifest";
  } else if (manifest.value("tokenizer", Json()) != settings.at("tokenizer")) {
    differs = "another tokenizer";
  } else if (manifest.value("options", Json()) != settings.at("options")) {
    differs = "other options";
  } else if (!same_sources(manifest, sources, manifest_path(options.out))) {
    differs = "other sources";
  }
  if (!differs.empty() && options.overwrite) return false;
  check<ConfigError>(differs.empty(), options.out, ": exists already and was made otherwise (", differs,
                     "); give another --out, or --overwrite to replace it");
  result.train = counts_from_json(manifest);
  result.train.prefix = options.out;
  if (manifest.contains("held_out_set")) {
    result.held_out = counts_from_json(manifest.at("held_out_set"));
    result.held_out->prefix = held_out_prefix(options.out);
  }
  return result.already_done = true;
}

// About four thousand parts for a large corpus, at least a few for a small one.
std::int64_t part_bytes_for(std::uint64_t total) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  return std::clamp(static_cast<std::int64_t>(total / 4096), kMiB, 64 * kMiB);
}

// Unfinished files of this prefix that a killed call has left.
void remove_leftovers(const fs::path& out) {
  const fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path(".");
  const std::string stem = out.filename().string();
  std::error_code ignored;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const char* end : {".bin.tmp-", ".idx.tmp-", ".json.tmp-"}) {
      if (name.starts_with(stem + end) || name.starts_with(held_out_prefix(stem) + end))
        stale.push_back(entry.path());
    }
  }
  for (const fs::path& path : stale) fs::remove(path, ignored);
}

// Parts of an earlier call stay only when they come from the same plan.
void open_parts(const fs::path& folder, const Json& plan) {
  const fs::path plan_path = folder / "plan.json";
  std::error_code error;
  if (fs::exists(folder, error)) {
    bool same = false;
    try {
      same = read_json(plan_path) == plan;
    } catch (const DataError&) {
    }
    if (same) return;
    log_info(folder.string(), ": parts of a call with other sources or options are thrown away");
    remove_tree(folder);
  }
  make_directories(folder);
  write_file_atomic(plan_path, dump_json(plan));
}

// Makes all parts that are not there yet, on several threads.
class PartMaker {
 public:
  PartMaker(const PrepareOptions& options, const SourceList& sources, const fs::path& folder)
      : options_(options),
        sources_(sources),
        folder_(folder),
        units_(sources, options),
        progress_("prepare", "MB", static_cast<double>(sources.total_bytes()) / 1e6) {}

  void run(PrepareResult& result) {
    const int threads = options_.threads > 0 ? options_.threads : cpu_count();
    parallel_for(
        threads, [this](std::int64_t) { work(); }, threads);
    result.parts = units_.given();
    result.parts_reused = reused_;
  }

 private:
  void work() {
    try {
      for (Unit unit; !stop_ && units_.next(unit);) one(unit);
    } catch (...) {
      stop_ = true;
      throw;
    }
  }

  void one(const Unit& unit) {
    throw_if_interrupted();
    const fs::path path = part_path(folder_, unit.number);
    const bool known = read_part(path).has_value();
    if (!known) write_part(path, tokenise_unit(unit, sources_, options_));
    const std::lock_guard lock(mutex_);
    reused_ += known ? 1 : 0;
    progress_.add(unit.progress_bytes / 1e6);
    if (!known && options_.on_part) options_.on_part(unit.number);
  }

  const PrepareOptions& options_;
  const SourceList& sources_;
  const fs::path& folder_;
  UnitReader units_;
  Progress progress_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
  std::int64_t reused_ = 0;
};

}  // namespace

PrepareResult prepare(const PrepareOptions& given) {
  const double start = monotonic_seconds();
  check_options(given);
  PrepareOptions options = given;
  end_of_document_id(options);
  const SourceList sources = find_sources(options);
  if (options.part_bytes <= 0) options.part_bytes = part_bytes_for(sources.total_bytes());
  PrepareResult result;
  result.files = static_cast<std::int64_t>(sources.files.size());
  result.ignored_files = sources.ignored;
  const fs::path folder = options.out + ".parts";
  remove_leftovers(options.out);
  if (!found_done(options, sources, result)) {
    const fs::path parent = fs::path(options.out).parent_path();
    if (!parent.empty()) make_directories(parent);
    open_parts(folder, plan_of_parts(options, sources));
    try {
      PartMaker(options, sources, folder).run(result);
      assemble(options, sources, folder, result.parts, result);
    } catch (const Interrupted&) {
      throw Interrupted(concat("interrupted; the same command goes on from ", folder.string()));
    } catch (const DataError&) {
      // The sources must be mended first, so the parts are of no use.
      remove_tree(folder);
      throw;
    }
  }
  // Also of a call that was killed when its dataset was done.
  remove_tree(folder);
  result.seconds = monotonic_seconds() - start;
  return result;
}

std::vector<std::string> read_glob_list(const fs::path& path) {
  const std::string text = read_file<DataError>(path);
  std::vector<std::string> globs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, std::min(end, text.find('#', begin)) - begin);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
      line.pop_back();
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) globs.push_back(line);
    begin = end + 1;
  }
  check<DataError>(!globs.empty(), path.string(), ": expected one glob a line, got none");
  return globs;
}

Json PrepareResult::to_json() const {
  Json out = {{"files", files},
              {"parts", parts},
              {"parts_reused", parts_reused},
              {"already_done", already_done},
              {"seconds", seconds},
              {"ignored_files", Json::object()}};
  for (const auto& [extension, count] : ignored_files) out["ignored_files"][extension] = count;
  out["train"] = counts_to_json(train);
  out["train"]["prefix"] = train.prefix;
  if (held_out) {
    out["held_out"] = counts_to_json(*held_out);
    out["held_out"]["prefix"] = held_out->prefix;
  }
  return out;
}

}  // namespace loongforge
