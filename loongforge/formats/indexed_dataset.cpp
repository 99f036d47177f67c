#include "loongforge/formats/indexed_dataset.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace loongforge {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr std::size_t kHeaderBytes = 9 + 8 + 1 + 8 + 8;

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
std::vector<T> load_array(std::span<const std::byte> bytes, std::size_t& offset, std::uint64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), bytes.data() + offset, values.size() * sizeof(T));
  offset += values.size() * sizeof(T);
  return values;
}

bool known_type(std::uint8_t code) {
  return (code >= 1 && code <= 5) || code == 8;
}

template <typename T>
void convert(const std::byte* in, std::span<std::int32_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, in + i * sizeof(T), sizeof value);
    out[i] = static_cast<std::int32_t>(value);
  }
}

fs::path with_suffix(fs::path prefix, const char* suffix) {
  const fs::path extension = prefix.extension();
  if (extension == ".bin" || extension == ".idx") prefix.replace_extension();
  prefix += suffix;
  return prefix;
}

}  // namespace

std::int64_t token_type_size(TokenType type) {
  switch (type) {
    case TokenType::kU8:
    case TokenType::kI8:
      return 1;
    case TokenType::kI16:
    case TokenType::kU16:
      return 2;
    case TokenType::kI32:
      return 4;
    case TokenType::kI64:
      return 8;
  }
  throw InternalError("token_type_size: unknown type");
}

TokenType token_type_for(std::int64_t vocab_size) {
  return vocab_size < 65500 ? TokenType::kU16 : TokenType::kI32;
}

fs::path indexed_bin_path(const fs::path& prefix) {
  return with_suffix(prefix, ".bin");
}
fs::path indexed_idx_path(const fs::path& prefix) {
  return with_suffix(prefix, ".idx");
}

IndexedDatasetReader::IndexedDatasetReader(const fs::path& prefix)
    : prefix_(prefix), idx_(indexed_idx_path(prefix)), bin_(indexed_bin_path(prefix)) {
  parse_index(idx_.path());
  check_ranges(idx_.path());
}

void IndexedDatasetReader::parse_index(const fs::path& idx_path) {
  const std::string file = idx_path.string();
  const auto bytes = idx_.bytes();
  const bool has_magic =
      bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  check<DataError>(has_magic, file, ": expected a Megatron index (it does not begin with 'MMIDIDX'); ",
                   "make it with `loongforge prepare`");
  check<DataError>(bytes.size() >= kHeaderBytes, file,
                   ": ends within its header; it is truncated, make it again");
  const auto version = load<std::uint64_t>(bytes, 9);
  check<DataError>(version == 1, file, ": expected version 1, got ", version);
  const auto code = load<std::uint8_t>(bytes, 17);
  check<DataError>(known_type(code), file, ": token type ", int{code},
                   " cannot be read; expected one of 1 uint8, 2 int8, 3 int16, 4 int32, 5 int64, 8 uint16");
  type_ = static_cast<TokenType>(code);

  const auto sequences = load<std::uint64_t>(bytes, 18);
  const auto documents = load<std::uint64_t>(bytes, 26);
  // Bounded first, so that the sum below cannot overflow.
  const std::uint64_t body = bytes.size() - kHeaderBytes;
  const bool fits = sequences <= body / 12 && documents <= body / 8;
  check<DataError>(fits && sequences * 12 + documents * 8 <= body, file, ": ", sequences, " sequences and ",
                   documents,
                   " document borders pass the end of the file; it is truncated or garbled, make it again");
  const std::uint64_t rest = body - sequences * 12 - documents * 8;
  check<DataError>(
      rest == 0, file, ": ", rest, " bytes follow the index",
      rest == sequences ? " (modes of a multimodal dataset, which are not read)" : "; it is garbled");
  std::size_t offset = kHeaderBytes;
  lengths_ = load_array<std::int32_t>(bytes, offset, sequences);
  pointers_ = load_array<std::int64_t>(bytes, offset, sequences);
  documents_ = load_array<std::int64_t>(bytes, offset, documents);
}

