"""Token files both ways against megatron-core's IndexedDataset."""

import json
import random
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from megatron.core.datasets.indexed_dataset import DType, IndexedDataset, IndexedDatasetBuilder

import probe


def documents(vocab):
    """Documents of one or more sequences, an empty sequence and an empty document among them."""
    rng = random.Random(vocab)
    made = [
        [[rng.randrange(vocab) for _ in range(rng.randrange(1, 60))] for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        for _ in range(200)
    ]
    made[10] = []
    made[20] = [[]]
    made[30] = [[0, vocab - 1]]
    return made


class IndexedDatasetTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.prefix = str(self.folder / "data")

    def write_theirs(self, made, dtype):
        builder = IndexedDatasetBuilder(self.prefix + ".bin", dtype=dtype)
        for document in made:
            for sequence in document:
                builder.add_item(torch.tensor(sequence, dtype=torch.int64))
            builder.end_document()
        builder.finalize(self.prefix + ".idx")

    def write_ours(self, made, vocab):
        lines = self.folder / "documents.jsonl"
        lines.write_text("".join(json.dumps(document) + "\n" for document in made))
        probe.run("write-indexed", lines, self.prefix, vocab)

    def test_we_read_what_megatron_writes(self):
        for vocab in (300, 65499, 65500, 151936):
            for dtype in {DType.optimal_dtype(vocab), numpy.int32, numpy.int64}:
                with self.subTest(vocab=vocab, dtype=dtype.__name__):
                    made = documents(vocab)
                    self.write_theirs(made, dtype)
                    ours = [json.loads(line) for line in probe.run("dump-indexed", self.prefix).splitlines()]
                    self.assertEqual(ours, made)

    def test_megatron_reads_what_we_write(self):
        for vocab in (300, 65499, 65500, 151936):
            for mmap in (True, False):
                with self.subTest(vocab=vocab, mmap=mmap):
                    made = documents(vocab)
                    self.write_ours(made, vocab)
                    theirs = IndexedDataset(self.prefix, mmap=mmap)
                    self.assertIs(theirs.index.dtype, DType.optimal_dtype(vocab))
                    flat = [sequence for document in made for sequence in document]
                    self.assertEqual(len(theirs), len(flat))
                    self.assertEqual([theirs[i].tolist() for i in range(len(flat))], flat)
                    self.assertEqual(theirs.get(5, offset=1, length=2).tolist(), flat[5][1:3])
                    borders = numpy.cumsum([0] + [len(document) for document in made]).tolist()
                    self.assertEqual(theirs.document_indices.tolist(), borders)

    def test_both_write_the_same_bytes(self):
        for vocab in (300, 151936):
            with self.subTest(vocab=vocab):
                made = documents(vocab)
                self.write_theirs(made, DType.optimal_dtype(vocab))
                theirs = [Path(self.prefix + end).read_bytes() for end in (".bin", ".idx")]
                self.write_ours(made, vocab)
                self.assertEqual([Path(self.prefix + end).read_bytes() for end in (".bin", ".idx")], theirs)

    def test_a_truncated_bin_is_refused_with_exit_code_3(self):
        self.write_theirs(documents(300), numpy.uint16)
        bin_path = Path(self.prefix + ".bin")
        bin_path.write_bytes(bin_path.read_bytes()[:-1])
        code, message = probe.refused("dump-indexed", self.prefix)
        self.assertEqual(code, 3)
        self.assertIn("data.bin", message)


if __name__ == "__main__":
    probe.main()
