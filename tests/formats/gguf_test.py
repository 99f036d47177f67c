"""GGUF reading and dequantisation against the gguf package, bit for bit."""

import json
import tempfile
import unittest
import warnings
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import load_file

import probe

PLAIN = [Type.F32, Type.F16, Type.BF16]
BLOCKS = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K]
ROWS, COLUMNS = 24, 1024


def quantized(rng, kind):
    """Bytes of a (ROWS, COLUMNS) tensor by the package's own quantisation; None where it has none."""
    values = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    try:
        return gguf.quants.quantize(values, kind)
    except NotImplementedError:
        return None


def random_blocks(rng, kind):
    """Every bit random, except that half-precision scales are kept finite."""
    _, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    row_bytes = gguf.quants.quant_shape_to_byte_shape((ROWS, COLUMNS), kind)[-1]
    blocks = rng.integers(0, 256, (ROWS * row_bytes // block_bytes, block_bytes), dtype=np.uint8)
    halves = {"Q2_K": [80, 82], "Q3_K": [108], "Q6_K": [208], "Q4_0": [0], "Q5_0": [0], "Q8_0": [0]}.get(kind.name, [0, 2])
    for at in halves:
        scale = blocks[:, at : at + 2].copy().view(np.uint16)
        scale[(scale & 0x7C00) == 0x7C00] &= 0x83FF  # infinity and NaN become subnormals
        blocks[:, at : at + 2] = scale.view(np.uint8)
    return blocks.reshape(ROWS, row_bytes)


def write(path, tensors):
    writer = gguf.GGUFWriter(path, "llama")
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def made_tensors():
    rng = np.random.default_rng(7)
    tensors = {}
    for kind in BLOCKS:
        tensors[f"random.{kind.name}"] = (random_blocks(rng, kind), kind)
        if (data := quantized(rng, kind)) is not None:
            tensors[f"quantized.{kind.name}"] = (data, kind)
    for kind in PLAIN:
        values = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
        tensors[f"plain.{kind.name}"] = (gguf.quants.quantize(values, kind), kind)
    # All finite half-precision numbers.
    halves = np.arange(65536, dtype=np.uint16)
    halves = halves[(halves & 0x7C00) != 0x7C00].view(np.float16)
    tensors["all.F16"] = (halves, Type.F16)
    return tensors


class GgufTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_dequantizes_every_type_bit_for_bit(self):
        path, out = self.folder / "m.gguf", self.folder / "m.safetensors"
        write(path, made_tensors())
        probe.run("dequantize", path, out)
        ours = load_file(out)
        tensors = gguf.GGUFReader(path).tensors
        self.assertEqual(sorted(ours), sorted(t.name for t in tensors))
        for tensor in tensors:
            with self.subTest(tensor.name), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                theirs = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
                self.assertEqual(list(ours[tensor.name].shape), [int(n) for n in reversed(tensor.shape)])
                same = ours[tensor.name].view(np.uint32).ravel() == theirs.astype(np.float32).view(np.uint32).ravel()
                self.assertTrue(same.all(), f"{np.count_nonzero(~same)} of {same.size} values differ")

    def test_every_type_was_quantized_or_random(self):
        names = set(made_tensors())
        self.assertTrue({f"random.{kind.name}" for kind in BLOCKS} <= names)
        self.assertIn("quantized.Q4_1", names)

    def test_reads_metadata_of_every_type(self):
        path = self.folder / "m.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_custom_alignment(64)
        writer.add_uint8("k.u8", 255)
        writer.add_int8("k.i8", -128)
        writer.add_uint16("k.u16", 65535)
        writer.add_int16("k.i16", -32768)
        writer.add_uint32("k.u32", 2**32 - 1)
        writer.add_int32("k.i32", -(2**31))
        writer.add_uint64("k.u64", 2**64 - 1)
        writer.add_int64("k.i64", -(2**63))
        writer.add_float32("k.f32", 0.25)
        writer.add_float64("k.f64", 0.1)
        writer.add_bool("k.bool", True)
        writer.add_string("k.string", "Grüße \u2603 \"\n")
        writer.add_array("k.strings", ["a", "", "Ġthe"])
        writer.add_array("k.numbers", [1, 2, 3])
        writer.add_array("k.floats", [0.5, -1.5])
        writer.add_tensor("t", np.ones((2, 3), np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        ours = json.loads(probe.run("gguf-metadata", path))
        reader = gguf.GGUFReader(path)
        theirs = {k: f.contents() for k, f in reader.fields.items() if not k.startswith("GGUF.")}
        self.assertEqual(ours, theirs)
        probe.run("dequantize", path, self.folder / "m.safetensors")
        np.testing.assert_array_equal(load_file(self.folder / "m.safetensors")["t"], np.ones((2, 3)))

    def test_a_truncated_file_is_refused_with_exit_code_4(self):
        path = self.folder / "m.gguf"
        write(path, {"w": (np.ones((64, 64), np.float32), Type.F32)})
        path.write_bytes(path.read_bytes()[:-100])
        code, message = probe.refused("dequantize", path, self.folder / "m.safetensors")
        self.assertEqual(code, 4)
        self.assertIn("tensor w", message)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["m.gguf"])


if __name__ == "__main__":
    probe.main()
