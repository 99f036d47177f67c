#include "loongforge/formats/gguf.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "loongforge/formats/gguf_cursor.h"
#include "loongforge/formats/model_file.h"
#include "loongforge/formats/printable.h"
#include "loongforge/formats/tensor_info.h"

namespace loongforge {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint32_t kMaxDims = 4;
constexpr std::uint64_t kLeastKeyBytes = 8 + 4 + 1;
constexpr std::uint64_t kLeastTensorBytes = 8 + 4 + 4 + 8;

struct Header {
  std::uint32_t version = 0;
  std::uint64_t tensor_count = 0, key_count = 0;
};

Header read_header(const std::string& file, GgufCursor& cursor) {
  const auto magic = cursor.scalar<std::uint32_t>();
  check<CheckpointError>(magic == kMagic, file, ": expected a GGUF file (it does not begin with 'GGUF')");
  Header header;
  header.version = cursor.scalar<std::uint32_t>();
  check<CheckpointError>(header.version != 0x02000000 && header.version != 0x03000000, file,
                         ": is a big-endian GGUF file; convert it to little endian");
  check<CheckpointError>(header.version == 2 || header.version == 3, file,
                         ": expected GGUF version 2 or 3, got ", header.version);
  header.tensor_count = cursor.scalar<std::uint64_t>();
  header.key_count = cursor.scalar<std::uint64_t>();
  check<CheckpointError>(header.tensor_count <= cursor.left() / kLeastTensorBytes &&
                             header.key_count <= cursor.left() / kLeastKeyBytes,
                         file, ": ", header.tensor_count, " tensors and ", header.key_count,
                         " keys pass the end of the file; it is truncated or garbled, fetch it again");
  return header;
}

Json read_metadata(const std::string& file, GgufCursor& cursor, std::uint64_t count) {
  Json metadata = Json::object();
  // The ordered object searches all keys on every insertion by name; a set and appending stay linear.
  std::unordered_set<std::string_view> seen;
  auto& items = metadata.get_ref<Json::object_t&>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view name = cursor.string();
    const std::string key(name);
    check<CheckpointError>(seen.insert(name).second, file, ": key ", printable(key),
                           " stands twice in the metadata");
    const auto type = cursor.scalar<std::uint32_t>();
    items.emplace_back(key, cursor.value(type, key));
  }
  return metadata;
}

GgufTensor read_tensor(const std::string& file, GgufCursor& cursor) {
  GgufTensor tensor;
  tensor.name = std::string(cursor.string());
  const std::string where = concat(file, ": tensor ", printable(tensor.name));
  const auto dims = cursor.scalar<std::uint32_t>();
  check<CheckpointError>(dims <= kMaxDims, where, ": expected at most ", kMaxDims, " dimensions, got ", dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const auto size = cursor.scalar<std::uint64_t>();
    check<CheckpointError>(size <= INT64_MAX, where, ": dimension of ", size, " elements is too large");
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
  }
  const auto numel = shape_numel(tensor.shape);
  check<CheckpointError>(numel.has_value(), where, ": shape ", shape_text(tensor.shape),
                         " has more than 2^63 - 1 elements");
  tensor.numel = *numel;

  const auto number = cursor.scalar<std::uint32_t>();
  const GgmlTypeInfo* info = ggml_type_info(number);
  check<CheckpointError>(info != nullptr, where, ": unknown storage type ", number);
  tensor.type = static_cast<GgmlType>(number);
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  check<CheckpointError>(row % info->block_elements == 0, where, ": rows of ", row,
                         " values are no multiple of the ", info->block_elements, " of a ", info->name,
                         " block");
  const bool overflow =
      __builtin_mul_overflow(*numel / info->block_elements, std::int64_t{info->block_bytes}, &tensor.nbytes);
  check<CheckpointError>(!overflow, where, ": shape ", shape_text(tensor.shape),
                         " has more than 2^63 - 1 bytes");
  tensor.offset = cursor.scalar<std::uint64_t>();
  return tensor;
}

