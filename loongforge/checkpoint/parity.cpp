#include "loongforge/checkpoint/parity.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/models/vlm/inputs.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/nn/head_loss.h"

namespace loongforge {
namespace {

constexpr std::int64_t kIgnored = -100;

// The tensors of the input file, flat.
struct Input {
  at::Tensor ids, targets, cu_seqlens;
  // (N), (3, N), or undefined.
  at::Tensor positions;
  std::vector<std::int64_t> shape;
  VisualInputs pictures, clips;
};

// An integer tensor as int64 of `shape`; undefined when absent.
at::Tensor integers(const SafetensorsSet& set, const std::string& name,
                    const std::vector<std::int64_t>& shape) {
  const TensorInfo* info = set.find(name);
  if (info == nullptr) return {};
  check<DataError>(info->dtype == DType::kI64 || info->dtype == DType::kI32, set.path().string(),
                   ": tensor '", name, "': expected I64 or I32, got ", dtype_name(info->dtype));
  check<DataError>(shape.empty() || info->shape == shape, set.path().string(), ": tensor '", name,
                   "': expected ", shape_text(shape), " as input_ids, got ", shape_text(info->shape));
  // A copy: the file is closed before the tensor is used.
  return tensor_of(set, *info).to(at::kLong, /*non_blocking=*/false, /*copy=*/true);
}

// Documents: as given, else the rows of input_ids.
at::Tensor read_cu_seqlens(const SafetensorsSet& set, const std::vector<std::int64_t>& shape,
                           std::int64_t n) {
  const at::Tensor given = integers(set, "cu_seqlens", {});
  if (given.defined()) {
    bool fits = given.dim() == 1 && given.size(0) >= 2 && given[0].item<std::int64_t>() == 0 &&
                given[-1].item<std::int64_t>() == n;
    for (std::int64_t i = 1; fits && i < given.size(0); ++i)
      fits = given[i - 1].item<std::int64_t>() <= given[i].item<std::int64_t>();
    check<DataError>(fits, set.path().string(), ": tensor 'cu_seqlens': expected numbers from 0 to ", n,
                     ", none below the one before, got ",
                     given.dim() == 1 && given.size(0) > 0
                         ? concat(given.size(0), " from ", given[0].item<std::int64_t>(), " to ",
                                  given[-1].item<std::int64_t>())
                         : shape_text(given.sizes().vec()));
    return given.to(at::kInt);
  }
  const std::int64_t rows = shape.size() == 2 ? shape[0] : 1;
  at::Tensor out = at::zeros({rows + 1}, at::TensorOptions().dtype(at::kInt));
  for (std::int64_t r = 0; r <= rows; ++r) out[r] = r * (n / rows);
  return out;
}

// Token i predicts label i + 1 of its own document.
at::Tensor shifted(const at::Tensor& labels, const at::Tensor& cu_seqlens) {
  at::Tensor targets = at::full({labels.size(0)}, kIgnored, at::TensorOptions().dtype(at::kLong));
  const int* bound = cu_seqlens.const_data_ptr<int>();
  const std::int64_t* label = labels.const_data_ptr<std::int64_t>();
  std::int64_t* target = targets.mutable_data_ptr<std::int64_t>();
  for (std::int64_t d = 0; d + 1 < cu_seqlens.size(0); ++d) {
    for (std::int64_t i = bound[d]; i + 1 < bound[d + 1]; ++i) target[i] = label[i + 1];
  }
  return targets;
}

// position_ids as input_ids, or as Hugging Face has them for several axes: (3, B, T), or (4, B, T) with the
// place in the document first.
at::Tensor read_positions(const SafetensorsSet& set, const std::vector<std::int64_t>& shape) {
  const TensorInfo* info = set.find("position_ids");
  if (info == nullptr) return {};
  if (info->shape.size() != shape.size() + 1) return integers(set, "position_ids", shape).view({-1});
  const at::Tensor all = integers(set, "position_ids", {});
  const std::int64_t axes = all.dim() > 0 ? all.size(0) : 0;
  check<DataError>((axes == 3 || axes == 4) && all.numel() == axes * *shape_numel(shape), set.path().string(),
                   ": tensor 'position_ids': expected 3 or 4 axes before ", shape_text(shape), ", got ",
                   shape_text(info->shape));
  return all.view({axes, -1}).narrow(0, axes - 3, 3).contiguous();
}

// Pixels and grids of pictures or clips under Hugging Face's names.
VisualInputs read_visual(const SafetensorsSet& set, const char* pixels, const char* grid) {
  VisualInputs out;
  const TensorInfo* info = set.find(pixels);
  check<DataError>((info == nullptr) == (set.find(grid) == nullptr), set.path().string(), ": expected both '",
                   pixels, "' and '", grid, "', got one");
  if (info == nullptr) return out;
  out.pixel_values = tensor_of(set, *info).clone();
  out.grid_thw = integers(set, grid, {});
  check<DataError>(
      out.pixel_values.is_floating_point() && out.grid_thw.dim() == 2 && out.grid_thw.size(1) == 3,
      set.path().string(), ": tensor '", grid, "': expected (n, 3) beside rows of floating '", pixels,
      "', got ", shape_text(out.grid_thw.sizes().vec()));
  if (out.empty()) return out;
  constexpr std::int64_t kMostPatches = 1 << 16;  // of a side: their product must fit
  const std::int64_t low = out.grid_thw.min().item<std::int64_t>(),
                     high = out.grid_thw.max().item<std::int64_t>();
  check<DataError>(low >= 1 && high <= kMostPatches, set.path().string(), ": tensor '", grid,
                   "': expected 1 to ", kMostPatches, " patches a side, got ", low < 1 ? low : high);
  return out;
}

VisualInputs read_clips(const SafetensorsSet& set) {
  VisualInputs clips = read_visual(set, "pixel_values_videos", "video_grid_thw");
  const TensorInfo* info = set.find("second_per_grid_ts");
  if (info == nullptr) return clips;
  const at::Tensor seconds = tensor_of(set, *info).to(at::kDouble).contiguous();
  clips.seconds.assign(seconds.const_data_ptr<double>(), seconds.const_data_ptr<double>() + seconds.numel());
  const std::int64_t count = clips.empty() ? 0 : clips.grid_thw.size(0);
  check<DataError>(seconds.numel() == count, set.path().string(),
                   ": tensor 'second_per_grid_ts': expected one number for each of ", count,
                   " clips in 'video_grid_thw', got ", seconds.numel());
  for (const double one : clips.seconds)
    check<DataError>(std::isfinite(one) && one >= 0, set.path().string(),
                     ": tensor 'second_per_grid_ts': expected finite numbers of 0 or more, got ", one);
  return clips;
}

// Rotary angles of such positions mean nothing in float32.
void check_positions(const at::Tensor& positions, const std::string& where) {
  constexpr std::int64_t kLast = std::int64_t{1} << 31;
  if (!positions.defined()) return;
  const std::int64_t low = positions.min().item<std::int64_t>(), high = positions.max().item<std::int64_t>();
  check<DataError>(low >= 0 && high < kLast, where, ": tensor 'position_ids': expected 0 to ", kLast - 1,
                   ", got ", low < 0 ? low : high);
}

Input read_input(const std::filesystem::path& path) {
  const SafetensorsSet set(path);
  const TensorInfo* info = set.find("input_ids");
  check<DataError>(info != nullptr, path.string(), ": tensor 'input_ids' is missing");
  check<DataError>(info->shape.size() == 1 || info->shape.size() == 2, path.string(),
                   ": tensor 'input_ids': expected (B, T) or (N), got ", shape_text(info->shape));
  Input input;
  input.shape = info->shape;
  input.ids = integers(set, "input_ids", {}).view({-1});
  check<DataError>(input.ids.numel() > 0, path.string(), ": tensor 'input_ids' is empty");
  input.cu_seqlens = read_cu_seqlens(set, input.shape, input.ids.size(0));
  const at::Tensor labels = integers(set, "labels", input.shape);
  input.positions = read_positions(set, input.shape);
  check_positions(input.positions, path.string());
  input.pictures = read_visual(set, "pixel_values", "image_grid_thw");
  input.clips = read_clips(set);
  input.targets = shifted(labels.defined() ? labels.view({-1}) : input.ids, input.cu_seqlens);
  return input;
}

// The base of an adapter: as written, else beside the adapter's folder.
std::filesystem::path base_of(const std::filesystem::path& adapter) {
  const std::filesystem::path base = read_peft_base(adapter);
  const std::filesystem::path beside = adapter / base;
  const bool found = std::filesystem::is_directory(base) || std::filesystem::is_directory(beside);
  check<CheckpointError>(!base.empty() && found, (adapter / "adapter_config.json").string(),
                         ": key 'base_model_name_or_path': expected a model directory, got '", base.string(),
                         "'");
  return std::filesystem::is_directory(base) ? base : beside;
}

std::unique_ptr<Model> load(const ParityOptions& options) {
  ParamPlan plan;
  plan.compute = options.dtype;
  if (!is_peft_dir(options.model)) return load_hf_model(options.model, plan);
  plan.lora = read_peft_options(options.model);
  std::unique_ptr<Model> model = load_hf_model(base_of(options.model), plan);
  load_peft(options.model, *model);
  return model;
}

using Named = std::vector<std::pair<std::string, at::Tensor>>;

void write_tensors(const std::filesystem::path& path, const Named& tensors) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    infos.push_back({name, file_dtype(tensor.scalar_type()), tensor.sizes().vec()});
  }
  SafetensorsWriter writer(path, infos);
  for (const auto& [name, tensor] : tensors) writer.write(name, bytes_of(tensor));
  writer.commit();
}

