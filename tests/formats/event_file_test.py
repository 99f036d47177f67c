"""Event files read by the real TensorBoard."""

import json
import math
import struct
import tempfile
import unittest
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import STORE_EVERYTHING_SIZE_GUIDANCE, EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

import probe


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def points():
    made = [{"tag": "train/loss", "step": i, "wall": 1.7e9 + i / 8, "value": 4 / (1 + i)} for i in range(2000)]
    made += [{"tag": "lr", "step": 2**40, "wall": 1.7e9, "value": -1e-5}]
    made += [{"tag": "nothing", "step": 0, "wall": 1.7e9, "value": 0}]
    texts = ["", "Grüße, **bold** \u2603\nsecond line", "x" * 100000]
    made += [{"tag": "sample", "step": i, "wall": 1.7e9, "text": text} for i, text in enumerate(texts)]
    return made


class EventFileTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, made):
        lines = self.folder / "points.jsonl"
        lines.write_text("".join(json.dumps(point) + "\n" for point in made))
        probe.run("events", lines, self.folder / "tb")

    def load(self):
        accumulator = EventAccumulator(str(self.folder / "tb"), size_guidance=STORE_EVERYTHING_SIZE_GUIDANCE)
        accumulator.Reload()
        return accumulator

    def test_tensorboard_reads_scalars_and_texts(self):
        made = points()
        self.write(made)
        theirs = self.load()
        self.assertEqual(sorted(theirs.Tags()["scalars"]), ["lr", "nothing", "train/loss"])
        for tag in theirs.Tags()["scalars"]:
            expected = [(p["wall"], p["step"], float32(p["value"])) for p in made if p["tag"] == tag]
            self.assertEqual([(e.wall_time, e.step, e.value) for e in theirs.Scalars(tag)], expected)
        self.assertEqual(theirs.Tags()["tensors"], ["sample"])
        self.assertEqual(theirs.SummaryMetadata("sample").plugin_data.plugin_name, "text")
        texts = [e.tensor_proto.string_val[0].decode() for e in theirs.Tensors("sample")]
        self.assertEqual(texts, [p["text"] for p in made if p["tag"] == "sample"])

    def test_a_resumed_run_adds_to_the_curves(self):
        self.write([{"tag": "loss", "step": 1, "wall": 1.7e9, "value": 3}])
        self.write([{"tag": "loss", "step": 2, "wall": 1.7e9 + 1, "value": 2}])
        self.assertEqual(len(list((self.folder / "tb").iterdir())), 2)
        self.assertEqual([e.value for e in self.load().Scalars("loss")], [3.0, 2.0])

    def test_redone_steps_stand_once(self):
        self.write([{"tag": "loss", "step": i, "wall": 1.7e9 + i, "value": i} for i in range(1, 6)])
        self.write([{"restart": 4}] + [{"tag": "loss", "step": i, "wall": 1.7e9 + 10 + i, "value": -i} for i in (4, 5, 6)])
        self.assertEqual([(e.step, e.value) for e in self.load().Scalars("loss")],
                         [(1, 1), (2, 2), (3, 3), (4, -4), (5, -5), (6, -6)])

    def test_values_that_are_no_numbers_survive(self):
        self.write([{"tag": "loss", "step": 1, "wall": 1.7e9, "value": 1e300}])
        self.assertTrue(math.isinf(self.load().Scalars("loss")[0].value))

    def test_every_checksum_holds_and_the_version_comes_first(self):
        self.write(points())
        (path,) = (self.folder / "tb").iterdir()
        events = [Event.FromString(record) for record in RawEventFileLoader(str(path)).Load()]
        self.assertEqual(len(events), len(points()) + 1)
        self.assertEqual(events[0].file_version, "brain.Event:2")
        self.assertTrue(all(event.wall_time >= 1.7e9 for event in events))


if __name__ == "__main__":
    probe.main()
