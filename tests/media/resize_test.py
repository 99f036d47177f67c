"""Resizing, smart_resize and tiles against torchvision, Pillow, transformers, every pixel equal."""

import json
import math

import numpy
import torch
from PIL import Image

import probe

torchvision = probe.load_torchvision()
from torchvision.transforms.v2 import functional as tvF  # noqa: E402
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize  # noqa: E402
from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize as smart_resize_video  # noqa: E402

FILTERS = {"bilinear": (tvF.InterpolationMode.BILINEAR, Image.BILINEAR), "bicubic": (tvF.InterpolationMode.BICUBIC, Image.BICUBIC)}


def theirs(pixels, to, backend, name):
    if backend == "pillow":
        return numpy.asarray(Image.fromarray(pixels).resize((to[1], to[0]), FILTERS[name][1]))
    tensor = torch.from_numpy(pixels.copy()).permute(2, 0, 1)
    return tvF.resize(tensor, list(to), FILTERS[name][0], antialias=True).permute(1, 2, 0).numpy()


class ResizeTest(probe.FolderTest):
    def sizes(self):
        """Both ways on both sides, one side kept, sides of one pixel."""
        side = lambda: int(self.rng.choice([1, 2, 3, *self.rng.integers(4, 300, 12)]))  # noqa: E731
        for i in range(240):
            old = (side(), side())
            new = [side(), side()]
            if i % 6 < 2:
                new[i % 2] = old[i % 2]
            yield old, tuple(new)
        yield (700, 900), (280, 364)
        yield (37, 29), (980, 1204)

    def test_every_pixel(self):
        cases, expected = [], []
        for number, (old, new) in enumerate(self.sizes()):
            noise = number % 2 == 0
            pixels = self.rng.integers(0, 256, (*old, 3), numpy.uint8) if noise else probe.picture(self.rng, *old)
            file = self.folder / f"{number}.raw"
            pixels.tofile(file)
            for backend in ("torchvision", "pillow"):
                for name in FILTERS:
                    cases.append({"file": str(file), "size": old, "to": new, "filter": name, "backend": backend})
                    expected.append(theirs(pixels, new, backend, name))
        (self.folder / "cases.json").write_text(json.dumps(cases))
        probe.run("resize", self.folder / "cases.json", self.folder / "out")
        ours = numpy.fromfile(self.folder / "out", numpy.uint8)
        self.assertEqual(ours.size, sum(image.size for image in expected))
        for case, image in zip(cases, expected):
            mine, ours = ours[: image.size].reshape(image.shape), ours[image.size :]
            numpy.testing.assert_array_equal(mine, image, str(case))

    def test_smart_sizes(self):
        cases, expected = [], []
        for _ in range(3000):
            height, width = (int(n) for n in self.rng.integers(1, 3000, 2))
            factor = int(self.rng.choice([28, 32]))
            low = int(self.rng.integers(1, 300)) * 1000
            high = low + int(self.rng.integers(1, 3000)) * 1000
            frames = int(self.rng.choice([0, *self.rng.integers(2, 60, 3)]))
            try:
                if frames:
                    size = smart_resize_video(frames, height, width, 2, factor, low, high)
                else:
                    size = smart_resize(height, width, factor, low, high)
            except ValueError:
                continue
            cases.append([height, width, frames, 2, factor, low, high])
            expected.append(size)
        (self.folder / "cases.json").write_text(json.dumps(cases))
        lines = probe.run("smart-sizes", self.folder / "cases.json").splitlines()
        for case, line, size in zip(cases, lines, expected, strict=True):
            self.assertEqual(tuple(map(int, line.split())), size, case)
        (self.folder / "cases.json").write_text(json.dumps([[1, 201, 0, 2, 28, 3136, 1003520]]))
        self.assertIn("factor of at most 200", probe.refused("smart-sizes", self.folder / "cases.json"))

    def internvl_tiles(self, image, max_tiles):
        """The rule of OpenGVLab/InternVL, on Pillow."""
        width, height = image.size
        ratios = [(i, j) for n in range(1, max_tiles + 1) for i in range(1, n + 1) for j in range(1, n + 1) if i * j == n]
        best, distance = (1, 1), math.inf
        for i, j in ratios:
            there = abs(width / height - i / j)
            if there < distance or (there == distance and width * height > 0.5 * 448 * 448 * i * j):
                best, distance = (i, j), there
        whole = image.resize((448 * best[0], 448 * best[1]))
        tiles = [whole.crop((448 * i, 448 * j, 448 * i + 448, 448 * j + 448)) for j in range(best[1]) for i in range(best[0])]
        return tiles + ([image.resize((448, 448))] if len(tiles) > 1 else [])

    def test_tiles(self):
        for _ in range(12):
            height, width = (int(n) for n in self.rng.integers(20, 1200, 2))
            max_tiles = int(self.rng.choice([1, 6, 12]))
            pixels = probe.picture(self.rng, height, width)
            pixels.tofile(self.folder / "in")
            probe.run("tiles", self.folder / "in", height, width, max_tiles, self.folder / "out")
            expected = numpy.stack([numpy.asarray(tile) for tile in self.internvl_tiles(Image.fromarray(pixels), max_tiles)])
            ours = numpy.fromfile(self.folder / "out", numpy.uint8).reshape(-1, 448, 448, 3)
            numpy.testing.assert_array_equal(ours, expected, f"{height} x {width}, {max_tiles}")


if __name__ == "__main__":
    probe.main()
