// A run as one HTML file that needs nothing else: curves, samples, answers, configuration, facts, warnings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace loongforge {

struct ReportOptions {
  std::string title;              // empty: made from the names of the runs
  std::filesystem::path summary;  // a JSON file whose figures stand on top; empty: the runs' own
  std::uint64_t seed = 0;         // draws the questions that are shown
  std::int64_t questions = 10;    // questions shown with the answers before and after
  // Points of one curve at most; longer ones are thinned evenly, and the page says so.
  std::int64_t max_points = 20000;
};

// The report over one or several run folders, whole UTF-8 HTML without any reference to the network. Reads
// what exists of metrics.jsonl, summary.json, config.yaml, config_origins.json, samples.jsonl, eval.jsonl,
// eval/match_before.json and eval/match_after.json (and the answers files that they name), log.txt,
// machine.json, checkpoints/. A last line that is only half written is left out.
// Throws DataError when a folder is missing or is no run (neither metrics.jsonl nor config.yaml in it).
std::string make_report(const std::vector<std::filesystem::path>& run_folders,
                        const ReportOptions& options = {});

// Makes the report and writes it in one atomic step.
void write_report(const std::vector<std::filesystem::path>& run_folders, const std::filesystem::path& file,
                  const ReportOptions& options = {});

}  // namespace loongforge
