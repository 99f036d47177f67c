#include "loongforge/formats/tar.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "loongforge/formats/printable.h"

namespace loongforge {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMaxName = 1 << 20;  // of the content of an extended header

// Fields of a header: position and length.
struct Field {
  std::size_t at, length;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kChecksum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};
constexpr std::size_t kType = 156;
constexpr std::uint64_t kMostOctal = 077777777777;    // eleven digits
constexpr std::string_view kUstar("ustar\00000", 8);  // a zero byte, then the version "00"

std::string_view chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

std::string_view text_of(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.length);
  return text.substr(0, text.find('\0'));
}

// Octal digits between blanks or zeros, or GNU's big-endian number behind a byte 0x80.
std::optional<std::uint64_t> number_of(std::string_view block, Field field) {
  std::string_view text = block.substr(field.at, field.length);
  if (text[0] == '\x80') {
    std::uint64_t value = 0;
    for (const char c : text.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  const std::size_t first = text.find_first_not_of(' ');
  text = first == text.npos ? "" : text.substr(first);
  text = text.substr(0, text.find_first_of(std::string_view(" \0", 2)));
  if (text.empty()) return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The sum of all bytes, those of the checksum itself taken as blanks; some old programs summed signed ones.
bool checksum_fits(std::string_view block) {
  std::int64_t plain = 0, with_signs = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksum.at && i < kChecksum.at + kChecksum.length;
    plain += own ? ' ' : static_cast<unsigned char>(block[i]);
    with_signs += own ? ' ' : static_cast<signed char>(block[i]);
  }
  const auto stated = number_of(block, kChecksum);
  return stated && (std::cmp_equal(*stated, plain) || std::cmp_equal(*stated, with_signs));
}

// What extended headers say of the member behind them.
struct Extended {
  std::string name;
  std::optional<std::uint64_t> size;
  bool sparse = false;
};

// Records "LENGTH KEY=VALUE\n"; false where they are garbled.
bool read_pax(std::string_view text, Extended& out) {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 3 || text[digits] != ' ' ||
        text[length - 1] != '\n') {
      return false;
    }
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == record.npos) return false;
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") out.name = value;
    if (key.starts_with("GNU.sparse")) out.sparse = true;
    if (key == "size") {
      std::uint64_t size = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), size);
      if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size()) return false;
      out.size = size;
    }
    text.remove_prefix(length);
  }
  return true;
}

// A record's length counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (length != rest + std::to_string(length).size()) length = rest + std::to_string(length).size();
  return concat(length, ' ', key, '=', value, '\n');
}

std::string name_of(std::string_view block) {
  std::string name(text_of(block, kName));
  const std::string_view prefix = text_of(block, kPrefix);
  // GNU's magic differs, and other things stand in its prefix.
  const bool ustar = block.substr(kMagic.at, 6) == kUstar.substr(0, 6);
  return ustar && !prefix.empty() ? std::string(prefix) + "/" + name : name;
}

// What stands in the way of reading a member of this type; null for those that TarFile reads or passes over.
const char* unsupported(char type) {
  switch (type) {
    case '0':
    case '7':
    case '\0':
    case '5':  // a folder
    case 'V':  // a label
    case 'D':  // GNU's list of a folder
    case 'g':  // settings for all members
      return nullptr;
    case '1':
      return "a hard link";
    case '2':
      return "a symbolic link";
    case 'S':
      return "a sparse file";
    default:
      return "a device, a pipe or of an unknown type";
  }
}

bool is_file(char type, std::string_view name) {
  return (type == '0' || type == '7' || type == '\0') && !name.ends_with('/');
}

struct Header {
  std::string_view block;
  std::string where;  // for messages
  char type = 0;
  std::uint64_t size = 0;  // of the content behind it
};

// Nothing at the mark of the end.
std::optional<Header> header_at(const TarFile& tar, std::uint64_t at) {
  Header header{.where = concat(tar.path().string(), ": header at ", at)};
  check<DataError>(
      at <= tar.size() && tar.size() - at >= kBlock, header.where,
      ": expected a member or the mark of the end, got the end of the file; it is truncated, fetch or "
      "write it again");
  const auto bytes = tar.bytes(at, kBlock);
  if (all_zero(bytes)) return std::nullopt;
  header.block = chars(bytes);
  check<DataError>(checksum_fits(header.block), header.where,
                   ": wrong checksum; the file is garbled or no tar archive");
  header.type = header.block[kType];
  const auto size = number_of(header.block, kSize);
  check<DataError>(size.has_value(), header.where, ": unreadable size; the file is garbled");
  header.size = header.type == '5' ? 0 : *size;
  return header;
}

