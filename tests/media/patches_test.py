"""Rows of patches against the image and video processors of transformers, equal bit for bit."""

import json

import numpy
import torch
from PIL import Image

import probe

torchvision = probe.load_torchvision()
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil  # noqa: E402
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor  # noqa: E402
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor  # noqa: E402
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor  # noqa: E402
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil  # noqa: E402
from transformers.models.siglip.image_processing_siglip import SiglipImageProcessor  # noqa: E402

QWEN3 = {"patch_size": 16, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}


class PatchesTest(probe.FolderTest):
    def ours(self, frames, config):
        (self.folder / "config.json").write_text(json.dumps(config))
        frames.tofile(self.folder / "in")
        _, height, width, _ = frames.shape
        line = probe.run("patches", self.folder / "config.json", self.folder / "in", height, width, self.folder / "out")
        t, h, w, row = map(int, line.split())
        return [t, h, w], numpy.fromfile(self.folder / "out", numpy.float32).reshape(t * h * w, row)

    def compare(self, frames, config, processed, kind):
        grid, rows = self.ours(frames, config)
        names = ("pixel_values", "image_grid_thw") if kind == "image" else ("pixel_values_videos", "video_grid_thw")
        self.assertEqual(grid, processed[names[1]][0].tolist())
        numpy.testing.assert_array_equal(rows, processed[names[0]].numpy())

    def pixels(self, frames=1, limit=700):
        height, width = (int(n) for n in self.rng.integers(30, limit, 2))
        return numpy.stack([probe.picture(self.rng, height, width) for _ in range(frames)])

    def test_pictures(self):
        for processor, backend in ((Qwen2VLImageProcessor, "torchvision"), (Qwen2VLImageProcessorPil, "pillow")):
            for number in range(16):
                frames = self.pixels()
                low = int(self.rng.choice([3136, 100000]))
                config = {"min_pixels": low, "max_pixels": low + 200000}
                switches = {"do_rescale": number % 4 != 2, "do_normalize": number % 4 != 3}
                if number % 2:
                    config |= QWEN3
                with self.subTest(backend=backend, number=number):
                    processed = processor(**config)(Image.fromarray(frames[0]), return_tensors="pt", **switches)
                    self.compare(frames, config | switches | {"backend": backend}, processed, "image")

    def test_pictures_of_one_size(self):
        side = 16
        for processor, backend in ((SiglipImageProcessor, "torchvision"), (SiglipImageProcessorPil, "pillow")):
            for height, width in ((224, 224), (57, 130)):
                frames, size = self.pixels(), {"height": height, "width": width}
                config = QWEN3 | {"temporal_patch_size": 1, "merge_size": 1, "size": size, "backend": backend}
                with self.subTest(backend=backend, size=size):
                    grid, rows = self.ours(frames, config)
                    _, h, w = grid
                    self.assertEqual(grid, [1, height // side, width // side])
                    processed = processor(size=size)(Image.fromarray(frames[0]), return_tensors="pt")
                    whole = processed["pixel_values"][0][:, :h * side, :w * side]  # as the convolution reads it
                    theirs = whole.reshape(3, h, side, w, side).permute(1, 3, 0, 2, 4).reshape(h * w, -1)
                    numpy.testing.assert_array_equal(rows, theirs.numpy())

    def test_videos(self):
        for count in (1, 2, 5, 8):
            frames = self.pixels(count, 400)
            video = torch.from_numpy(frames).permute(0, 3, 1, 2)
            size = {"shortest_edge": 20000, "longest_edge": 120000}
            limits = {"min_pixels": 20000, "max_pixels": 120000}
            with self.subTest(model="qwen2", count=count):
                processed = Qwen2VLVideoProcessor(size=size)([video], return_tensors="pt", cap_pixels_per_frame=False)
                self.compare(frames, limits, processed, "video")
            if count > 1:
                with self.subTest(model="qwen3", count=count):
                    processed = Qwen3VLVideoProcessor(size=size, do_sample_frames=False)(
                        [video], return_tensors="pt", cap_pixels_per_frame=False
                    )
                    self.compare(frames, limits | QWEN3 | {"count_all_frames": True}, processed, "video")


if __name__ == "__main__":
    probe.main()
