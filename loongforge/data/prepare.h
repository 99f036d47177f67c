// Turns files of text into a tokenised dataset: PREFIX.bin, PREFIX.idx (Megatron) and PREFIX.json (manifest).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

class Tokenizer;

// What to do with a document that is not UTF-8.
enum class InvalidUtf8 { kSkip, kReplace };

struct PrepareOptions {
  std::vector<std::string> inputs;  // files and directories, in the order of the result
  const Tokenizer* tokenizer = nullptr;
  std::string out;  // PREFIX; its folder is made

  std::string format = "auto";      // auto (by extension) | text | markdown | html | jsonl
  std::string text_field = "text";  // field of a jsonl record that holds the text
  // Globs over the path below an input directory or over the file's name ('*' matches '/' too).
  std::vector<std::string> include;  // empty: every known extension
  std::vector<std::string> exclude;
  std::vector<std::string> held_out;  // these files go to PREFIX-heldout instead
  double held_out_fraction = 0;       // and this share of the other documents, chosen by their name

  bool append_eos = true;       // end-of-document token behind each document
  std::string eos_token;        // its name; empty: the tokenizer's end-of-sequence token
  bool special_tokens = false;  // true: names of special tokens inside the text become those tokens
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kSkip;
  std::int64_t min_tokens = 0;  // shorter documents are dropped and counted
  std::int64_t max_tokens = 0;  // longer documents are cut and counted; 0: no limit

  int threads = 0;         // 0: all CPUs; never changes the result
  bool overwrite = false;  // replace an existing dataset that was made otherwise
  // Text a part, the unit of parallel work and of resuming; 0: 1 to 64 MiB, by the size of the sources. It
  // never changes the result.
  std::int64_t part_bytes = 0;
  std::function<void(std::int64_t part)> on_part;  // called after each part is on disk (for tests)
};

// Counts of one written dataset.
struct PreparedSet {
  std::string prefix;
  std::int64_t documents = 0;
  std::int64_t tokens = 0;  // end-of-document tokens included
  std::int64_t text_bytes = 0;
  std::map<std::string, std::int64_t>
      dropped;                // documents by reason: "empty", "invalid_utf8", "binary", "too_short"
  std::int64_t replaced = 0;  // documents with bytes replaced by U+FFFD
  std::int64_t cut = 0;       // documents shortened to max_tokens
  std::int64_t cut_tokens = 0;
};

struct PrepareResult {
  PreparedSet train;
  std::optional<PreparedSet> held_out;
  std::int64_t files = 0;
  std::map<std::string, std::int64_t> ignored_files;  // files of a directory that were not read, by extension
  std::int64_t parts = 0;
  std::int64_t parts_reused = 0;  // found from an interrupted call
  bool already_done = false;      // the dataset existed and fits the options and sources
  double seconds = 0;

  Json to_json() const;
};

// Writes the dataset(s). The result is the same bytes whatever the number of threads and interruptions. A
// killed or interrupted call leaves PREFIX.parts/, from which the same call goes on. Throws ConfigError for
// options that exclude each other, DataError for sources that are missing, empty or garbled, ResourceError
// for an output that cannot be written, Interrupted after Ctrl-C.
PrepareResult prepare(const PrepareOptions& options);

// Lines of a --held-out file: one glob a line, blank lines and lines from '#' ignored. Throws DataError.
std::vector<std::string> read_glob_list(const fs::path& path);

}  // namespace loongforge
