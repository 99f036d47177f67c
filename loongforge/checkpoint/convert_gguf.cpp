#include "loongforge/checkpoint/convert_gguf.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <charconv>
#include <map>
#include <set>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/formats/gguf.h"
#include "loongforge/formats/tensor_info.h"
#include "loongforge/models/card.h"
#include "loongforge/models/config_reader.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// GGUF's names of Llama's tensors.
NameMap gguf_names() {
  std::vector<std::pair<std::string, std::string>> rules = {
      {"embedding.weight", "token_embd.weight"},
      {"norm.weight", "output_norm.weight"},
      {"head.weight", "output.weight"},
      {"layers.{}.attention_norm.weight", "blk.{}.attn_norm.weight"},
      {"layers.{}.mlp_norm.weight", "blk.{}.ffn_norm.weight"},
  };
  const std::vector<std::pair<std::string, std::string>> linears = {
      {"attention.q", "attn_q"},      {"attention.k", "attn_k"}, {"attention.v", "attn_v"},
      {"attention.o", "attn_output"}, {"mlp.gate", "ffn_gate"},  {"mlp.up", "ffn_up"},
      {"mlp.down", "ffn_down"},
  };
  for (const auto& [ours, file] : linears) {
    for (const char* part : {".weight", ".bias"}) {
      rules.emplace_back("layers.{}." + ours + part, "blk.{}." + file + part);
    }
  }
  return NameMap(std::move(rules));
}

// Shortest decimal number that is the same float32: GGUF keeps 1e-05 as 9.99999974737875e-06.
double shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), static_cast<float>(value)).ptr;
  double out = value;
  std::from_chars(text, end, out);
  return out;
}

void add_token_ids(const Json& metadata, Json& config) {
  const std::pair<const char*, const char*> keys[] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                                      {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                                      {"pad_token_id", "tokenizer.ggml.padding_token_id"}};
  for (const auto& [ours, theirs] : keys) {
    if (metadata.contains(theirs)) config[ours] = metadata.at(theirs);
  }
}

bool has_bias(const GgufFile& file, const std::string& linear) {
  return file.find("blk.0." + linear + ".bias") != nullptr;
}

Json config_of(const GgufFile& file) {
  const std::string where = file.path().string();
  ConfigReader reader(file.metadata(), where);
  const std::string architecture = reader.text("general.architecture", "");
  if (architecture != "llama") reader.refuse("general.architecture", "llama");
  reader.only("llama.rope.scaling.type", "none", "rotary frequencies as they are");
  reader.only("llama.expert_count", 0, "a dense model");
  const GgufTensor* table = file.find("token_embd.weight");
  check<CheckpointError>(table != nullptr && table->shape.size() == 2, where,
                         ": tensor 'token_embd.weight': expected two dimensions, got ",
                         table == nullptr ? "nothing" : shape_text(table->shape));
  check<CheckpointError>(
      file.find("rope_freqs.weight") == nullptr, where,
      ": tensor 'rope_freqs.weight': scaled rotary frequencies are not supported; convert the "
      "original Hugging Face directory instead");
  Json config = Json::object();
  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  config["vocab_size"] = table->shape[0];
  const std::int64_t hidden = reader.integer("llama.embedding_length", 1);
  const std::int64_t heads = reader.integer("llama.attention.head_count", 1);
  config["hidden_size"] = hidden;
  config["intermediate_size"] = reader.integer("llama.feed_forward_length", 1);
  config["num_hidden_layers"] = reader.integer("llama.block_count", 1);
  config["num_attention_heads"] = heads;
  config["num_key_value_heads"] = reader.integer("llama.attention.head_count_kv", 1, heads);
  const std::int64_t head_dim = reader.integer("llama.attention.key_length", 2, hidden / heads);
  if (head_dim * heads != hidden) config["head_dim"] = head_dim;
  reader.only("llama.rope.dimension_count", head_dim, "all of a head is turned");
  config["hidden_act"] = "silu";
  config["max_position_embeddings"] = reader.integer("llama.context_length", 1);
  config["initializer_range"] = 0.02;
  config["rms_norm_eps"] = shortest(reader.number("llama.attention.layer_norm_rms_epsilon", 0.0));
  config["rope_theta"] = shortest(reader.number("llama.rope.freq_base", 0.0, 10000.0));
  config["tie_word_embeddings"] = file.find("output.weight") == nullptr;
  config["attention_bias"] = has_bias(file, "attn_q");
  config["mlp_bias"] = has_bias(file, "ffn_gate");
  add_token_ids(file.metadata(), config);
  return config;
}

// GGUF keeps the rows of a head in pairs (0, D/2, 1, D/2 + 1, …); Hugging Face in halves.
at::Tensor halves_from_pairs(const at::Tensor& rows, std::int64_t head_dim) {
  const std::int64_t heads = rows.size(0) / head_dim;
  std::vector<std::int64_t> shape{heads, head_dim / 2, 2};
  for (std::int64_t d = 1; d < rows.dim(); ++d) shape.push_back(rows.size(d));
  return rows.view(shape).transpose(1, 2).reshape(rows.sizes());
}

void check_tensors(const GgufFile& file, const NameMap& names, const Model& model) {
  std::string problems;
  std::set<std::string> wanted;
  const auto add = [&](const std::string& text) { problems += (problems.empty() ? "" : "; ") + text; };
  for (const ParamRef& param : model.params()) {
    const std::string name = names.to_file(param->spec.name);
    wanted.insert(name);
    const GgufTensor* tensor = file.find(name);
    if (tensor == nullptr) {
      add("missing: " + name + " " + shape_text(param->spec.shape));
    } else if (tensor->shape != param->spec.shape) {
      add(concat(name, ": expected ", shape_text(param->spec.shape), ", got ", shape_text(tensor->shape)));
    }
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (!wanted.contains(tensor.name)) add("extra: " + tensor.name);
  }
  check<CheckpointError>(problems.empty(), file.path().string(),
                         ": tensors do not fit the model: ", problems);
}

void fill_from(const GgufFile& file, const NameMap& names, Model& model) {
  for (const ParamRef& param : model.params()) {
    const std::string name = names.to_file(param->spec.name);
    at::Tensor values = at::empty(param->spec.shape, at::TensorOptions().dtype(at::kFloat));
    file.dequantize(name, {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    const bool turned =
        name.find(".attn_q.") != std::string::npos || name.find(".attn_k.") != std::string::npos;
    assign(*param, turned ? halves_from_pairs(values, model.info().head_dim) : values);
  }
}

}  // namespace

void convert_gguf(const std::filesystem::path& gguf, const std::filesystem::path& dir, at::ScalarType dtype) {
  const at::NoGradGuard no_grad;
  const GgufFile file(gguf);
  const Json config = config_of(file);
  const Tokenizer tokenizer = Tokenizer::from_gguf(file);
  check<CheckpointError>(tokenizer.vocab_size() <= config.at("vocab_size").get<std::int64_t>(), gguf.string(),
                         ": tokenizer does not fit the model: ", tokenizer.vocab_size(), " tokens, ",
                         config.at("vocab_size").get<std::int64_t>(), " rows in token_embd.weight");
  ParamPlan plan;
  plan.train = false;
  const std::unique_ptr<Model> model = build_model(config, plan, gguf.string());
  const NameMap names = gguf_names();
  check_tensors(file, names, *model);
  fill_from(file, names, *model);
  HfSaveOptions options;
  options.dtype = dtype;
  save_hf(*model, dir, options);
  tokenizer.save(dir);
}

}  // namespace loongforge
