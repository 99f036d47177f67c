// CRC-32C (Castagnoli, RFC 3720 appendix B.4) and the masked form of TFRecord files.
#pragma once

#include <cstdint>
#include <string_view>

namespace loongforge {

std::uint32_t crc32c(std::string_view bytes);
// TFRecord: the checksum rotated right by 15 bits plus 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace loongforge