// Mean loss of the counted tokens as other tools compute it: logits, then libtorch's cross-entropy, in
// float32 at least. Its sum over a long vocabulary is several 1e-6 off in float32, which the fused operator's
// is not, and which gradients of a trained model magnify; a comparison must not measure that.
at::Tensor plain_loss(const Context& context, const Model& model, const at::Tensor& hidden,
                      const at::Tensor& targets) {
  const at::Tensor logits = head_logits(context, model.head(), hidden);
  const at::Tensor wide = logits.scalar_type() == at::kDouble ? logits : logits.to(at::kFloat);
  return at::cross_entropy_loss(wide, targets, {}, at::Reduction::Mean, kIgnored);
}

Named results(const Model& model, const Input& input, const at::Tensor& logits, const at::Tensor& loss) {
  std::vector<std::int64_t> shape = input.shape;
  shape.push_back(model.info().vocab_size);
  Named out{{"logits", logits.view(shape)}, {"loss", loss.detach()}};
  for (const ParamRef& param : model.params()) {
    if (!param->trainable) continue;
    const std::string& ours = param->spec.name;
    const std::string name =
        param->spec.adapter ? peft_name(model, ours) : model.module_names().to_file(ours);
    out.emplace_back("grad." + name,
                     (param->has_grad ? param->grad : at::zeros(param->spec.shape, logits.options()))
                         .view(param->spec.shape_in_files()));
  }
  return out;
}

