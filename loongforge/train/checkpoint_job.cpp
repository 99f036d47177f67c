#include "loongforge/train/checkpoint_job.h"

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/ops/squared_norm.h"
#include "loongforge/train/open_model.h"

namespace loongforge {
namespace {

void check_finite(const AdamW& optimizer, std::int64_t step) {
  for (const ParamRef& param : optimizer.params()) {
    check<NumericError>(std::isfinite(ops::squared_norm(param->master.detach())), "weight ", param->spec.name,
                        " is not finite after step ", step,
                        "; no checkpoint was written, the earlier ones stand; lower optim.lr");
  }
}

at::ScalarType hf_dtype(const RunConfig& config) {
  if (config.checkpoint.hf_dtype != "auto") return scalar_type_of(config.checkpoint.hf_dtype);
  return config.precision.compute == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

// Adapters of single components do not make a PEFT folder, as other weights are trained too: they are merged.
HfSaveOptions save_options(const RunConfig& config, const Model& model) {
  HfSaveOptions options;
  options.dtype = hf_dtype(config);
  for (const ComponentPlan& component : model.plan().components)
    options.merge_adapters = options.merge_adapters || component.lora.has_value();
  return options;
}

}  // namespace

CheckpointJob make_checkpoint_job(const RunConfig& config, const RunParts& parts, const AdamW& optimizer,
                                  const TrainingProgress& progress, bool copy) {
  check_finite(optimizer, progress.step);
  CheckpointJob job;
  job.progress = progress;
  job.state = copy ? copy_tensors(optimizer.state()) : optimizer.state();
  const bool lora = config.lora.rank > 0;
  auto snapshot = std::make_shared<const HfSnapshot>(
      lora ? snapshot_peft(*parts.model, config.model.path)
           : snapshot_hf(*parts.model, save_options(config, *parts.model)));
  job.write_hf = [snapshot, lora, tokenizer = parts.tokenizer,
                  processor = parts.processor](const fs::path& folder) {
    make_directories(folder);
    if (lora) {
      write_peft(*snapshot, folder);
    } else {
      write_hf(*snapshot, folder);
    }
    if (tokenizer) tokenizer->save(folder);
    write_processor_files(processor, folder);
  };
  return job;
}

}  // namespace loongforge
