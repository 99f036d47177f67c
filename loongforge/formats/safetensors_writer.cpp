#include "loongforge/formats/safetensors_writer.h"

#include <algorithm>
#include <bit>

#include "loongforge/base/json.h"

namespace loongforge {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little endian");

// pwrite moves at most 2 GiB at once.
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

// "8 bytes length, JSON, blanks": the header of tensors laid out in the order of `infos`.
std::string header_bytes(const std::vector<TensorInfo>& infos,
                         const std::map<std::string, std::string>& metadata) {
  // Built as text because an ordered JSON object takes quadratic time to fill.
  std::string text = "{";
  if (!metadata.empty()) text += "\"__metadata__\":" + dump_json(Json(metadata)) + ",";
  std::uint64_t begin = 0;
  for (const TensorInfo& info : infos) {
    const std::uint64_t end = begin + static_cast<std::uint64_t>(info.nbytes());
    const Json value = {
        {"dtype", dtype_name(info.dtype)}, {"shape", info.shape}, {"data_offsets", {begin, end}}};
    text += dump_json(Json(info.name)) + ":" + dump_json(value) + ",";
    begin = end;
  }
  if (text.back() == ',') text.pop_back();
  text += "}";
  // The data begins at a multiple of 8 bytes.
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

std::vector<TensorInfo> by_falling_size(std::vector<TensorInfo> infos) {
  std::stable_sort(infos.begin(), infos.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return dtype_bits(a.dtype) > dtype_bits(b.dtype);
  });
  return infos;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const fs::path& path, std::vector<TensorInfo> infos,
                                     std::map<std::string, std::string> metadata)
    : path_(path), file_(path) {
  infos = by_falling_size(std::move(infos));
  const std::string header = header_bytes(infos, metadata);
  std::uint64_t offset = header.size();
  for (const TensorInfo& info : infos) {
    const auto size = static_cast<std::uint64_t>(info.nbytes());
    check(info.name != "__metadata__", path.string(), ": a tensor cannot be named __metadata__");
    check(slots_.try_emplace(info.name, Slot{offset, size}).second, path.string(), ": tensor ", info.name,
          " is declared twice");
    offset += size;
  }
  require_disk_space(fs::absolute(path).parent_path(), offset);
  total_ = offset;
  file_.write(header);
}

void SafetensorsWriter::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  // Tensors that come before their turn: fill up to their place, overwrite the filling later.
  static const std::vector<std::byte> zeros(1 << 20);
  while (file_.size() < offset) {
    const std::uint64_t gap = offset - file_.size();
    file_.write(std::span(zeros).first(static_cast<std::size_t>(std::min<std::uint64_t>(gap, zeros.size()))));
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    if (offset == file_.size()) {
      file_.write(piece);
    } else {
      file_.write_at(offset, piece);
    }
    offset += piece.size();
    bytes = bytes.subspan(piece.size());
  }
}

void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = slots_.find(std::string(name));
  check(found != slots_.end(), path_.string(), ": tensor ", name, " was not declared");
  Slot& slot = found->second;
  check(!slot.written, path_.string(), ": tensor ", name, " is written twice");
  check(bytes.size() == slot.size, path_.string(), ": tensor ", name, ": expected ", slot.size,
        " bytes, got ", bytes.size());
  put(slot.begin, bytes);
  slot.written = true;
}

void SafetensorsWriter::check_complete() const {
  for (const auto& [name, slot] : slots_)
    check(slot.written, path_.string(), ": tensor ", name, " was never written");
}

void SafetensorsWriter::commit() {
  check_complete();
  check(file_.size() == total_, path_.string(), ": expected ", total_, " bytes, wrote ", file_.size());
  file_.commit();
}

}  // namespace loongforge
