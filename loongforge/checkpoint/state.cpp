#include "loongforge/checkpoint/state.h"

#include <algorithm>
#include <cstring>

#include "loongforge/base/files.h"
#include "loongforge/formats/safetensors.h"
#include "loongforge/formats/safetensors_writer.h"

namespace loongforge {
namespace {

constexpr std::int64_t kVersion = 1;

DType dtype_of(const StateTensor& entry) {
  switch (entry.tensor.scalar_type()) {
    case at::kFloat:
      return DType::kF32;
    case at::kDouble:
      return DType::kF64;
    case at::kBFloat16:
      return DType::kBF16;
    case at::kLong:
      return DType::kI64;
    default:
      throw InternalError(
          concat("state tensor ", entry.name, ": dtype ", entry.tensor.scalar_type(), " cannot be stored"));
  }
}

TensorInfo info_of(const StateTensor& entry) {
  return {entry.name, dtype_of(entry), entry.tensor.sizes().vec()};
}

std::span<std::byte> bytes_of(const StateTensor& entry) {
  check(entry.tensor.is_contiguous(), "state tensor ", entry.name, ": is not contiguous");
  return {static_cast<std::byte*>(entry.tensor.data_ptr()), entry.tensor.nbytes()};
}

std::string text_of(const TensorInfo& info) {
  return concat(dtype_name(info.dtype), " ", shape_text(info.shape));
}

// Every way in which the file differs from what the run holds.
std::string differences(const SafetensorsFile& file, const std::vector<StateTensor>& tensors) {
  std::vector<std::string> problems;
  for (const StateTensor& entry : tensors) {
    const TensorInfo expected = info_of(entry);
    const TensorInfo* found = file.find(entry.name);
    if (found == nullptr) {
      problems.push_back(concat("missing ", entry.name));
    } else if (found->dtype != expected.dtype || found->shape != expected.shape) {
      problems.push_back(concat(entry.name, " is ", text_of(*found), ", expected ", text_of(expected)));
    }
  }
  for (const TensorInfo& info : file.tensors()) {
    const bool known = std::any_of(tensors.begin(), tensors.end(),
                                   [&](const StateTensor& entry) { return entry.name == info.name; });
    if (!known) problems.push_back(concat("left over ", info.name));
  }
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
  return text;
}

template <typename T>
T value_at(const Json& json, const char* key, const std::string& name) {
  const auto it = json.find(key);
  check<CheckpointError>(it != json.end(), name, ": '", key, "' is missing; the checkpoint is damaged");
  try {
    return it->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw CheckpointError(concat(name, ": '", key, "' is ", it->type_name(), "; the checkpoint is damaged"));
  }
}

std::int64_t count_at(const Json& json, const char* key, const std::string& name) {
  const Json value = value_at<Json>(json, key, name);
  check<CheckpointError>(value.is_number_integer() && value.get<std::int64_t>() >= 0, name, ": '", key,
                         "': expected a whole number of at least 0, got ", dump_json(value),
                         "; the checkpoint is damaged");
  return value.get<std::int64_t>();
}

Json object_at(const Json& json, const char* key, const std::string& name) {
  Json value = value_at<Json>(json, key, name);
  check<CheckpointError>(value.is_object(), name, ": '", key, "': expected an object, got ",
                         value.type_name(), "; the checkpoint is damaged");
  return value;
}

}  // namespace

Json to_json(const TrainingProgress& p) {
  return {{"version", kVersion},
          {"step", p.step},
          {"updates", p.updates},
          {"tokens", p.tokens},
          {"counted_tokens", p.counted_tokens},
          {"seconds", p.seconds},
          {"data", p.data},
          {"counters", p.counters},
          {"identity", p.identity}};
}

TrainingProgress progress_from_json(const Json& json, const std::string& name) {
  check<CheckpointError>(json.is_object(), name, ": expected an object, got ", json.type_name());
  const auto version = value_at<std::int64_t>(json, "version", name);
  check<CheckpointError>(version == kVersion, name, ": expected version ", kVersion, ", got ", version,
                         "; resume with the program that wrote it");
  TrainingProgress p;
  p.step = count_at(json, "step", name);
  p.updates = count_at(json, "updates", name);
  p.tokens = count_at(json, "tokens", name);
  p.counted_tokens = count_at(json, "counted_tokens", name);
  check<CheckpointError>(p.updates <= p.step, name, ": 'updates' is ", p.updates, ", more than 'step' ",
                         p.step, "; the checkpoint is damaged");
  p.seconds = value_at<double>(json, "seconds", name);
  p.data = object_at(json, "data", name);
  p.counters = object_at(json, "counters", name);
  p.identity = object_at(json, "identity", name);
  return p;
}

void save_state(const fs::path& folder, const TrainingProgress& progress,
                const std::vector<StateTensor>& tensors) {
  make_directories(folder);
  std::vector<TensorInfo> infos;
  for (const StateTensor& entry : tensors) infos.push_back(info_of(entry));
  SafetensorsWriter writer(folder / "state.safetensors", infos, {{"format", "loongforge-state"}});
  for (const StateTensor& entry : tensors) writer.write(entry.name, bytes_of(entry));
  writer.commit();
  write_file_atomic(folder / "state.json", dump_json_pretty(to_json(progress)));
}

TrainingProgress load_progress(const fs::path& folder) {
  const fs::path path = folder / "state.json";
  return progress_from_json(read_json<CheckpointError>(path), path.string());
}

void load_state_tensors(const fs::path& folder, const std::vector<StateTensor>& tensors) {
  const fs::path path = folder / "state.safetensors";
  const SafetensorsFile file(path);
  const std::string problems = differences(file, tensors);
  check<CheckpointError>(problems.empty(), path.string(), ": does not fit this run: ", problems);
  for (const StateTensor& entry : tensors) {
    const std::span<const std::byte> stored = file.bytes(entry.name);
    const std::span<std::byte> target = bytes_of(entry);
    if (!stored.empty()) std::memcpy(target.data(), stored.data(), stored.size());
  }
}

}  // namespace loongforge
