"""Archives both ways against Python's tarfile; samples and X.tar.idx by the rules of Megatron-Energon."""

import io
import json
import random
import re
import struct
import tarfile
import tempfile
import unittest
from pathlib import Path

import probe

SAMPLE = re.compile(r"^((?:.*/|)[^.]+)[.]([^/]*)$")
META = re.compile(r"__[^/]*__($|/)")


def members(seed):
    """(name, content), with names of all lengths, letters of other alphabets, folders, and members of no sample."""
    rng = random.Random(seed)
    made = []
    for number in range(60):
        folder = rng.choice(["", "a/", "deep/" * 30, "ordner-\u00fc/", "\u6587\u4ef6/", "with.dot/"])
        key = folder + str(number) + "n" * rng.choice([0, 0, 5, 90, 95, 100, 101, 150, 260])
        for extension in rng.sample(["jpg", "seg.png", "json", "txt", "tar.gz"], rng.randrange(1, 4)):
            made.append((f"{key}.{extension}", rng.randbytes(rng.choice([0, 1, 511, 512, 513, 3000]))))
        if rng.random() < 0.1:
            made.append((rng.choice([f"README{number}", f"__meta__/{number}.json", "folder/"]), b""))
    return made


def energon(path):
    """(samples, offsets) as megatron/energon/flavors/webdataset/prepare.py finds them."""
    samples, offsets, last = [], [], None
    with tarfile.open(path, "r:") as tar:
        for member in tar:
            match = SAMPLE.match(member.name)
            if not member.isreg() or META.match(member.name) or not match:
                continue
            key, extension = match.groups()
            if key != last:
                offsets.append(member.offset)
                samples.append([key, []])
                last = key
            samples[-1][1].append([extension, member.offset_data, member.size])
        offsets.append(tar.offset)
    return samples, offsets


class TarTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "a.tar"

    def write(self, made, **options):
        with tarfile.open(self.path, "w", **options) as tar:
            for name, content in made:
                info = tarfile.TarInfo(name.rstrip("/"))
                info.size = len(content)
                if name.endswith("/"):
                    info.type = tarfile.DIRTYPE
                tar.addfile(info, io.BytesIO(content))

    def ours(self):
        return [json.loads(line) for line in probe.run("samples", self.path).splitlines()]

    def test_we_read_what_tarfile_writes(self):
        for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
            for seed in range(5):
                made = members(seed)
                if form == tarfile.USTAR_FORMAT:
                    made = [(name, content) for name, content in made if len(name.encode()) <= 100]
                self.write(made, format=form, pax_headers={"comment": "x" * 600} if form == tarfile.PAX_FORMAT else None)
                with self.subTest(form=form, seed=seed):
                    samples, offsets = energon(self.path)
                    self.assertEqual(self.ours(), samples)
                    index = self.path.with_suffix(".tar.idx")
                    probe.run("write-index", self.path)
                    self.assertEqual(index.read_bytes(), struct.pack(f"<{len(offsets)}Q", *offsets))
                    self.assertEqual(self.ours(), samples)
                    index.unlink()

    def test_ustar_prefixes(self):
        made = [("p" * 90 + "/" + "n" * 90 + ".jpg", b"x")]
        self.write(made, format=tarfile.USTAR_FORMAT)
        self.assertEqual(self.ours()[0][0] + ".jpg", made[0][0])

    def test_tarfile_reads_what_we_write(self):
        made = [item for item in members(7) if not item[0].endswith("/")]
        self.write(made)
        probe.run("copy-tar", self.path, self.folder / "b.tar")
        with tarfile.open(self.folder / "b.tar", "r:") as tar:
            self.assertEqual([(member.name, tar.extractfile(member).read()) for member in tar], made)

    def test_links_are_refused(self):
        for kind, word in ((tarfile.LNKTYPE, "hard link"), (tarfile.SYMTYPE, "symbolic link"), (tarfile.FIFOTYPE, "pipe")):
            with tarfile.open(self.path, "w") as tar:
                info = tarfile.TarInfo("1.jpg")
                info.type, info.linkname = kind, "2.jpg"
                tar.addfile(info)
            code, message = probe.refused("samples", self.path)
            self.assertEqual(code, 3)
            self.assertIn(word, message)


if __name__ == "__main__":
    probe.main()
