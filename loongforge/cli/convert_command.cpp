#include <unistd.h>

#include <cstdio>

#include "loongforge/base/files.h"
#include "loongforge/checkpoint/convert_gguf.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/checkpoint/processor_files.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"

namespace loongforge::cli {
namespace {

struct ConvertArguments {
  std::string in, out;
  std::string to = "hf";
  std::string dtype = "float32";
  bool merge = false, overwrite = false, json = false;
};

// Hugging Face or PEFT folder to a Hugging Face folder in another dtype, adapters merged on request.
void convert_folder(const ConvertArguments& arguments, const fs::path& out) {
  const fs::path folder = resolve_model_folder(arguments.in);
  check<ConfigError>(!is_peft_dir(folder) || arguments.merge, folder.string(),
                     ": holds an adapter; give --merge to write the base model with the adapter merged in");
  // Merging in float32 loses nothing of a bfloat16 base.
  OpenedModel opened = open_model(folder, "float32");
  HfSaveOptions options;
  options.dtype = parse_dtype(arguments.dtype);
  options.merge_adapters = arguments.merge;
  save_hf(*opened.model, out, options);
  opened.tokenizer->save(out);
  write_processor_files(opened.processor, out);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
}

// --overwrite replaces a model, and nothing else that a user may have.
void check_target(const ConvertArguments& arguments) {
  const fs::path out = arguments.out;
  if (!fs::exists(out) || (fs::is_directory(out) && fs::is_empty(out))) return;
  check<ConfigError>(arguments.overwrite, out.string(),
                     ": exists and is not empty; choose another folder, or give --overwrite");
  check<ConfigError>(fs::exists(out / "config.json") || is_peft_dir(out), out.string(),
                     ": is no model folder, so --overwrite does not replace it; choose another folder");
  check<ConfigError>(!lies_in(arguments.in, out), out.string(), ": holds what is to be converted, ",
                     arguments.in, "; choose another folder");
}

void convert(const ConvertArguments& arguments) {
  check<ConfigError>(arguments.to == "hf", "--to: expected hf, got '", arguments.to, "'");
  check_target(arguments);
  const fs::path out = arguments.out;
  // Everything is made beside the target and put in place at the end, so that a stop leaves nothing
  // half-written.
  const fs::path target = fs::absolute(out).lexically_normal();
  const fs::path parent = target.has_filename() ? target.parent_path() : target.parent_path().parent_path();
  const fs::path name = target.has_filename() ? target.filename() : target.parent_path().filename();
  make_directories(parent);
  const fs::path temporary = parent / concat(name.string(), ".tmp-", ::getpid());
  try {
    if (fs::is_directory(arguments.in)) {
      convert_folder(arguments, temporary);
    } else {
      convert_gguf(arguments.in, temporary, parse_dtype(arguments.dtype));
    }
    replace_directory(temporary, parent / name);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
  if (arguments.json) return print_json({{"model", out.string()}, {"dtype", arguments.dtype}});
  std::printf("wrote %s (%s)\n", out.c_str(), arguments.dtype.c_str());
}

}  // namespace

void add_convert(Command app, Outcome&) {
  Command command = app.subcommand("convert", "Convert GGUF files and model folders to Hugging Face folders");
  auto arguments = std::make_shared<ConvertArguments>();
  command.option("IN", arguments->in, "A .gguf file, a model folder, a checkpoint or a run folder")
      .required();
  command.option("OUT", arguments->out, "Folder to write").required();
  command.option("--to", arguments->to, "hf").show_default();
  command.option("--dtype", arguments->dtype, "float32 or bfloat16")
      .one_of({"float32", "bfloat16"})
      .show_default();
  command.flag("--merge", arguments->merge, "Merge the LoRA adapter into the base weights");
  command.flag("--overwrite", arguments->overwrite, "Replace OUT");
  command.flag("--json", arguments->json, "Print the result as JSON");
  command.example("loongforge convert SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2");
  command.action([arguments] { convert(*arguments); });
}

}  // namespace loongforge::cli
