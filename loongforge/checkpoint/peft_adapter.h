// LoRA adapters in the files of Hugging Face PEFT (adapter_config.json, adapter_model.safetensors).
#pragma once

#include <filesystem>
#include <string>

#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/nn/lora_options.h"
#include "loongforge/nn/model.h"

namespace loongforge {

// PEFT's name of the adapter parameter `name`, e.g. "base_model.model.….q_proj.lora_A.weight".
std::string peft_name(const Model& model, const std::string& name);
// True when `dir` holds an adapter_config.json.
bool is_peft_dir(const std::filesystem::path& dir);
// Settings of the adapter in `dir`. Throws CheckpointError for kinds other than plain LoRA, naming the key.
LoraOptions read_peft_options(const std::filesystem::path& dir);
// `base_model_name_or_path` of the adapter, empty where there is none.
std::string read_peft_base(const std::filesystem::path& dir);
// Fills the model's adapters from `dir`. Throws CheckpointError listing ALL tensors missing, extra or
// misshapen.
void load_peft(const std::filesystem::path& dir, Model& model);

// A copy of the adapters for a writer thread; written by `write_peft`.
HfSnapshot snapshot_peft(const Model& model, const std::string& base_model);
void write_peft(const HfSnapshot& snapshot, const std::filesystem::path& dir);
void save_peft(const Model& model, const std::string& base_model, const std::filesystem::path& dir);

}  // namespace loongforge
