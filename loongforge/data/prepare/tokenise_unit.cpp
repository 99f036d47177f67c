#include "loongforge/data/prepare/tokenise_unit.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/data/prepare/extract.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

class UnitTokeniser {
 public:
  UnitTokeniser(const SourceList& sources, const PrepareOptions& options)
      : sources_(sources), options_(options), eos_(end_of_document_id(options)) {}

  Part run(const Unit& unit) {
    for (const Unit::Record& record : unit.records) {
      const std::size_t file = unit.files.front();
      Extracted text;
      if (record.invalid && options_.invalid_utf8 == InvalidUtf8::kSkip) {
        text.dropped = "invalid_utf8";
      } else {
        text = extract_text(record.text, TextFormat::kJsonl, options_.invalid_utf8);
        text.replaced = record.invalid;
      }
      document(file, concat(sources_.files[file].name, ":", record.line), text);
    }
    if (unit.records.empty()) {
      for (const std::size_t file : unit.files) {
        const SourceFile& source = sources_.files[file];
        document(file, source.name,
                 extract_text(read_decompressed(source.path), source.format, options_.invalid_utf8));
      }
    }
    return std::move(part_);
  }

 private:
  bool is_held_out(std::size_t file, const std::string& name) const {
    if (sources_.files[file].held_out) return true;
    if (options_.held_out_fraction <= 0) return false;
    return CounterRandom(0, "held-out text").uniform(hash_bytes(name), 0) < options_.held_out_fraction;
  }

  void document(std::size_t file, const std::string& name, const Extracted& text) {
    PartSide& side = part_.sides[is_held_out(file, name) ? 1 : 0];
    PreparedSet& counts = side.counts;
    if (!text.dropped.empty()) {
      ++counts.dropped[text.dropped];
      return;
    }
    std::vector<std::int32_t> ids = options_.tokenizer->encode(text.text, options_.special_tokens);
    if (ids.empty() || static_cast<std::int64_t>(ids.size()) < options_.min_tokens) {
      ++counts.dropped[ids.empty() ? "empty" : "too_short"];
      return;
    }
    const auto limit = static_cast<std::size_t>(options_.max_tokens);
    if (limit > 0 && ids.size() > limit) {
      ++counts.cut;
      counts.cut_tokens += static_cast<std::int64_t>(ids.size() - limit);
      ids.resize(limit);
    }
    // The marker belongs to the document, its length included.
    if (eos_) ids.push_back(*eos_);
    check<DataError>(ids.size() < (std::size_t{1} << 31), sources_.files[file].path.string(),
                     ": expected a document below 2^31 tokens, got ", ids.size(), "; split the file");
    side.lengths.push_back(static_cast<std::int32_t>(ids.size()));
    side.tokens.insert(side.tokens.end(), ids.begin(), ids.end());
    ++counts.documents;
    counts.tokens += static_cast<std::int64_t>(ids.size());
    counts.text_bytes += static_cast<std::int64_t>(text.text.size());
    counts.replaced += text.replaced ? 1 : 0;
    ++part_.sources[file].documents;
    part_.sources[file].tokens += static_cast<std::int64_t>(ids.size());
  }

  const SourceList& sources_;
  const PrepareOptions& options_;
  const std::optional<std::int32_t> eos_;
  Part part_;
};

}  // namespace

std::optional<std::int32_t> end_of_document_id(const PrepareOptions& options) {
  if (!options.append_eos) return std::nullopt;
  const auto id =
      options.eos_token.empty() ? options.tokenizer->eos_id() : options.tokenizer->id(options.eos_token);
  check<CheckpointError>(id.has_value(), "tokenizer: ",
                         options.eos_token.empty() ? "has no end-of-sequence token"
                                                   : concat("has no token '", options.eos_token, "'"),
                         "; name the end-of-document token or leave it out (--no-eos)");
  return id;
}

Part tokenise_unit(const Unit& unit, const SourceList& sources, const PrepareOptions& options) {
  return UnitTokeniser(sources, options).run(unit);
}

}  // namespace loongforge