std::uint64_t alignment_of(const std::string& file, const Json& metadata) {
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return kDefaultAlignment;
  check<CheckpointError>(found->is_number_unsigned(), file,
                         ": expected general.alignment to be a whole number, got ", found->type_name());
  const auto alignment = found->get<std::uint64_t>();
  check<CheckpointError>(std::has_single_bit(alignment) && alignment <= (std::uint64_t{1} << 30), file,
                         ": expected general.alignment to be a power of two up to 2^30, got ", alignment);
  return alignment;
}

// Turns offsets within the data section into offsets in the file; ranges must lie inside and apart.
void place_tensors(const std::string& file, std::vector<GgufTensor>& tensors, std::uint64_t data_begin,
                   std::uint64_t alignment, std::uint64_t file_bytes) {
  const std::uint64_t data_bytes = file_bytes > data_begin ? file_bytes - data_begin : 0;
  for (GgufTensor& tensor : tensors) {
    const auto size = static_cast<std::uint64_t>(tensor.nbytes);
    check<CheckpointError>(tensor.offset % alignment == 0, file, ": tensor ", printable(tensor.name),
                           ": offset ", tensor.offset, " is no multiple of the alignment ", alignment);
    check<CheckpointError>(size <= data_bytes && tensor.offset <= data_bytes - size, file, ": tensor ",
                           tensor.name, ": ", size, " bytes at ", tensor.offset,
                           " pass the end of the file's ", data_bytes,
                           " bytes of tensors; it is truncated, fetch it again");
    tensor.offset += data_begin;
  }
  std::vector<const GgufTensor*> sorted;
  for (const GgufTensor& tensor : tensors) {
    if (tensor.nbytes > 0) sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    check<CheckpointError>(
        sorted[i - 1]->offset + static_cast<std::uint64_t>(sorted[i - 1]->nbytes) <= sorted[i]->offset, file,
        ": tensors ", printable(sorted[i - 1]->name), " and ", printable(sorted[i]->name), " overlap");
  }
}

}  // namespace

GgufFile::GgufFile(const fs::path& path) : path_(path), file_(map_model_file(path)) {
  const std::string file = path.string();
  GgufCursor cursor(file, file_.bytes());
  const Header header = read_header(file, cursor);
  version_ = static_cast<int>(header.version);
  metadata_ = read_metadata(file, cursor, header.key_count);
  for (std::uint64_t i = 0; i < header.tensor_count; ++i) tensors_.push_back(read_tensor(file, cursor));
  const std::uint64_t alignment = alignment_of(file, metadata_);
  const std::uint64_t data_begin = (cursor.offset() + alignment - 1) / alignment * alignment;
  place_tensors(file, tensors_, data_begin, alignment, file_.bytes().size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    check<CheckpointError>(index_.emplace(tensors_[i].name, i).second, file, ": tensor ",
                           printable(tensors_[i].name), " stands twice in the file");
  }
}

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::span<const std::byte> GgufFile::bytes(std::string_view name) const {
  const GgufTensor* tensor = find(name);
  check<CheckpointError>(tensor != nullptr, path_.string(), ": has no tensor ", name);
  return file_.bytes().subspan(tensor->nbytes > 0 ? tensor->offset : 0,
                               static_cast<std::size_t>(tensor->nbytes));
}

void GgufFile::dequantize(std::string_view name, std::span<float> out) const {
  const auto stored = bytes(name);
  const GgufTensor& tensor = *find(name);
  check(static_cast<std::int64_t>(out.size()) == tensor.numel, path_.string(), ": tensor ", name,
        ": expected room for ", tensor.numel, " values, got ", out.size());
  check<CheckpointError>(
      can_dequantize(tensor.type), path_.string(), ": tensor ", name, ": type ", ggml_type_name(tensor.type),
      " cannot be read; expected one of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K");
  dequantize_blocks(tensor.type, stored, out);
}

}  // namespace loongforge