void IndexedDatasetReader::check_ranges(const fs::path& idx_path) {
  const std::string file = idx_path.string();
  const std::int64_t item = token_type_size(type_);
  const auto bin_bytes = static_cast<std::int64_t>(bin_.bytes().size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const std::int64_t length = lengths_[i], begin = pointers_[i];
    check<DataError>(length >= 0, file, ": sequence ", i, ": length ", length, " is negative");
    check<DataError>(begin >= 0 && begin % item == 0, file, ": sequence ", i, ": offset ", begin,
                     " is no multiple of ", item);
    check<DataError>(length * item <= bin_bytes && begin <= bin_bytes - length * item, bin_.path().string(),
                     ": sequence ", i, " ends at byte ",
                     static_cast<double>(begin) + static_cast<double>(length * item), ", but the file has ",
                     bin_bytes, "; it is truncated or of another index, make it again");
    end = std::max(end, begin + length * item);
    total_tokens_ += length;
  }
  check<DataError>(end == bin_bytes, bin_.path().string(), ": expected ", end,
                   " bytes as its index says, got ", bin_bytes,
                   "; the two files do not belong together, make them again");

  const auto count = static_cast<std::int64_t>(lengths_.size());
  check<DataError>(!documents_.empty() && documents_.front() == 0 && documents_.back() == count, file,
                   ": expected document borders from 0 to ", count, "; it is garbled, make it again");
  for (std::size_t i = 1; i < documents_.size(); ++i) {
    check<DataError>(documents_[i - 1] <= documents_[i], file, ": document border ", i, " goes back from ",
                     documents_[i - 1], " to ", documents_[i]);
  }
}

void IndexedDatasetReader::read_into(std::int64_t i, std::int64_t offset, std::span<std::int32_t> out) const {
  check(i >= 0 && i < size(), prefix_.string(), ": sequence ", i, " of ", size());
  const auto count = static_cast<std::int64_t>(out.size());
  check(offset >= 0 && offset <= length(i) && count <= length(i) - offset, prefix_.string(), ": sequence ", i,
        " has ", length(i), " tokens, asked for ", count, " from ", offset);
  if (out.empty()) return;
  const std::byte* in =
      bin_.bytes().data() + pointers_[static_cast<std::size_t>(i)] + offset * token_type_size(type_);
  switch (type_) {
    case TokenType::kU8:
      return convert<std::uint8_t>(in, out);
    case TokenType::kI8:
      return convert<std::int8_t>(in, out);
    case TokenType::kI16:
      return convert<std::int16_t>(in, out);
    case TokenType::kU16:
      return convert<std::uint16_t>(in, out);
    case TokenType::kI32:
      return convert<std::int32_t>(in, out);
    case TokenType::kI64:
      break;
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::int64_t value;
    std::memcpy(&value, in + k * sizeof value, sizeof value);
    check<DataError>(value >= std::numeric_limits<std::int32_t>::min() &&
                         value <= std::numeric_limits<std::int32_t>::max(),
                     bin_.path().string(), ": sequence ", i, ": id ", value, " does not fit 32 bits");
    out[k] = static_cast<std::int32_t>(value);
  }
}

std::vector<std::int32_t> IndexedDatasetReader::read(std::int64_t i, std::int64_t offset,
                                                     std::int64_t count) const {
  check(i >= 0 && i < size(), prefix_.string(), ": sequence ", i, " of ", size());
  if (count < 0) count = length(i) - offset;
  check(offset >= 0 && count >= 0 && offset <= length(i) && count <= length(i) - offset, prefix_.string(),
        ": sequence ", i, " has ", length(i), " tokens, asked for ", count, " from ", offset);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  read_into(i, offset, tokens);
  return tokens;
}

}  // namespace loongforge