// What the first segment reads; fills in the positions that the file does not give.
Flow flow_of(const Model& model, Input& input) {
  Flow flow{{"input_ids", input.ids}};
  const std::optional<VisualInfo>& visual = model.info().visual;
  check<DataError>(visual || (input.pictures.empty() && input.clips.empty()),
                   "pixel_values: the model reads no pictures");
  if (!visual) {
    if (!input.positions.defined()) input.positions = positions_of(input.cu_seqlens);
    return flow;
  }
  const VisualInputs inputs = in_order_of_places(input.ids, input.pictures, input.clips, *visual);
  put_visual(flow, inputs);
  if (!input.positions.defined())
    input.positions =
        inputs.empty() || !visual->grid_positions
            ? positions_of(input.cu_seqlens)
            : visual_positions(input.ids, input.cu_seqlens, inputs.grid_thw, inputs.seconds, *visual);
  return flow;
}

// The number of counted tokens, at least one, whose labels are all words of the model.
std::int64_t check_targets(const Input& input, const Model& model, const std::string& where) {
  const at::Tensor counted = input.targets.masked_select(input.targets.ne(kIgnored));
  check<DataError>(counted.numel() > 0, where, ": tensor 'labels': no token is counted");
  const std::int64_t low = counted.min().item<std::int64_t>(), high = counted.max().item<std::int64_t>();
  check<DataError>(low >= 0 && high < model.info().vocab_size, where, ": tensor 'labels': expected ",
                   kIgnored, " or ids below ", model.info().vocab_size, ", got ", low < 0 ? low : high);
  return counted.numel();
}

}  // namespace

void parity(const ParityOptions& options) {
  Input input = read_input(options.input);
  const std::unique_ptr<Model> model = load(options);
  AccumulateGrads sink;
  Context context;
  context.cu_seqlens = input.cu_seqlens;
  Flow flow = flow_of(*model, input);
  context.position_ids = input.positions;
  context.grads = &sink;
  context.recompute = options.recompute;
  const std::int64_t counted = check_targets(input, *model, options.input.string());
  const at::Tensor hidden = model->run(context, std::move(flow)).at("hidden");
  const at::Tensor loss = options.fused ? head_cross_entropy(context, model->head(), hidden, input.targets)
                                              .div(static_cast<double>(counted))
                                        : plain_loss(context, *model, hidden, input.targets);
  loss.backward();
  write_tensors(options.output, results(*model, input, model->logits(hidden), loss));
}

}  // namespace loongforge
