"""Bad input of each kind: one clear line, the right exit code, and nothing half-written.

Builds a tiny model from the preset by training two steps, then spoils one thing at a time.
"""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

BINARY = os.environ["LOONGFORGE_BINARY"]
problems: list[str] = []


def run(*arguments, cwd, **more) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120, **more)


def listing(folder: pathlib.Path) -> dict:
    return {str(p.relative_to(folder)): (p.stat().st_size if p.is_file() else -1) for p in folder.rglob("*")}


def expect(name: str, code: int, words: list[str], *arguments, cwd, lines: int = 1, unchanged: bool = True, **more):
    before = listing(cwd)
    done = run(*arguments, cwd=cwd, **more)
    text = done.stderr.strip()
    errors = [line for line in text.splitlines() if line.strip()]
    if done.returncode != code:
        problems.append(f"{name}: code {done.returncode}, expected {code}: {text[-300:]}")
    if lines and len(errors) != lines:
        problems.append(f"{name}: {len(errors)} lines, expected {lines}: {text[-600:]}")
    for word in words:
        if word not in text:
            problems.append(f"{name}: '{word}' is not in: {text[-400:]}")
    if unchanged and listing(cwd) != before:
        changed = set(listing(cwd).items()) ^ set(before.items())
        problems.append(f"{name}: left something behind: {sorted(changed)[:6]}")


def byte_tokenizer() -> dict:
    """A byte-level BPE without merges: 256 byte tokens and two special ones."""
    visible = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    symbols, extra = {}, 0
    for byte in range(256):
        if byte in visible:
            symbols[chr(byte)] = byte
        else:
            symbols[chr(256 + extra)] = byte
            extra += 1
    added = [{"id": 256 + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, text in enumerate(("<|im_start|>", "<|im_end|>"))]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                                                "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {**symbols, "<|im_start|>": 256, "<|im_end|>": 257}, "merges": []}}


TEMPLATE = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def write_tokenizer(folder: pathlib.Path) -> None:
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "bos_token": "<|im_start|>",
         "chat_template": TEMPLATE}))


def make_ground(ground: pathlib.Path) -> None:
    write_tokenizer(ground / "tokenizer")
    (ground / "text").mkdir()
    for i in range(8):
        (ground / f"text/{i}.txt").write_text(f"Document {i}. " + "The quick brown fox jumps. " * 40)
    done = run("prepare", "text", "--tokenizer", "tokenizer", "--out", "data/set", cwd=ground)
    assert done.returncode == 0, done.stderr
    (ground / "run.yaml").write_text(
        "task: pretrain\nmodel: {preset: llama-tiny, tokenizer: tokenizer}\ndata: {train: data/set}\n"
        "train: {steps: 2, seq_length: 64, global_batch_size: 2, micro_batch_size: 1, threads: 1, output_dir: run}\n")
    done = run("train", "run.yaml", "--quiet", cwd=ground)
    assert done.returncode == 0, done.stderr
    checkpoint = ground / "run/checkpoints/step-00000002/hf"
    shutil.copytree(checkpoint, ground / "model")


def config_cases(ground: pathlib.Path) -> None:
    run_train = ("train", "run.yaml", "train.output_dir=other")
    expect("missing CONFIG", 2, ["none.yaml"], "train", "none.yaml", cwd=ground)
    expect("unknown key", 2, ["optim.learning_rate"], *run_train, "optim.learning_rate=1", cwd=ground)
    expect("ill-typed value", 2, ["train.steps", "integer"], *run_train, "train.steps=many", cwd=ground)
    expect("out of range", 2, ["train.seq_length"], *run_train, "train.seq_length=0", cwd=ground)
    expect("indivisible batch", 2, ["global_batch_size", "micro_batch_size"], *run_train, "train.global_batch_size=3",
           "train.micro_batch_size=2", cwd=ground)
    expect("used folder", 2, ["--resume"], "train", "run.yaml", cwd=ground)
    expect("unknown preset", 2, ["llama-tiny"], *run_train, "model.preset=llama-huge", cwd=ground)
    expect("no model", 2, ["model.path"], *run_train, "model.preset=''", cwd=ground, lines=0)
    huge = 9223372036854775807
    for key in ("train.seq_length", "train.global_batch_size", "train.micro_batch_size", "train.threads", "lora.rank"):
        expect(f"huge {key}", 2, [key], *run_train, f"{key}={huge}", cwd=ground, lines=0)
    for key in ("data.min_pixels", "data.max_pixels", "data.video_fps", "data.video_max_frames"):
        expect(f"huge {key}", 2, [key, "<="], *run_train, f"{key}={huge}", cwd=ground)
    expect("too many threads", 2, ["train.threads"], *run_train, "train.threads=20000", cwd=ground)
    expect("too large a micro-batch", 2, ["train.seq_length"], *run_train, "train.seq_length=1000000000",
           "train.global_batch_size=2", "train.micro_batch_size=2", cwd=ground)
    expect("huge lora.alpha", 2, ["lora.alpha"], *run_train, "lora.rank=4", "lora.alpha=1e300", cwd=ground)
    expect("empty sample prompt", 2, ["sample.prompts"], *run_train, 'sample.prompts=[""]', cwd=ground)
    (ground / "nested.yaml").write_text("include: [[a]]\n")
    expect("nested include", 2, ["nested.yaml:1"], "train", "nested.yaml", cwd=ground, unchanged=False)
    expect("unknown family", 4, ["model_type"], "inspect", "model", spoilt_config(ground, "model_type", "mystery"),
           cwd=ground, unchanged=False)


