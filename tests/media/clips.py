"""Clips that the tests of several folders write and read."""

import av
import numpy
import torch


def frames_of(path):
    """Frames (T, C, H, W) of a clip as PyAV decodes them, and its rate."""
    with av.open(str(path)) as clip:
        stream = clip.streams.video[0]
        frames = numpy.stack([frame.to_ndarray(format="rgb24") for frame in clip.decode(stream)])
        return torch.from_numpy(frames).permute(0, 3, 1, 2), float(stream.average_rate)


def lossless_clip(path, frames, rate):
    with av.open(str(path), "w") as clip:
        stream = clip.add_stream("png", rate=rate)
        stream.height, stream.width, stream.pix_fmt = frames.shape[1], frames.shape[2], "rgb24"
        for frame in frames:
            clip.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        clip.mux(stream.encode())
