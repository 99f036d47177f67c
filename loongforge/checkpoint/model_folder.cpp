#include "loongforge/checkpoint/model_folder.h"

#include "loongforge/base/files.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/checkpoint/run_folder.h"

namespace loongforge {

fs::path resolve_model_folder(const fs::path& path) {
  check<CheckpointError>(fs::exists(path), path.string(),
                         ": no such folder; expected a model folder with config.json");
  check<CheckpointError>(
      fs::is_directory(path), path.string(), ": is a file, expected a model folder with config.json",
      path.extension() == ".gguf" ? "; convert it first: loongforge convert FILE.gguf FOLDER" : "");
  if (fs::exists(path / "config.json") || is_peft_dir(path)) return path;
  if (fs::is_directory(path / "hf")) return path / "hf";
  if (const auto last = RunFolder(path).last_complete()) return last->path / "hf";
  throw CheckpointError(concat(path.string(),
                               ": holds neither config.json, nor hf/, nor a complete checkpoint; "
                               "expected a model folder, a checkpoint or a run folder"));
}

fs::path resolve_whole_model(const fs::path& path) {
  const fs::path folder = resolve_model_folder(path);
  check<CheckpointError>(fs::exists(folder / "config.json"), folder.string(),
                         ": holds adapters alone; merge them into their base first: loongforge convert ",
                         path.string(), " FOLDER");
  return folder;
}

}  // namespace loongforge
