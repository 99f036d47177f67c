// Turning pictures upright.
#pragma once

#include <cstdint>
#include <span>

#include "loongforge/media/image.h"

namespace loongforge {

// Orientation 1 to 8 of an EXIF block (a TIFF structure, "Exif\0\0" before it or not); 1 when it names none
// or is garbled, as the picture itself may be sound.
int exif_orientation(std::span<const std::uint8_t> exif);

// The image as its EXIF orientation wants it shown: 2 mirrored, 3 turned by 180 degrees, 4 flipped, 5
// transposed, 6 turned clockwise, 7 transposed over the other diagonal, 8 turned counter-clockwise; others as
// it is.
Image upright(Image image, int orientation);
ImageSize upright(ImageSize size, int orientation);

}  // namespace loongforge
