#include "loongforge/checkpoint/hf_tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::kBool, at::kBool},  {DType::kU8, at::kByte},       {DType::kI8, at::kChar},
    {DType::kI16, at::kShort},  {DType::kI32, at::kInt},       {DType::kI64, at::kLong},
    {DType::kF16, at::kHalf},   {DType::kBF16, at::kBFloat16}, {DType::kF32, at::kFloat},
    {DType::kF64, at::kDouble},
};

// Collects what does not fit, so that the user sees all of it at once.
class Problems {
 public:
  void add(const std::string& kind, const std::string& what) { list_[kind].push_back(what); }
  void raise(const std::string& file) const {
    if (list_.empty()) return;
    std::string text;
    for (const auto& [kind, items] : list_) {
      text += concat(text.empty() ? "" : "; ", items.size(), " ", kind, ": ");
      for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + items[i];
    }
    throw CheckpointError(concat(file, ": tensors do not fit the model: ", text,
                                 "; take the config.json that belongs to these weights"));
  }

 private:
  std::map<std::string, std::vector<std::string>> list_;
};

bool is_float(DType dtype) {
  const auto type = torch_dtype(dtype);
  return type && at::isFloatingType(*type);
}

bool is_beginning(const TensorInfo& info, const Param& param) {
  const std::vector<std::int64_t>& shape = param.spec.shape;
  return shape.size() == 2 && info.shape.size() == 2 && info.shape[1] == shape[1] && info.shape[0] < shape[0];
}

void assign_first_rows(Param& param, const at::Tensor& rows) {
  const at::Tensor whole = best_value(param).detach().clone();
  whole.narrow(0, 0, rows.size(0)).copy_(rows);
  assign(param, whole);
}

}  // namespace

std::optional<at::ScalarType> torch_dtype(DType dtype) {
  for (const auto& [file, torch] : kTypes) {
    if (file == dtype) return torch;
  }
  return std::nullopt;
}

DType file_dtype(at::ScalarType dtype) {
  for (const auto& [file, torch] : kTypes) {
    if (torch == dtype) return file;
  }
  throw InternalError(concat("safetensors: no element type for ", dtype));
}

std::string config_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kBFloat16:
      return "bfloat16";
    case at::kHalf:
      return "float16";
    default:
      throw ConfigError(concat("dtype: expected float32, float64, bfloat16 or float16, got ", dtype));
  }
}

at::Tensor tensor_of(const SafetensorsSet& set, const TensorInfo& info) {
  const auto dtype = torch_dtype(info.dtype);
  check<CheckpointError>(dtype.has_value(), set.path().string(), ": tensor '", info.name,
                         "': expected a type that can be computed with, got ", dtype_name(info.dtype));
  const std::span<const std::byte> bytes = set.bytes(info.name);
  const auto options = at::TensorOptions().dtype(*dtype);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(info.dtype) != 0) {
    at::Tensor copy = at::empty(info.shape, options);
    if (!bytes.empty()) std::memcpy(copy.mutable_data_ptr(), bytes.data(), bytes.size());
    return copy;
  }
  // from_blob wants a writable pointer; nothing writes through this tensor.
  return at::from_blob(const_cast<std::byte*>(bytes.data()), info.shape, options);
}

std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  check(tensor.is_contiguous() && tensor.device().is_cpu(), "bytes_of: expected a contiguous CPU tensor");
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), static_cast<std::size_t>(tensor.nbytes())};
}

void fill_params(const SafetensorsSet& set, const std::map<std::string, Param*>& params,
                 const std::function<bool(const std::string& name)>& ignored,
                 const std::set<std::string>& grown) {
  Problems problems;
  for (const auto& [name, param] : params) {
    const TensorInfo* info = set.find(name);
    if (info == nullptr) {
      problems.add("missing", name + " " + shape_text(param->spec.shape_in_files()));
    } else if (info->shape != param->spec.shape_in_files() &&
               !(grown.contains(name) && is_beginning(*info, *param))) {
      problems.add("of wrong shape", concat(name, " (expected ", shape_text(param->spec.shape_in_files()),
                                            ", got ", shape_text(info->shape), ")"));
    } else if (!is_float(info->dtype)) {
      problems.add("of wrong type",
                   concat(name, " (expected a floating type, got ", dtype_name(info->dtype), ")"));
    }
  }
  for (const TensorInfo& info : set.tensors()) {
    if (!params.contains(info.name) && !ignored(info.name)) problems.add("extra", info.name);
  }
  problems.raise(set.path().string());
  for (const auto& [name, param] : params) {
    const at::Tensor values = tensor_of(set, *set.find(name));
    if (values.numel() < param->spec.numel()) {
      assign_first_rows(*param, values);
    } else {
      assign(*param, values.view(param->spec.shape));
    }
  }
}

}  // namespace loongforge
