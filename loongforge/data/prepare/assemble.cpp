#include "loongforge/data/prepare/assemble.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/prepare/part_file.h"
#include "loongforge/data/prepare/plan.h"
#include "loongforge/data/prepare/tokenise_unit.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

std::string dropped_text(const PreparedSet& set) {
  std::string text;
  for (const auto& [reason, count] : set.dropped)
    text += concat(text.empty() ? "" : ", ", count, " ", reason);
  return text.empty() ? "none dropped" : "dropped: " + text;
}

// One side of the result while its parts come in.
struct Side {
  PreparedSet counts;
  std::uint64_t content_hash = 0;
  std::unique_ptr<IndexedDatasetWriter> writer;

  void add(const PartSide& part) {
    add_counts(counts, part.counts);
    std::size_t begin = 0;
    for (const std::int32_t length : part.lengths) {
      const auto ids = std::span(part.tokens).subspan(begin, static_cast<std::size_t>(length));
      content_hash =
          mix_hash(content_hash, hash_bytes({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()}));
      writer->add(ids);
      writer->end_document();
      begin += static_cast<std::size_t>(length);
    }
  }
};

Json manifest_of(const PrepareOptions& options, const Side& side) {
  Json manifest = {{"kind", "loongforge prepared text"}, {"version", 1}};
  manifest.update(plan_settings(options));
  const auto eos = end_of_document_id(options);
  manifest["end_of_document_id"] = eos ? Json(*eos) : Json();
  manifest["content_hash"] = hex_hash(side.content_hash);
  manifest.update(counts_to_json(side.counts));
  return manifest;
}

void check_not_empty(const PrepareOptions& options, const Side& side, bool held_out) {
  if (side.counts.documents > 0) return;
  check<DataError>(!held_out, "--held-out: expected at least one document, but none matches (",
                   dropped_text(side.counts), "); give globs of file names or a larger fraction");
  check<DataError>(false, options.inputs.front(), ": expected at least one document with text, got none (",
                   dropped_text(side.counts), ")");
}

class Assembler {
 public:
  Assembler(const PrepareOptions& options, const SourceList& sources) : options_(options), sources_(sources) {
    sides_[0].counts.prefix = options.out;
    sides_[1].counts.prefix = held_out_prefix(options.out);
    counts_.resize(sources.files.size());
  }

  void run(const fs::path& folder, std::int64_t parts, PrepareResult& result) {
    const std::size_t sides = wants_held_out(options_) ? 2 : 1;
    for (std::size_t s = 0; s < sides; ++s) {
      sides_[s].writer =
          std::make_unique<IndexedDatasetWriter>(sides_[s].counts.prefix, options_.tokenizer->vocab_size());
    }
    for (std::int64_t number = 0; number < parts; ++number) {
      throw_if_interrupted();
      read(folder, number, sides);
    }
    for (std::size_t s = 0; s < sides; ++s) check_not_empty(options_, sides_[s], s == 1);
    // While no manifest of PREFIX stands, the dataset does not count as done.
    std::error_code ignored;
    fs::remove(manifest_path(options_.out), ignored);
    if (sides == 2) commit(sides_[1], false);
    commit(sides_[0], true);
    result.train = sides_[0].counts;
    if (sides == 2) result.held_out = sides_[1].counts;
  }

 private:
  void read(const fs::path& folder, std::int64_t number, std::size_t sides) {
    const fs::path path = part_path(folder, number);
    const std::optional<Part> part = read_part(path);
    check<ResourceError>(part.has_value(), path.string(),
                         ": expected the part that was just written; does another process use this folder?");
    for (std::size_t s = 0; s < sides; ++s) sides_[s].add(part->sides[s]);
    for (const auto& [source, counts] : part->sources) {
      counts_[source].documents += counts.documents;
      counts_[source].tokens += counts.tokens;
    }
  }

  void commit(Side& side, bool main) {
    side.writer->commit();
    Json manifest = manifest_of(options_, side);
    if (main) {
      Json sources = plan_sources(sources_);
      for (std::size_t i = 0; i < counts_.size(); ++i) {
        sources[i]["documents"] = counts_[i].documents;
        sources[i]["tokens"] = counts_[i].tokens;
      }
      if (wants_held_out(options_)) manifest["held_out_set"] = counts_to_json(sides_[1].counts);
      manifest["sources"] = sources;
    }
    write_file_atomic(manifest_path(side.counts.prefix), dump_json_pretty(manifest));
  }

  const PrepareOptions& options_;
  const SourceList& sources_;
  Side sides_[2];
  std::vector<SourceCounts> counts_;
};

}  // namespace

std::string held_out_prefix(const std::string& prefix) {
  return prefix + "-heldout";
}

bool wants_held_out(const PrepareOptions& options) {
  return !options.held_out.empty() || options.held_out_fraction > 0;
}

void assemble(const PrepareOptions& options, const SourceList& sources, const fs::path& folder,
              std::int64_t parts, PrepareResult& result) {
  Assembler(options, sources).run(folder, parts, result);
}

}  // namespace loongforge
