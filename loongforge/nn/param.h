// Parameters: what a model declares about each of its weights, and the tensors that hold it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/nn/lora_options.h"
#include "loongforge/nn/name_map.h"

namespace loongforge {

// How one section of a dimension lies over tensor-parallel ranks.
enum class Placement { kReplicated, kTensorSplit };

// `size` neighbouring indices of one dimension, split only at multiples of `unit` (e.g. one head).
struct Section {
  std::int64_t size = 0;
  std::int64_t unit = 1;
  Placement placement = Placement::kReplicated;
};

// Distribution of the initial values. scale: standard deviation (normal) or bound (uniform in [-scale,
// scale)).
struct Init {
  enum class Kind { kZeros, kOnes, kNormal, kUniform };
  Kind kind = Kind::kZeros;
  double scale = 0.0;
};

// Whether weight decay applies (matrices) or not (norms, biases).
enum class DecayGroup { kDecay, kNoDecay };

// Immutable declaration of one parameter. `name` is unique in the model; `shape` is global; `sections` has
// one list a dimension (an empty list: the dimension is whole and replicated).
struct ParamSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::vector<Section>> sections;
  Init init;
  DecayGroup decay = DecayGroup::kDecay;
  bool adapter = false;
  // Shape in checkpoint files where it is another one, of the same elements in the same order; empty: shape.
  std::vector<std::int64_t> file_shape;

  std::int64_t numel() const;
  const std::vector<std::int64_t>& shape_in_files() const { return file_shape.empty() ? shape : file_shape; }
};

// Throws InternalError when the sections of a dimension do not add up to its size.
void check_spec(const ParamSpec& spec);

// One parameter. value: the leaf in compute dtype that layers read; master: what the optimizer updates, the
// same tensor as value where the dtypes agree, undefined where frozen; grad: float32 or wider, undefined
// until the first part arrives. filled: values were loaded or initialised.
struct Param {
  ParamSpec spec;
  at::Tensor value;
  at::Tensor master;
  at::Tensor grad;
  bool trainable = true;
  // Factor of the learning rate.
  double rate = 1.0;
  bool has_grad = false;
  bool filled = false;
};
using ParamRef = std::shared_ptr<Param>;

// The wider of float32 and `compute`: dtype of gradients, losses and statistics.
at::ScalarType wide_dtype(at::ScalarType compute);

// Writes `source` (param's shape, any floating dtype) into master and value.
void assign(Param& param, const at::Tensor& source);
// The most precise copy there is: master where defined, else value.
const at::Tensor& best_value(const Param& param);

// Fills every parameter with its initial values: a pure function of (seed, name, global element index).
void initialize(const std::vector<ParamRef>& params, std::uint64_t seed);
// Only those not filled yet, e.g. adapters over loaded weights.
void initialize_unfilled(const std::vector<ParamRef>& params, std::uint64_t seed);

// What differs in one component of a model, e.g. its vision tower.
struct ComponentPlan {
  // Its parameters' names start with this ("vision.").
  std::string prefix;
  bool frozen = false;
  // Factor of the learning rate.
  double rate = 1.0;
  // Dtype of its values and activations; nothing: the model's.
  std::optional<at::ScalarType> compute;
  // Adapters; every other weight of the component is then frozen.
  std::optional<LoraOptions> lora;
};

// How the parameters of a model are held and which are trained.
struct ParamPlan {
  // Dtype of values and activations.
  at::ScalarType compute = at::kFloat;
  // Dtype of master weights; float64 compute widens it.
  at::ScalarType master = at::kFloat;
  // False: nothing is trainable and no masters exist (inference).
  bool train = true;
  std::vector<ComponentPlan> components;
  // With LoRA every weight but the adapters is frozen.
  std::optional<LoraOptions> lora;

  // The component of a parameter, or null.
  const ComponentPlan* component_of(const std::string& name) const;
  // The adapters of a linear: those of its component, else of the whole; null: none.
  const LoraOptions* lora_of(const std::string& name) const;
};

// Makes the parameters of one model in declaration order.
class ParamBuilder {
 public:
  ParamBuilder(ParamPlan plan, const NameMap& names);
  // Throws InternalError when the name is taken.
  ParamRef add(ParamSpec spec);
  // The adapter that the linear `name` (without ".weight") carries, or null; remembers which targets were
  // met.
  const LoraOptions* lora_target(const std::string& name);
  // Dtype of what is declared here.
  at::ScalarType compute() const;
  // While it lives, every name that is declared starts with `prefix` ("vision.").
  class Scope {
   public:
    Scope(ParamBuilder& builder, const std::string& prefix) : builder_(builder), outer_(builder.prefix_) {
      builder.prefix_ += prefix;
    }
    ~Scope() { builder_.prefix_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ParamBuilder& builder_;
    std::string outer_;
  };
  // Whether anything declared since there were `first` parameters is trained.
  bool any_trainable(std::size_t first) const;
  // Throws ConfigError naming the LoRA targets that met no linear of the model.
  void check_targets_met() const;

  const ParamPlan& plan() const { return plan_; }
  const std::vector<ParamRef>& params() const { return params_; }

 private:
  void check_targets_met(const std::string& key, const LoraOptions& lora) const;
  bool is_trainable(const ParamSpec& spec) const;
  ParamPlan plan_;
  const NameMap& names_;
  std::string prefix_;
  std::vector<ParamRef> params_;
  std::vector<std::string> met_targets_;
};

}  // namespace loongforge
