#include "loongforge/data/manifest.h"

#include <cstdio>
#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Digits, capitals, accents, blanks, a joined emoji, CJK, code: where pre-tokenizers differ.
constexpr const char* kProbe =
    "Hello  world\n\n It's 12345.67 na\xC3\xAFve \xE4\xBD\xA0\xE5\xA5\xBD "
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB"
    " don't\tFOO_bar(x) -> {y: 'z'}\r\n  e\xCC\x81   ";

// What a damaged manifest holds under the key is as good as nothing.
std::string text_at(const Json& manifest, const char* key) {
  if (!manifest.is_object()) return "";
  const auto found = manifest.find(key);
  return found != manifest.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_at(const Json& manifest, const char* key) {
  if (!manifest.is_object()) return 0;
  const auto found = manifest.find(key);
  return found != manifest.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b) {
  const auto words = philox4x32({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
                                 static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)},
                                {0, 0});
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

std::string hex_hash(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string tokenizer_fingerprint(const Tokenizer& tokenizer) {
  std::uint64_t hash = 0;
  const auto vocab = static_cast<std::int32_t>(tokenizer.vocab_size());
  for (std::int32_t id = 0; id < vocab; ++id) {
    hash = mix_hash(hash, hash_bytes(tokenizer.token(id)) + (tokenizer.is_special(id) ? 1 : 0));
  }
  for (const std::int32_t id : tokenizer.encode(kProbe, false)) {
    hash = mix_hash(hash, static_cast<std::uint64_t>(id));
  }
  return hex_hash(hash);
}

fs::path manifest_path(const std::string& prefix) {
  return indexed_bin_path(prefix).replace_extension(".json");
}

Json read_manifest(const std::string& prefix) {
  const fs::path path = manifest_path(prefix);
  if (!is_there(path)) return Json();
  Json manifest = read_json<DataError>(path);
  check<DataError>(text_at(manifest, "kind") == "loongforge prepared text", path.string(),
                   ": expected a manifest written by 'loongforge prepare', got another JSON file");
  return manifest;
}

std::uint64_t manifest_content_hash(const std::string& prefix) {
  const Json manifest = read_manifest(prefix);
  if (manifest.is_null()) return 0;
  return hash_bytes(text_at(manifest, "content_hash"));
}

void require_prepared(const std::string& prefix) {
  const fs::path bin = indexed_bin_path(prefix), idx = indexed_idx_path(prefix);
  if (is_there(bin) && is_there(idx)) return;
  check<DataError>(!is_there(fs::path(prefix + ".parts")), prefix,
                   ": its preparation was interrupted; run the same 'loongforge prepare' command again");
  check<DataError>(!is_there(prefix), prefix, ": expected the prefix of a prepared dataset, got ",
                   fs::is_directory(prefix) ? "a folder" : "a file", "; first run 'loongforge prepare ",
                   prefix, " --tokenizer DIR --out PREFIX' and name PREFIX");
  check<DataError>(false, prefix, ": expected a prepared dataset, but there is no ",
                   is_there(bin) ? idx.string() : bin.string(),
                   "; make it with 'loongforge prepare FILES --tokenizer DIR --out ", prefix, "'");
}

void check_tokenizer_fits(const std::string& prefix, const Tokenizer* tokenizer,
                          std::int64_t embedding_rows) {
  const Json manifest = read_manifest(prefix);
  if (!manifest.is_object() || !manifest.contains("tokenizer")) return;
  const Json& made = manifest.at("tokenizer");
  const std::int64_t vocab = number_at(made, "vocab_size");
  check<CheckpointError>(embedding_rows <= 0 || vocab <= embedding_rows, prefix,
                         ": its tokenizer has ids up to ", vocab - 1, ", but the model's embedding has ",
                         embedding_rows, " rows; prepare the data with the model's own tokenizer");
  if (tokenizer == nullptr) return;
  const std::string now = tokenizer_fingerprint(*tokenizer);
  const std::string then = text_at(made, "fingerprint");
  check<CheckpointError>(then == now, prefix, ": was prepared with another tokenizer (",
                         then.empty() ? "unknown" : then, ", the model's is ", now,
                         "); prepare it again with the model's tokenizer");
}

}  // namespace loongforge