def spoilt_config(ground: pathlib.Path, key: str, value) -> str:
    folder = ground / f"model-{key}"
    shutil.copytree(ground / "model", folder)
    config = json.loads((folder / "config.json").read_text())
    config[key] = value
    if key == "model_type":
        config["architectures"] = ["MysteryForCausalLM"]
    (folder / "config.json").write_text(json.dumps(config))
    return folder.name


def data_cases(ground: pathlib.Path) -> None:
    run_train = ("train", "run.yaml", "train.output_dir=other")
    expect("missing data", 3, ["data/none"], *run_train, "data.train=data/none", cwd=ground)
    for name, content in (("empty", b""), ("garbled", b"\x01" * 100)):
        for suffix in (".bin", ".idx"):
            shutil.copy(ground / f"data/set{suffix}", ground / f"data/{name}{suffix}")
        shutil.copy(ground / "data/set.json", ground / f"data/{name}.json")
        (ground / f"data/{name}.idx").write_bytes(content)
        expect(f"{name} index", 3, [f"data/{name}.idx"], *run_train, f"data.train=data/{name}", cwd=ground)
    whole = (ground / "data/set.bin").read_bytes()
    for suffix in (".idx", ".json"):
        shutil.copy(ground / f"data/set{suffix}", ground / f"data/cut{suffix}")
    (ground / "data/cut.bin").write_bytes(whole[: len(whole) // 2])
    expect("truncated data", 3, ["data/cut.bin"], *run_train, "data.train=data/cut", cwd=ground)
    (ground / "nothing").mkdir()
    expect("empty folder", 3, ["nothing"], "prepare", "nothing", "--tokenizer", "tokenizer", "--out", "data/x", cwd=ground)
    expect("missing text", 3, ["no.txt"], "prepare", "no.txt", "--tokenizer", "tokenizer", "--out", "data/x", cwd=ground)
    (ground / "bad.jsonl").write_text('{"text": "fine"}\n{"text": \n')
    expect("garbled jsonl", 3, ["bad.jsonl:2"], "prepare", "bad.jsonl", "--tokenizer", "tokenizer", "--out", "data/x",
           cwd=ground, unchanged=False)
    (ground / "plain.txt.gz").write_text("no gzip data at all")
    expect("gz that is none", 3, ["plain.txt.gz"], "prepare", "plain.txt.gz", "--tokenizer", "tokenizer", "--out", "data/x",
           cwd=ground, unchanged=False)
    for ids in ("[4294967296]", "[-1]", "[18446744073709551615]", "[1.5]"):
        expect(f"decode {ids}", 3, ["standard input:1"], "tokenize", "--tokenizer", "tokenizer", "--decode", cwd=ground,
               input=ids + "\n")
    (ground / "chat.jsonl").write_text('{"wrong": []}\n')
    expect("conversation of no form", 3, ["chat.jsonl:1"], *run_train, "task=sft", "data.train=chat.jsonl", cwd=ground)
    (ground / "none.jsonl").write_text("")
    expect("no conversation", 3, ["none.jsonl"], *run_train, "task=sft", "data.train=none.jsonl", cwd=ground)
    (ground / "messages.json").write_text('{"messages": [{"role": "user", "content": "Hi"}], "topic": "x"}')
    expect("two system messages", 2, ["--system", "--messages"], "generate", "--model", "model", "--messages",
           "messages.json", "--system", "Be brief.", cwd=ground)
    expect("unread field", 0, ["messages.json: the field 'topic' of 1 records is not read"], "generate", "--model", "model",
           "--messages", "messages.json", "--max-new-tokens", "1", cwd=ground)


def model_cases(ground: pathlib.Path) -> None:
    run_train = ("train", "run.yaml", "train.output_dir=other", "model.preset=''")
    expect("missing model", 4, ["no-model"], *run_train, "model.path=no-model", cwd=ground)
    weights = (ground / "model/model.safetensors").read_bytes()
    length = struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8:8 + length])
    spoils = {
        "empty": b"", "truncated": weights[: len(weights) // 2], "garbled": b"\xff" * 64,
        "huge-header": struct.pack("<Q", 1 << 60) + weights[8:],
    }
    first = next(name for name in header if name != "__metadata__")
    renamed = {("renamed.weight" if name == first else name): entry for name, entry in header.items()}
    text = json.dumps(renamed).encode()
    spoils["missing-and-extra"] = struct.pack("<Q", len(text)) + text + weights[8 + length:]
    for name, content in spoils.items():
        folder = ground / f"model-{name}"
        shutil.copytree(ground / "model", folder)
        (folder / "model.safetensors").write_bytes(content)
        words = [first, "renamed.weight"] if name == "missing-and-extra" else [f"model-{name}/model.safetensors"]
        expect(f"{name} weights", 4, words, *run_train, f"model.path=model-{name}", cwd=ground,
               lines=0 if name == "missing-and-extra" else 1)
    for name, content in (("empty", ""), ("garbled", "{"), ("wrong", '{"model": {"type": "Magic"}}')):
        folder = ground / f"tokenizer-{name}"
        shutil.copytree(ground / "tokenizer", folder)
        (folder / "tokenizer.json").write_text(content)
        expect(f"{name} tokenizer", 4, [f"tokenizer-{name}"], "tokenize", "--tokenizer", folder.name, cwd=ground, input="a\n")
    folder = ground / "tokenizer-large"
    write_tokenizer(folder)
    large = byte_tokenizer()
    large["added_tokens"].append({**large["added_tokens"][0], "id": 100_000, "content": "<|far|>"})
    (folder / "tokenizer.json").write_text(json.dumps(large))
    expect("tokenizer that does not fit", 4, ["tokenizer"], *run_train, "model.path=model", "model.tokenizer=tokenizer-large",
           cwd=ground)
    for name, content in (("empty", b""), ("garbled", b"GGUF" + b"\xff" * 40), ("no-gguf", b"hello")):
        (ground / f"{name}.gguf").write_bytes(content)
        expect(f"{name} gguf", 4, [f"{name}.gguf"], "convert", f"{name}.gguf", "converted", cwd=ground)
    expect("missing gguf", 4, ["none.gguf"], "convert", "none.gguf", "converted", cwd=ground)


def resource_cases(ground: pathlib.Path) -> None:
    (ground / "in-the-way").write_text("a file")
    expect("output below a file", 7, ["in-the-way"], "train", "run.yaml", "train.output_dir=in-the-way/run", cwd=ground)
    expect("prepare below a file", 7, ["in-the-way"], "prepare", "text", "--tokenizer", "tokenizer", "--out",
           "in-the-way/set", cwd=ground)
    # A limit on the file size stands for a full disk: writing fails in the same places.
    limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "bash", BINARY]
    before = set(listing(ground))
    done = subprocess.run([*limited, "convert", "model", "full"], cwd=ground, capture_output=True, text=True, timeout=120)
    if done.returncode != 7 or set(listing(ground)) != before:
        problems.append(f"full disk in convert: code {done.returncode}, {done.stderr[-300:]}, "
                        f"{sorted(set(listing(ground)) - before)[:4]}")
    done = subprocess.run([*limited, "train", "run.yaml", "--quiet", "train.output_dir=full-run"], cwd=ground,
                          capture_output=True, text=True, timeout=120)
    complete = list((ground / "full-run").rglob("COMPLETE"))
    if done.returncode != 7 or complete:
        problems.append(f"full disk in train: code {done.returncode}, {done.stderr[-300:]}, {complete}")
    if os.geteuid() != 0:
        locked = ground / "locked"
        locked.mkdir(mode=0o500)
        expect("folder without rights", 7, ["locked"], "convert", "model", "locked/out", cwd=ground)


