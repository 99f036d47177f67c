#include "loongforge/formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "loongforge/base/json.h"
#include "loongforge/formats/model_file.h"
#include "loongforge/formats/printable.h"

namespace loongforge {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
// The limit of the reference implementation.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxDims = 64;

struct Range {
  std::uint64_t begin = 0, end = 0;
};

struct Entry {
  TensorInfo info;
  Range range;
};

std::string_view header_text(const fs::path& path, std::span<const std::byte> bytes) {
  const std::string name = path.string();
  check<CheckpointError>(bytes.size() >= kLengthBytes, name, ": expected a safetensors file, got ",
                         bytes.size(), " bytes; fetch or write it again");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  check<CheckpointError>(length <= kMaxHeaderBytes, name, ": expected a safetensors header of at most ",
                         kMaxHeaderBytes, " bytes, got ", length,
                         "; the file is garbled or no safetensors file");
  check<CheckpointError>(length <= bytes.size() - kLengthBytes, name, ": header of ", length,
                         " bytes passes the end of the file at ", bytes.size(),
                         "; the file is truncated, fetch or write it again");
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, static_cast<std::size_t>(length)};
}

// A whole number that is not negative.
std::optional<std::uint64_t> natural(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

DType parse_dtype(const std::string& where, const Json& value) {
  std::optional<DType> dtype;
  if (value.is_string()) dtype = dtype_from_name(value.get_ref<const std::string&>());
  if (!dtype) {
    throw CheckpointError(concat(where, ": unknown dtype ", printable(dump_json(value)),
                                 "; expected one of the safetensors format such as F32 or BF16"));
  }
  return *dtype;
}

std::vector<std::int64_t> parse_shape(const std::string& where, const Json& value) {
  check<CheckpointError>(value.is_array() && value.size() <= kMaxDims, where,
                         ": expected 'shape' to be a list of at most ", kMaxDims, " sizes, got ",
                         value.type_name());
  std::vector<std::int64_t> shape;
  for (const Json& item : value) {
    const auto size = natural(item);
    check<CheckpointError>(size && *size <= INT64_MAX, where,
                           ": expected sizes from 0 to 2^63 - 1 in 'shape', got ",
                           printable(dump_json(item)));
    shape.push_back(static_cast<std::int64_t>(*size));
  }
  return shape;
}

Range parse_range(const std::string& where, const Json& value, std::uint64_t data_bytes) {
  check<CheckpointError>(value.is_array() && value.size() == 2, where,
                         ": expected 'data_offsets' to be [begin, end], got ", value.type_name());
  const auto begin = natural(value[0]);
  const auto end = natural(value[1]);
  check<CheckpointError>(begin && end && *begin <= *end, where,
                         ": expected 0 <= begin <= end in 'data_offsets', got ", printable(dump_json(value)));
  check<CheckpointError>(*end <= data_bytes, where, ": 'data_offsets' end at ", *end, ", but the file holds ",
                         data_bytes, " bytes of tensors; it is truncated, fetch or write it again");
  return {*begin, *end};
}

Entry parse_entry(const std::string& file, const std::string& name, const Json& value,
                  std::uint64_t data_bytes) {
  const std::string where = concat(file, ": tensor ", printable(name));
  check<CheckpointError>(value.is_object(), where, ": expected an object, got ", value.type_name());
  for (const auto& [key, unused] : value.items()) {
    check<CheckpointError>(key == "dtype" || key == "shape" || key == "data_offsets", where,
                           ": unknown key '", printable(key), "'; expected dtype, shape, data_offsets");
  }
  check<CheckpointError>(value.size() == 3, where, ": expected the keys dtype, shape, data_offsets");

  Entry entry{{name, parse_dtype(where, value["dtype"]), parse_shape(where, value["shape"])},
              parse_range(where, value["data_offsets"], data_bytes)};
  std::int64_t size = 0;
  try {
    size = entry.info.nbytes();
  } catch (const CheckpointError& error) {
    throw CheckpointError(concat(file, ": ", error.what()));
  }
  check<CheckpointError>(static_cast<std::uint64_t>(size) == entry.range.end - entry.range.begin, where,
                         ": shape ", shape_text(entry.info.shape), " of ", dtype_name(entry.info.dtype),
                         " takes ", size, " bytes, 'data_offsets' give ",
                         entry.range.end - entry.range.begin);
  return entry;
}

std::map<std::string, std::string> parse_metadata(const std::string& file, const Json& value) {
  check<CheckpointError>(value.is_object(), file,
                         ": expected '__metadata__' to be an object of strings, got ", value.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, item] : value.items()) {
    check<CheckpointError>(item.is_string(), file, ": expected '__metadata__.", printable(key),
                           "' to be a string, got ", item.type_name());
    metadata[key] = item.get<std::string>();
  }
  return metadata;
}

// The ranges must follow each other without gap or overlap and end with the file.
void check_tiling(const std::string& file, const std::vector<Entry>& sorted, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const Entry& entry : sorted) {
    check<CheckpointError>(
        entry.range.begin == end, file, ": tensor ", printable(entry.info.name), ": begins at ",
        entry.range.begin, ", expected ", end,
        entry.range.begin < end ? "; it overlaps the tensor before it" : "; bytes are left out");
    end = entry.range.end;
  }
  check<CheckpointError>(end == data_bytes, file, ": tensors take ", end, " bytes, the file holds ",
                         data_bytes, "; it is garbled, fetch or write it again");
}

}  // namespace

SafetensorsFile::SafetensorsFile(const fs::path& path) : path_(path), file_(map_model_file(path)) {
  const std::string file = path.string();
  const std::string_view text = header_text(path, file_.bytes());
  const std::uint64_t data_bytes = file_.bytes().size() - kLengthBytes - text.size();
  const Json header = parse_json<CheckpointError>(text, file + " (header)");
  check<CheckpointError>(header.is_object(), file, ": expected the header to be an object, got ",
                         header.type_name());

  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      metadata_ = parse_metadata(file, value);
    } else {
      entries.push_back(parse_entry(file, name, value, data_bytes));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.range.begin, a.range.end) < std::pair(b.range.begin, b.range.end);
  });
  check_tiling(file, entries, data_bytes);

  const auto data = file_.bytes().subspan(kLengthBytes + text.size());
  tensors_.reserve(entries.size());
  for (Entry& entry : entries) {
    tensors_.push_back(std::move(entry.info));
    bytes_.push_back(data.subspan(entry.range.begin, entry.range.end - entry.range.begin));
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::span<const std::byte> SafetensorsFile::bytes(std::string_view name) const {
  const auto found = index_.find(name);
  check<CheckpointError>(found != index_.end(), path_.string(), ": has no tensor ", name);
  return bytes_[found->second];
}

}  // namespace loongforge
