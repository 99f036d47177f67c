"""safetensors both ways against the safetensors package."""

import json
import struct
import tempfile
import unittest
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import probe

TYPES = [
    torch.bool, torch.uint8, torch.int8, torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.uint16,
    torch.float16, torch.bfloat16, torch.int32, torch.uint32, torch.float32, torch.float64, torch.int64,
    torch.uint64, torch.complex64, torch.float8_e8m0fnu, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
]  # fmt: skip


def tensors():
    """One tensor a type with random bytes (bool: 0 and 1), odd sizes, a scalar and an empty one."""
    generator = torch.Generator().manual_seed(3)
    made = {}
    for i, dtype in enumerate(TYPES):
        if dtype == torch.bool:
            made["bool"] = torch.randint(0, 2, (7, 3), generator=generator).bool()
            continue
        size = torch.empty(0, dtype=dtype).element_size()
        data = torch.randint(0, 256, (2 * i + 1, 3 * size), generator=generator, dtype=torch.uint8)
        made[str(dtype)] = data.view(dtype)
    made["scalar"] = torch.tensor(2.5)
    made["empty"] = torch.zeros(0, 4)
    return made


def as_bytes(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)


class SafetensorsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tensors = tensors()
        self.path = self.folder / "theirs.safetensors"
        save_file(self.tensors, self.path, metadata={"format": "pt", "note": "ü \"quoted\""})

    def check_same(self, loaded):
        self.assertEqual(sorted(loaded), sorted(self.tensors))
        for name, tensor in self.tensors.items():
            self.assertEqual((loaded[name].dtype, loaded[name].shape), (tensor.dtype, tensor.shape), name)
            self.assertTrue(torch.equal(as_bytes(loaded[name]), as_bytes(tensor)), name)

    def test_what_we_copy_loads_the_same(self):
        out = self.folder / "ours.safetensors"
        probe.run("copy-safetensors", self.path, out)
        self.check_same(load_file(out))
        with safe_open(out, "pt") as file:
            self.assertEqual(file.metadata(), {"format": "pt", "note": "ü \"quoted\""})

    def test_shards_load_and_come_back(self):
        shards = self.folder / "shards"
        shards.mkdir()
        probe.run("shard-safetensors", self.path, shards, 500)
        index = json.loads((shards / "model.safetensors.index.json").read_text())
        self.assertEqual(index["metadata"]["total_size"], sum(t.nbytes for t in self.tensors.values()))
        files = sorted(set(index["weight_map"].values()))
        self.assertGreater(len(files), 2)
        self.assertEqual(files, sorted(p.name for p in shards.glob("*.safetensors")))
        loaded = {}
        for file in files:
            part = load_file(shards / file)
            self.assertEqual({index["weight_map"][name] for name in part}, {file})
            loaded |= part
        self.check_same(loaded)
        probe.run("copy-safetensors", shards, self.folder / "back.safetensors")
        self.check_same(load_file(self.folder / "back.safetensors"))

    def test_sub_byte_types_pass_through(self):
        header = {
            "four": {"dtype": "F4", "shape": [2, 4], "data_offsets": [0, 4]},
            "six": {"dtype": "F6_E2M3", "shape": [4], "data_offsets": [4, 7]},
            "sixth": {"dtype": "F6_E3M2", "shape": [4], "data_offsets": [7, 10]},
        }
        text = json.dumps(header).encode()
        path, out = self.folder / "sub.safetensors", self.folder / "sub-ours.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(range(10)))
        probe.run("copy-safetensors", path, out)
        with safe_open(out, "pt") as file:
            self.assertEqual(sorted(file.keys()), ["four", "six", "sixth"])
            self.assertEqual(file.get_slice("six").get_dtype(), "F6_E2M3")

    def test_both_refuse_the_same_hostile_headers(self):
        good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        bad = {
            "unknown dtype": good | {"dtype": "F33"},
            "size": good | {"shape": [3]},
            "negative": good | {"shape": [-2]},
            "overflow": good | {"shape": [2**33, 2**33]},
            "outside": good | {"shape": [4], "data_offsets": [0, 16]},
            "reversed": good | {"data_offsets": [8, 0]},
            "gap": good | {"shape": [1], "data_offsets": [4, 8]},
        }
        for what, entry in bad.items():
            with self.subTest(what):
                text = json.dumps({"t": entry}).encode()
                path = self.folder / "bad.safetensors"
                path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
                with self.assertRaises(Exception):
                    load_file(path)
                code, message = probe.refused("copy-safetensors", path, self.folder / "never.safetensors")
                self.assertEqual(code, 4)
                self.assertIn("tensor t", message)
                self.assertFalse((self.folder / "never.safetensors").exists())


if __name__ == "__main__":
    probe.main()
