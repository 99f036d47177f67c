#include "loongforge/data/prepare/plan.h"

#include "loongforge/data/manifest.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {

Json plan_settings(const PrepareOptions& options) {
  return {{"tokenizer",
           {{"fingerprint", tokenizer_fingerprint(*options.tokenizer)},
            {"vocab_size", options.tokenizer->vocab_size()}}},
          {"options",
           {{"format", options.format},
            {"text_field", options.text_field},
            {"held_out", options.held_out},
            {"held_out_fraction", options.held_out_fraction},
            {"append_eos", options.append_eos},
            {"eos_token", options.eos_token},
            {"special_tokens", options.special_tokens},
            {"invalid_utf8", options.invalid_utf8 == InvalidUtf8::kSkip ? "skip" : "replace"},
            {"min_tokens", options.min_tokens},
            {"max_tokens", options.max_tokens}}}};
}

Json plan_sources(const SourceList& sources) {
  Json out = Json::array();
  for (const SourceFile& file : sources.files) {
    out.push_back({{"name", file.name},
                   {"format", text_format_name(file.format)},
                   {"bytes", file.bytes},
                   {"held_out", file.held_out}});
  }
  return out;
}

Json plan_of_parts(const PrepareOptions& options, const SourceList& sources) {
  Json out = plan_settings(options);
  out["part_bytes"] = options.part_bytes;
  out["sources"] = plan_sources(sources);
  for (std::size_t i = 0; i < sources.files.size(); ++i) {
    out["sources"][i]["path"] = fs::absolute(sources.files[i].path).generic_string();
    out["sources"][i]["modified_ns"] = sources.files[i].modified_ns;
  }
  return out;
}

}  // namespace loongforge
