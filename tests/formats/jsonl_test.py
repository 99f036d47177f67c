"""JSON lines in archives made by Python's gzip and the zstd program."""

import gzip
import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import probe

VALUES = [{"text": f"line {i} \u2603 \"quoted\"", "n": i, "x": i / 3, "list": [None, True, {}]} for i in range(5000)]
TEXT = "".join(json.dumps(value, ensure_ascii=i % 2 == 0) + "\n" for i, value in enumerate(VALUES)).encode()


class JsonlTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check_reads(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        ours = [json.loads(line) for line in probe.run("dump-jsonl", path).splitlines()]
        self.assertEqual(ours, VALUES)

    def test_reads_plain_and_gzip_whatever_the_name(self):
        self.check_reads("plain.jsonl", TEXT)
        self.check_reads("archive.jsonl.gz", gzip.compress(TEXT))
        self.check_reads("archive-without-ending", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:]))

    def test_reads_zstandard(self):
        program = shutil.which("zstd")
        self.assertIsNotNone(program, "the zstd program is missing: apt install zstd")
        archive = subprocess.run([program, "-19", "-c"], input=TEXT, capture_output=True, check=True).stdout
        self.check_reads("archive.jsonl.zst", archive)

    def test_a_truncated_archive_is_refused_with_exit_code_3(self):
        path = self.folder / "cut.jsonl.gz"
        path.write_bytes(gzip.compress(TEXT)[:-20])
        code, message = probe.refused("dump-jsonl", path)
        self.assertEqual(code, 3)
        self.assertIn("cut.jsonl.gz: ends in the middle of its gzip stream", message)


if __name__ == "__main__":
    probe.main()
