"""Videos against PyAV (FFmpeg 8, where ours may be FFmpeg 5), the choice of frames against transformers."""

import json
from fractions import Fraction

import av
import numpy

import probe

probe.load_torchvision()
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor  # noqa: E402
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor  # noqa: E402
from transformers.video_utils import VideoMetadata  # noqa: E402

CLIPS = (
    ("mp4", "libx264", "yuv420p"), ("mkv", "libx264", "yuv444p"), ("mp4", "mpeg4", "yuv420p"), ("avi", "mjpeg", "yuvj422p"),
    ("webm", "libvpx-vp9", "yuv420p"), ("mkv", "ffv1", "bgr0"), ("ts", "mpeg2video", "yuv420p"),
)  # fmt: skip


def clip(rng, path, kind, codec, pixel_format, frames=23, size=(98, 130), rate=Fraction(25), grey=False, **tags):
    """A moving picture, encoded by PyAV."""
    wide = probe.picture(rng, size[0], size[1] + 3 * frames)
    if grey:
        wide[...] = wide[..., :1]
    with av.open(str(path), "w", format={"mkv": "matroska", "ts": "mpegts"}.get(kind, kind)) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width, stream.pix_fmt = *size, pixel_format
        for name, value in tags.items():
            setattr(stream.codec_context, name, value)
        for i in range(frames):
            frame = av.VideoFrame.from_ndarray(numpy.ascontiguousarray(wide[:, 3 * i : 3 * i + size[1]]))
            container.mux(stream.encode(frame.reformat(format=pixel_format)))
        container.mux(stream.encode())


class VideoTest(probe.FolderTest):
    def ours(self, path, *indices):
        frames, fps, height, width = probe.run("video", path, self.folder / "out", *indices).split()
        pixels = numpy.fromfile(self.folder / "out", numpy.uint8).reshape(-1, int(height), int(width), 3)
        return int(frames), float(fps), pixels

    def compare(self, path, most=0):
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            stated, rate = stream.frames, float(stream.average_rate)
            theirs = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        frames, fps, pixels = self.ours(path)
        self.assertIn(stated, (0, frames))
        self.assertEqual((frames, fps), (len(theirs), rate))
        difference = numpy.abs(pixels.astype(int) - numpy.stack(theirs).astype(int))
        self.assertLessEqual(difference.max(), most)
        some = [0, frames // 2, frames - 1]
        numpy.testing.assert_array_equal(self.ours(path, *some)[2], pixels[some])

    def test_clips(self):
        for kind, codec, pixel_format in CLIPS:
            for size in ((98, 130), (64, 66)):
                path = self.folder / f"{codec}-{pixel_format}-{size[1]}.{kind}"
                with self.subTest(path=path.name):
                    clip(self.rng, path, kind, codec, pixel_format, size=size)
                    self.compare(path)

    def test_matrix_and_range(self):
        for space in (1, 5, 6, 9):
            for full in (1, 2):
                path = self.folder / f"space{space}-range{full}.mp4"
                with self.subTest(space=space, full=full):
                    clip(self.rng, path, "mp4", "libx264", "yuv420p", colorspace=space, color_range=full)
                    self.compare(path)

    def test_ten_bits(self):
        """Two levels apart without colours; with them the versions of FFmpeg interpolate the colours differently."""
        path = self.folder / "a.mov"
        clip(self.rng, path, "mov", "libx264", "yuv420p10le", grey=True)
        self.compare(path, 2)

    def test_the_choice_of_frames(self):
        cases, expected = [], []
        while len(cases) < 4000:
            frames = int(self.rng.choice([self.rng.integers(2, 60), self.rng.integers(60, 4000)]))
            fps, wanted = float(self.rng.choice([10, 23.976, 24, 25, 29.97, 30, 60])), float(self.rng.choice([0.5, 1, 2, 4]))
            low, high = int(self.rng.choice([2, 4, 8])), int(self.rng.choice([16, 64, 768]))
            to_last = bool(self.rng.integers(2))
            processor = (Qwen3VLVideoProcessor if to_last else Qwen2VLVideoProcessor)(min_frames=low, max_frames=high)
            metadata = VideoMetadata(total_num_frames=frames, fps=fps)
            cases.append([frames, fps, wanted, low, high, to_last])
            # Their floating-point range sometimes runs on to the frame behind the last.
            expected.append([i for i in processor.sample_frames(metadata, fps=wanted).tolist() if i < frames])
        (self.folder / "cases.json").write_text(json.dumps(cases))
        ours = [json.loads(line) for line in probe.run("sample", self.folder / "cases.json").splitlines()]
        for case, mine, theirs in zip(cases, ours, expected, strict=True):
            self.assertEqual(mine, theirs, case)

    def test_damaged_files_are_refused(self):
        path, broken = self.folder / "a.mp4", self.folder / "broken.mp4"
        # What is left of a Matroska file is a shorter video.
        cuts = {("mp4", "libx264"): (0, 0.01, 0.5, 0.99), ("avi", "mpeg4"): (0, 0.01, 0.5, 0.9), ("mkv", "mpeg4"): (0, 0.01)}
        for (kind, codec), parts in cuts.items():
            clip(self.rng, path, kind, codec, "yuv420p")
            data = path.read_bytes()
            for part in parts:
                with self.subTest(kind=kind, part=part):
                    broken.write_bytes(data[: int(len(data) * part)])
                    self.assertIn(str(broken), probe.refused("video", broken, self.folder / "out"))

    def test_a_file_without_a_video_is_refused(self):
        path = self.folder / "sound.mp4"
        with av.open(str(path), "w") as container:
            stream = container.add_stream("aac", rate=16000)
            frame = av.AudioFrame.from_ndarray(numpy.zeros((1, 16000), numpy.float32), format="fltp", layout="mono")
            frame.sample_rate = 16000
            container.mux(stream.encode(frame))
            container.mux(stream.encode())
        self.assertIn("without a video stream", probe.refused("video", path, self.folder / "out"))

    def test_playlists_and_pictures_are_refused(self):
        path = self.folder / "list.m3u8"
        path.write_text("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n")
        self.assertIn("expected a video", probe.refused("video", path, self.folder / "out"))


if __name__ == "__main__":
    probe.main()