def output_cases(ground: pathlib.Path) -> None:
    """What was printed but did not arrive is an error."""
    for arguments in (("inspect", "model", "model", "--json"), ("version",), ("train", "--help")):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, *arguments], cwd=ground, stdout=full, stderr=subprocess.PIPE, text=True)
        if done.returncode != 7 or "standard output" not in done.stderr:
            problems.append(f"{arguments} into a full device: code {done.returncode}, {done.stderr[-200:]}")
        done = subprocess.run(["bash", "-c", 'exec "$@" >&-', "bash", BINARY, *arguments], cwd=ground,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 7:
            problems.append(f"{arguments} with closed output: code {done.returncode}, {done.stderr[-200:]}")


def overwrite_cases(ground: pathlib.Path) -> None:
    """--overwrite replaces models only, and never what is read."""
    expect("overwrite of texts", 2, ["text", "no model folder"], "convert", "model", "text", "--overwrite", cwd=ground)
    expect("overwrite of its source", 2, ["run"], "convert", "run/checkpoints/step-00000002", "run", "--overwrite", cwd=ground)
    expect("overwrite of itself", 2, ["model"], "convert", "model", "model", "--overwrite", cwd=ground)
    shutil.copytree(ground / "model", ground / "old")
    (ground / "old/left-over").write_text("x")
    done = run("convert", "model", "old", "--overwrite", cwd=ground)
    if done.returncode != 0 or (ground / "old/left-over").exists() or not (ground / "old/config.json").exists():
        problems.append(f"overwrite of a model: code {done.returncode}, {done.stderr[-200:]}")
    if [p.name for p in ground.iterdir() if ".tmp-" in p.name]:
        problems.append("overwrite leaves a temporary folder")


def write_safetensors(path: pathlib.Path, **tensors) -> None:
    """int64 tensors, flat lists or lists of one row."""
    header, data = {}, b""
    for name, values in tensors.items():
        flat = values[0] if isinstance(values[0], list) else values
        shape = [1, len(flat)] if isinstance(values[0], list) else [len(flat)]
        part = struct.pack(f"<{len(flat)}q", *flat)
        header[name] = {"dtype": "I64", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def parity_cases(ground: pathlib.Path) -> None:
    cases = {
        "falling cu_seqlens": ({"cu_seqlens": [0, 9, 4]}, "cu_seqlens"),
        "far cu_seqlens": ({"cu_seqlens": [0, 1 << 40, 4]}, "cu_seqlens"),
        "negative cu_seqlens": ({"cu_seqlens": [0, -3, 4]}, "cu_seqlens"),
        "label beyond the vocabulary": ({"labels": [[1, 2, 3, 9999]]}, "labels"),
        "negative label": ({"labels": [[1, 2, 3, -7]]}, "labels"),
        "negative position": ({"position_ids": [[0, 1, -5, 3]]}, "position_ids"),
        "far position": ({"position_ids": [[0, 1, 2, 1 << 62]]}, "position_ids"),
    }
    for name, (more, word) in cases.items():
        write_safetensors(ground / "in.safetensors", input_ids=[[1, 2, 3, 4]], **more)
        for way in ([], ["--fused"]):
            expect(name, 3, [word], "parity", "--model", "model", "--input", "in.safetensors", "--out", "out.safetensors", *way,
                   cwd=ground)


def resume_cases(ground: pathlib.Path) -> None:
    """Damaged files of a run are named, and nothing is trained on them."""
    def damaged(name: str, code: int, words: list[str], edit, **options):
        shutil.rmtree(ground / "again", ignore_errors=True)
        shutil.copytree(ground / "run", ground / "again")
        edit(ground / "again")
        (ground / "again/summary.json").unlink(missing_ok=True) if options.get("unfinished", True) else None
        expect(name, code, words, "train", "run.yaml", "train.output_dir=again", "train.steps=4", "--resume", "--quiet",
               cwd=ground, unchanged=False, lines=options.get("lines", 1))

    state = "checkpoints/step-00000002/state/state.json"

    def set_state(key, value):
        def edit(folder):
            content = json.loads((folder / state).read_text())
            content[key] = value
            (folder / state).write_text(json.dumps(content))
        return edit

    for key, value in (("step", 999), ("step", 1), ("step", 1.5), ("step", -5), ("updates", 1 << 62), ("updates", -1),
                       ("counters", [1]), ("data", None), ("data", [1]), ("identity", "x")):
        damaged(f"state.json with {key} {value}", 4, ["state.json", key], set_state(key, value))
    damaged("lost metrics", 0, ["metrics.jsonl", "holds 0 of the 2 steps"], lambda f: (f / "metrics.jsonl").unlink(), lines=0)
    damaged("evaluation without loss", 0, [], lambda f: (f / "eval.jsonl").write_text('{"step":0}\n'), lines=0)
    (ground / "run/summary.json").rename(ground / "summary.kept")
    for content in ("[]", '{"steps": "a"}', "{"):
        (ground / "run/summary.json").write_text(content)
        expect(f"summary {content}", 4, ["summary.json"], "train", "run.yaml", "--resume", cwd=ground)
    (ground / "summary.kept").rename(ground / "run/summary.json")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        ground = pathlib.Path(name)
        make_ground(ground)
        for cases in (config_cases, data_cases, model_cases, output_cases, overwrite_cases, parity_cases, resume_cases,
                      resource_cases):
            cases(ground)
    print("\n".join(problems) or "bad input is named and leaves nothing behind")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