// Takes in what an extended header says; false for other headers.
bool extend(const Header& header, std::string_view content, Extended& out) {
  if (header.type != 'L' && header.type != 'K' && header.type != 'x') return false;
  check<DataError>(content.size() <= kMaxName, header.where, ": extended header of ", content.size(),
                   " bytes; the file is garbled");
  if (header.type == 'L') out.name = content.substr(0, content.find('\0'));
  check<DataError>(header.type != 'x' || read_pax(content, out), header.where, ": garbled pax header");
  return true;
}

}  // namespace

TarFile::TarFile(const fs::path& path) : file_(path) {
  const std::string_view start = chars(file_.bytes()).substr(0, 4);
  check<DataError>(!start.empty(), path.string(),
                   ": is empty, expected a tar archive; fetch or write it again");
  const bool packed = start.starts_with("\x1f\x8b") || start == "\x28\xb5\x2f\xfd" ||
                      start.starts_with("BZh") || start == "\3757zX";
  check<DataError>(!packed, path.string(),
                   ": is compressed, expected a plain tar archive, whose samples can be reached "
                   "by offset; unpack it with gunzip, unzstd, bunzip2 or unxz");
}

std::span<const std::byte> TarFile::bytes(std::uint64_t offset, std::uint64_t size) const {
  const auto all = file_.bytes();
  check<DataError>(offset <= all.size() && size <= all.size() - offset, path().string(), ": ", size,
                   " bytes at ", offset, " pass the end of the file at ", all.size(),
                   "; it is truncated or garbled, fetch or write it again");
  return all.subspan(offset, size);
}

bool TarFile::ends_at(std::uint64_t offset) const {
  return offset % kBlock == 0 && offset <= size() && size() - offset >= kBlock &&
         all_zero(bytes(offset, kBlock));
}

std::optional<TarMember> TarFile::member_at(std::uint64_t offset) const {
  Extended extended;
  TarMember member{.begin = offset, .end = offset};
  while (const auto header = header_at(*this, member.end)) {
    member.offset = member.end + kBlock;
    member.size = extended.size.value_or(header->size);
    const std::string_view content = chars(bytes(member.offset, member.size));
    member.end = member.offset + (member.size + kBlock - 1) / kBlock * kBlock;
    if (extend(*header, content, extended)) continue;
    member.name = extended.name.empty() ? name_of(header->block) : extended.name;
    const char* odd = extended.sparse ? "a sparse file" : unsupported(header->type);
    check<DataError>(odd == nullptr, header->where, ": '", printable(member.name), "' is ",
                     odd == nullptr ? "" : odd, ", expected plain files; write the archive without it");
    if (is_file(header->type, member.name)) return member;
    member.begin = member.end;
    extended = {};
  }
  const auto rest = bytes(member.end, size() - member.end);
  check<DataError>(member.begin == member.end && all_zero(rest), path().string(), ": archive ends at ",
                   member.end, ", but more stands there; unpack joined archives and write them as one");
  return std::nullopt;
}

std::uint64_t TarWriter::add(std::string_view name, std::span<const std::byte> content) {
  check<DataError>(!name.empty() && name.find('\0') == name.npos,
                   "a tar member needs a name without zero bytes");
  const std::uint64_t begin = file_.size();
  if (name.size() > kName.length || content.size() > kMostOctal) {
    std::string records = pax_record("path", name);
    if (content.size() > kMostOctal) records += pax_record("size", std::to_string(content.size()));
    header("pax", 'x', records.size());
    file_.write(records);
    pad();
  }
  header(name, '0', content.size());
  file_.write(content);
  pad();
  return begin;
}

void TarWriter::commit() {
  file_.write(std::string(2 * kBlock, '\0'));
  file_.commit();
}

void TarWriter::header(std::string_view name, char type, std::uint64_t size) {
  std::string block(kBlock, '\0');
  const auto put = [&](Field field, std::string_view text) {
    block.replace(field.at, std::min(field.length, text.size()), text.substr(0, field.length));
  };
  const auto octal = [&](Field field, std::uint64_t number) {
    for (std::size_t i = field.length - 1; i-- > 0; number /= 8) {
      block[field.at + i] = static_cast<char>('0' + number % 8);
    }
  };
  put(kName, name);
  octal(kMode, 0644);
  octal(kOwner, 0);
  octal(kGroup, 0);
  octal(kSize, size > kMostOctal ? 0 : size);
  octal(kTime, 0);
  put(kMagic, kUstar);
  block[kType] = type;
  put(kChecksum, "        ");
  std::uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  octal({kChecksum.at, kChecksum.length - 1}, sum);
  block[kChecksum.at + kChecksum.length - 2] = '\0';
  file_.write(block);
}

void TarWriter::pad() {
  file_.write(std::string((kBlock - file_.size() % kBlock) % kBlock, '\0'));
}

}  // namespace loongforge
