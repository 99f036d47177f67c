// Tensors of safetensors files as libtorch tensors, and the matching of a file's tensors with parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "loongforge/formats/safetensors.h"
#include "loongforge/nn/param.h"

namespace loongforge {

// The libtorch type of a file's type, where there is one, and back (InternalError where there is none).
std::optional<at::ScalarType> torch_dtype(DType dtype);
DType file_dtype(at::ScalarType dtype);
// "float32", "bfloat16", "float16", "float64", as config.json names them.
std::string config_dtype(at::ScalarType dtype);

// The file's bytes as a tensor without a copy (valid as long as the set); a copy where they are not aligned.
// Throws CheckpointError when libtorch has no such type.
at::Tensor tensor_of(const SafetensorsSet& set, const TensorInfo& info);
// The bytes of a contiguous CPU tensor.
std::span<const std::byte> bytes_of(const at::Tensor& tensor);

// Fills each parameter from the file's tensor of its name. Nothing is changed unless all fit: throws
// CheckpointError that lists every tensor that is missing, extra, of a wrong shape or no floating type.
// `ignored`: names of the file's tensors that may stay unused. `grown`: matrices that may have fewer rows in
// the file; the parameter's others keep their values.
void fill_params(const SafetensorsSet& set, const std::map<std::string, Param*>& params,
                 const std::function<bool(const std::string& name)>& ignored,
                 const std::set<std::string>& grown = {});

}  // namespace loongforge
