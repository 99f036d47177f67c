"""Decoding against Pillow: ImageOps.exif_transpose(Image.open(f)).convert("RGB"), every pixel equal."""

import io
import struct
import zlib

import numpy
from PIL import Image, ImageOps

import probe


def png(width, height, depth, color, rows, *chunks):
    """A PNG made by hand, for kinds that Pillow does not write."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


class ImageTest(probe.FolderTest):
    def ours(self, path):
        height, width = map(int, probe.run("decode", path, self.folder / "out").split())
        return numpy.fromfile(self.folder / "out", numpy.uint8).reshape(height, width, 3)

    def compare(self, data, name):
        path = self.folder / name
        path.write_bytes(data)
        with Image.open(path) as image:
            theirs = numpy.asarray(ImageOps.exif_transpose(image).convert("RGB"))
        numpy.testing.assert_array_equal(self.ours(path), theirs, name)

    def encoded(self, image, kind, **options):
        out = io.BytesIO()
        image.save(out, kind, **options)
        return out.getvalue()

    def image(self, mode="RGB", size=(61, 83)):
        rgb = Image.fromarray(probe.picture(self.rng, *size))
        if mode in ("LA", "RGBA"):
            rgb.putalpha(Image.fromarray(probe.picture(self.rng, *size)).convert("L"))
        return rgb.convert(mode)

    def test_jpeg(self):
        for mode in ("L", "RGB", "CMYK"):
            for subsampling in ("4:4:4", "4:2:2", "4:2:0", "4:1:1"):
                for progressive in (False, True):
                    for size in ((61, 83), (16, 16), (1, 1), (5, 129)):
                        with self.subTest(mode=mode, subsampling=subsampling, progressive=progressive, size=size):
                            data = self.encoded(self.image(mode, size), "JPEG", quality=85, subsampling=subsampling, progressive=progressive)
                            self.compare(data, "a.jpg")

    def test_adobe_jpeg(self):
        """YCCK, and RGB without a colour transform, by the transform byte of the Adobe marker."""
        for mode in ("CMYK", "RGB"):
            for transform in (0, 1, 2):
                data = self.encoded(self.image(mode), "JPEG", quality=95, subsampling="4:4:4")
                marker = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0" + bytes([transform])
                start = data.find(b"\xff\xee\0\x0eAdobe")
                plain = data[:2] + data[20:] if start < 0 else data[:start] + data[start + 16 :]
                with self.subTest(mode=mode, transform=transform):
                    self.compare(plain[:2] + marker + plain[2:], "adobe.jpg")
                    self.compare(plain, "plain.jpg")

    def test_png_modes(self):
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            image = self.image("RGB" if mode == "I;16" else mode)
            if mode == "I;16":
                image = Image.fromarray(self.rng.integers(0, 700, (61, 83), numpy.uint16))
            with self.subTest(mode=mode):
                self.compare(self.encoded(image, "PNG"), "a.png")
                transparency = {"P": 3, "L": 7, "RGB": (1, 2, 3)}.get(mode)
                if transparency is not None:
                    self.compare(self.encoded(image, "PNG", transparency=transparency), "a.png")

    def test_png_depths(self):
        for color, channels, depths in ((0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (1, 2, 4, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))):
            for depth in depths:
                rows = [self.rng.bytes((37 * channels * depth + 7) // 8) for _ in range(19)]
                palette = [(b"PLTE", self.rng.bytes(3 << depth)), (b"tRNS", self.rng.bytes(2))] if color == 3 else []
                with self.subTest(color=color, depth=depth):
                    self.compare(png(37, 19, depth, color, rows, *palette), "a.png")

    def test_interlaced_png(self):
        """The seven passes of Adam7, written by hand."""
        pixels = probe.picture(self.rng, 21, 30)
        passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
        rows = [row.tobytes() for y, x, dy, dx in passes for row in pixels[y::dy, x::dx]]
        data = bytearray(png(30, 21, 8, 2, rows))
        data[28] = 1
        data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
        self.compare(bytes(data), "a.png")
        numpy.testing.assert_array_equal(self.ours(self.folder / "a.png"), pixels)

    def test_webp(self):
        for mode in ("RGB", "RGBA"):
            for options in ({"lossless": True}, {"lossless": True, "exact": True}, {"quality": 70}, {"quality": 95, "method": 6}):
                for size in ((61, 83), (1, 1)):
                    with self.subTest(mode=mode, size=size, **options):
                        self.compare(self.encoded(self.image(mode, size), "WEBP", **options), "a.webp")

    def test_the_first_frame_of_an_animation(self):
        for kind in ("WEBP", "PNG"):
            frames = [self.image("RGBA", (40, 30)) for _ in range(3)]
            data = self.encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)
            with self.subTest(kind=kind):
                self.compare(data, "a." + kind.lower())

    def test_orientation(self):
        for kind in ("JPEG", "PNG", "WEBP"):
            for orientation in range(10):
                for endian in "<>":
                    exif = Image.Exif()
                    exif.endian = endian
                    exif[0x010F] = "maker"
                    exif[0x0112] = orientation
                    with self.subTest(kind=kind, orientation=orientation, endian=endian):
                        self.compare(self.encoded(self.image(size=(20, 31)), kind, exif=exif), "a." + kind.lower())

    def test_names_do_not_decide(self):
        self.compare(self.encoded(self.image(), "PNG"), "a.jpg")

    def test_other_kinds_are_refused(self):
        for kind, word in (("GIF", "GIF"), ("BMP", "BMP"), ("TIFF", "TIFF"), ("AVIF", "AVIF"), ("JPEG2000", "JPEG 2000")):
            with self.subTest(kind=kind):
                path = self.folder / "a.jpg"
                path.write_bytes(self.encoded(self.image(), kind))
                self.assertIn(word, probe.refused("decode", path, self.folder / "out"))

    def test_every_truncation_is_refused(self):
        for kind in ("JPEG", "PNG", "WEBP"):
            data = self.encoded(self.image(), kind)
            path = self.folder / "a"
            for size in (0, 1, 3, 11, 12, 100, len(data) // 2, len(data) - 20):
                path.write_bytes(data[:size])
                with self.subTest(kind=kind, size=size):
                    self.assertIn(str(path), probe.refused("decode", path, self.folder / "out"))

    def test_a_bomb_is_refused(self):
        path = self.folder / "a.png"
        path.write_bytes(png(60000, 60000, 8, 2, [b"\0"]))
        self.assertIn("60000 rows of 60000", probe.refused("decode", path, self.folder / "out"))


if __name__ == "__main__":
    probe.main()
