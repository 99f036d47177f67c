#include "loongforge/generate/kv_cache.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/generate/decode_attention.h"
#include "loongforge/ops/attention.h"

namespace loongforge {

KvCache::KvCache(const ModelInfo& info, at::ScalarType compute)
    : layers_(info.layers),
      kv_heads_(info.kv_heads),
      head_dim_(info.head_dim),
      dtype_(compute == at::kDouble ? at::kDouble : at::kFloat) {}

std::int64_t KvCache::bytes_per_token() const {
  return layers_ * 2 * kv_heads_ * head_dim_ * static_cast<std::int64_t>(c10::elementSize(dtype_));
}

std::int64_t KvCache::open(std::int64_t capacity) {
  Block block;
  block.storage = at::empty({layers_, 2, kv_heads_, capacity, head_dim_}, at::TensorOptions(dtype_));
  block.capacity = capacity;
  blocks_.emplace(next_, std::move(block));
  return next_++;
}

void KvCache::close(std::int64_t sequence) {
  blocks_.erase(sequence);
}

void KvCache::copy_prefix(std::int64_t from, std::int64_t to, std::int64_t count) {
  const Block& source = blocks_.at(from);
  Block& target = blocks_.at(to);
  check(target.length == 0 && count <= source.length && count <= target.capacity,
        "KvCache::copy_prefix: ", count, " tokens do not fit");
  target.storage.narrow(3, 0, count).copy_(source.storage.narrow(3, 0, count));
  target.length = count;
}

void KvCache::begin(std::vector<std::int64_t> sequences) {
  active_ = std::move(sequences);
  new_tokens_.assign(active_.size(), 0);
}

void KvCache::end() {
  for (std::size_t s = 0; s < active_.size(); ++s) blocks_.at(active_[s]).length += new_tokens_[s];
  active_.clear();
}

template <typename T>
T* KvCache::head_rows(Block& block, std::int64_t layer, std::int64_t kind, std::int64_t head) const {
  return block.storage.mutable_data_ptr<T>() +
         ((layer * 2 + kind) * kv_heads_ + head) * block.capacity * head_dim_;
}

template <typename T>
void KvCache::append(std::int64_t layer, const at::Tensor& k, const at::Tensor& v,
                     const std::int32_t* bounds) {
  const std::size_t row_bytes = static_cast<std::size_t>(head_dim_) * sizeof(T);
  const T* sources[] = {k.const_data_ptr<T>(), v.const_data_ptr<T>()};
  const std::int64_t strides[] = {k.stride(0), v.stride(0)};
  at::parallel_for(
      0, static_cast<std::int64_t>(active_.size()), 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; ++s) {
          Block& block = blocks_.at(active_[static_cast<std::size_t>(s)]);
          for (std::int64_t kind = 0; kind < 2; ++kind) {
            for (std::int64_t head = 0; head < kv_heads_; ++head) {
              T* rows = head_rows<T>(block, layer, kind, head) + block.length * head_dim_;
              for (std::int64_t i = bounds[s]; i < bounds[s + 1]; ++i, rows += head_dim_) {
                std::memcpy(rows, sources[kind] + i * strides[kind] + head * head_dim_, row_bytes);
              }
            }
          }
        }
      });
}

template <typename T>
at::Tensor KvCache::attend_cached(std::int64_t layer, const at::Tensor& q, const std::int32_t* bounds,
                                  std::int64_t first, double scale) {
  const std::int64_t base = bounds[first];
  const std::int64_t heads = q.size(1), group = heads / kv_heads_;
  at::Tensor out = at::empty({q.size(0) - base, heads, head_dim_}, at::TensorOptions(dtype_));
  T* out_data = out.mutable_data_ptr<T>();
  const T* q_data = q.const_data_ptr<T>();
  const std::int64_t jobs = (static_cast<std::int64_t>(active_.size()) - first) * kv_heads_;
  at::parallel_for(0, jobs, 4, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> scratch;
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t s = first + job / kv_heads_, head = job % kv_heads_;
      Block& block = blocks_.at(active_[static_cast<std::size_t>(s)]);
      DecodeAttention<T> task{};
      task.q = q_data + bounds[s] * q.stride(0) + head * group * head_dim_;
      task.q_stride = q.stride(0);
      task.out = out_data + (bounds[s] - base) * heads * head_dim_ + head * group * head_dim_;
      task.out_stride = heads * head_dim_;
      task.keys = head_rows<T>(block, layer, 0, head);
      task.values = head_rows<T>(block, layer, 1, head);
      task.old_length = block.length;
      task.tokens = bounds[s + 1] - bounds[s];
      task.group = group;
      task.dim = head_dim_;
      task.scale = static_cast<T>(scale);
      scratch.resize(static_cast<std::size_t>(4 * (task.old_length + task.tokens)));
      decode_attention(task, scratch.data());
    }
  });
  return out;
}

at::Tensor KvCache::attend(std::int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& cu_seqlens, double scale) {
  const auto count = static_cast<std::int64_t>(active_.size());
  check(cu_seqlens.numel() == count + 1, "KvCache::attend: expected cu_seqlens of ", count,
        " sequences, got ", cu_seqlens.numel() - 1);
  const std::int32_t* bounds = cu_seqlens.const_data_ptr<std::int32_t>();
  for (std::int64_t s = 0; s < count; ++s) {
    const Block& block = blocks_.at(active_[static_cast<std::size_t>(s)]);
    new_tokens_[static_cast<std::size_t>(s)] = bounds[s + 1] - bounds[s];
    check(block.length + bounds[s + 1] - bounds[s] <= block.capacity, "KvCache::attend: sequence of ",
          block.length, " tokens has room for ", block.capacity);
  }
  const at::Tensor wide_k = k.to(dtype_), wide_v = v.to(dtype_);
  const bool is_float = dtype_ == at::kFloat;
  is_float ? append<float>(layer, wide_k, wide_v, bounds) : append<double>(layer, wide_k, wide_v, bounds);

  // Sequences that begin here need nothing from the cache: the training operator is the fastest for them.
  std::int64_t fresh = 0;
  while (fresh < count && blocks_.at(active_[static_cast<std::size_t>(fresh)]).length == 0) ++fresh;
  at::Tensor begun;
  if (fresh > 0) {
    const std::int64_t rows = bounds[fresh];
    begun = ops::attention(q.narrow(0, 0, rows), k.narrow(0, 0, rows), v.narrow(0, 0, rows),
                           cu_seqlens.narrow(0, 0, fresh + 1), scale);
    if (fresh == count) return begun;
  }
  const at::Tensor wide_q = q.to(dtype_);
  at::Tensor going_on = is_float ? attend_cached<float>(layer, wide_q, bounds, fresh, scale)
                                 : attend_cached<double>(layer, wide_q, bounds, fresh, scale);
  going_on = going_on.to(q.scalar_type());
  return fresh == 0 ? going_on : at::cat({begun, going_on}, 0);
}

}  // namespace loongforge
