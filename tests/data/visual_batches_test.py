"""Batches for Qwen2.5-VL against transformers' Qwen2_5_VLProcessor: tokens, pixels, grids and positions of pictures and
clips, and LLaMA-Factory's multimodal files as they are.

Usage: visual_batches_test.py DOWNLOADS
"""

import json
import os
import random
import re
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "media"), str(TESTS / "text")]
sys.argv.insert(1, "-")  # the program that inputs takes, not needed here
import inputs  # noqa: E402
import probe as media  # noqa: E402

torchvision = media.load_torchvision()
import numpy  # noqa: E402
import torch  # noqa: E402
from clips import frames_of, lossless_clip  # noqa: E402
from PIL import Image  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from transformers import (PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration,  # noqa: E402
                          Qwen2_5_VLProcessor, Qwen2VLImageProcessor, Qwen2VLVideoProcessor)

BINARY = os.environ["LOONGFORGE_BINARY"]
LLAMAFACTORY = ("llamafactory", "llamafactory-0.9.5.tar.gz",
                "1702c0bfb864e80577a59521d2edcacd2aab05ec6aee06188fcba335a589681f")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
           "<|video_pad|>"]
TEMPLATE = """{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}\
{% else %}<|vision_start|><|{{ p.type }}_pad|><|vision_end|>{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
TEXT = "who stands on the left of the picture and what is it that makes a clip of seven frames so funny ?".split()
ROWS = 4096


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=350, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    draw = random.Random(1)
    tokenizer.train_from_iterator([" ".join(draw.choices(TEXT, k=20)) for _ in range(200)], trainer)
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")


def make_model(folder):
    """A small random model with tokenizer and processor in `folder`; returns model and processor."""
    tokenizer = make_tokenizer()
    ids = tokenizer.convert_tokens_to_ids
    language = dict(vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                    num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=ROWS,
                    bos_token_id=ids("<|im_start|>"), eos_token_id=ids("<|im_end|>"),
                    rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 1, 1]})
    tower = dict(depth=1, hidden_size=16, num_heads=2, intermediate_size=16, patch_size=14, temporal_patch_size=2,
                 spatial_merge_size=2, window_size=112, fullatt_block_indexes=[0], tokens_per_second=2,
                 out_hidden_size=16)
    model = Qwen2_5_VLForConditionalGeneration(Qwen2_5_VLConfig(
        vision_config=tower, text_config=language, image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"), vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>")))
    processor = Qwen2_5_VLProcessor(Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=28 * 28 * 400), tokenizer,
                                    Qwen2VLVideoProcessor(min_pixels=56 * 56, max_pixels=28 * 28 * 36, fps=2),
                                    chat_template=TEMPLATE)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return model, processor


def parts_of(record):
    """The record's messages with parts for its marks, and its files of both kinds in their order."""
    messages, files = [], {"image": list(record.get("images", [])), "video": list(record.get("videos", []))}
    for message in record["messages"]:
        parts = [{"type": p[1:-1]} if p in ("<image>", "<video>") else {"type": "text", "text": p}
                 for p in re.split("(<image>|<video>)", message["content"]) if p]
        plain = all(p["type"] == "text" for p in parts)
        messages.append({"role": message["role"], "content": message["content"] if plain else parts})
    return messages, files


class VisualBatches(media.FolderTest):
    def setUp(self):
        super().setUp()
        self.model, self.processor = make_model(self.folder / "model")

    def theirs(self, record, folder):
        """input_ids, pixels in the order of the places, grids, positions (3, N)."""
        messages, files = parts_of(record)
        text = self.processor.apply_chat_template(messages, tokenize=False)
        given = {"text": [text], "return_tensors": "pt"}
        if files["image"]:
            given["images"] = [Image.open(folder / f).convert("RGB") for f in files["image"]]
        if files["video"]:
            clips = [frames_of(folder / f) for f in files["video"]]
            given["videos"] = [frames for frames, _ in clips]
            given["videos_kwargs"] = {"do_sample_frames": True, "video_metadata": [
                {"fps": rate, "total_num_frames": len(frames), "duration": len(frames) / rate}
                for frames, rate in clips]}
        out = self.processor(**given)
        pixels, grids = [], []
        streams = {}
        for kind, pixel, grid in (("image", "pixel_values", "image_grid_thw"),
                                  ("video", "pixel_values_videos", "video_grid_thw")):
            if grid in out:
                sizes = out[grid].prod(-1).tolist()
                streams[kind] = iter(zip(out[pixel].split(sizes), out[grid]))
        for message in messages:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part["type"] != "text":
                    one, grid = next(streams[part["type"]])
                    pixels.append(one)
                    grids.append(grid)
        if not grids:
            count = out["input_ids"].shape[1]
            return out["input_ids"][0], None, None, torch.arange(count).expand(3, count)
        positions, _ = self.model.model.get_rope_index(
            out["input_ids"], out["mm_token_type_ids"], out.get("image_grid_thw"), out.get("video_grid_thw"),
            torch.as_tensor(out["second_per_grid_ts"]) if "second_per_grid_ts" in out else None)
        return out["input_ids"][0], torch.cat(pixels), torch.stack(grids), positions[:, 0]

    def program(self, path, *command):
        """Standard output of the program with a configuration for the conversations `path`."""
        config = self.folder / "config.yaml"
        config.write_text(f"""
task: sft
model: {{path: {self.folder}/model}}
data: {{train: {path}, pack: false}}
train: {{steps: 1, seq_length: {ROWS}, global_batch_size: 1, output_dir: {self.folder}/run}}
optim: {{lr: 1e-4}}
""")
        done = subprocess.run([BINARY, *[config if word == "CONFIG" else word for word in command]],
                              capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def ours(self, path, steps):
        """One batch a step."""
        out = self.folder / "batches.safetensors"
        self.shown = json.loads(self.program(path, "inspect", "batches", "CONFIG", "--out", out, "--steps", str(steps)))
        tensors = load_file(out)
        batches = [{} for _ in range(steps)]
        for name, tensor in tensors.items():
            _, step, _, micro, key = name.split(".")
            batches[int(step)][key] = tensor
        return batches

    def compare(self, records, folder, path):
        """Every record's row is what the processor makes of it, bit for bit."""
        rows = self.ours(path, len(records))
        by_ids = {}
        for row in rows:
            length = int(row["cu_seqlens"][1])
            by_ids.setdefault(tuple(row["input_ids"][:length].tolist()), []).append((row, length))
        for record in records:
            ids, pixels, grids, positions = self.theirs(record, folder)
            self.assertIn(tuple(ids.tolist()), by_ids, record)
            row, length = by_ids[tuple(ids.tolist())].pop()
            self.assertTrue(torch.equal(row["position_ids"][:, :length], positions), record)
            if grids is None:
                self.assertNotIn("pixel_values", row)
                continue
            self.assertTrue(torch.equal(row["grid_thw"], grids), record)
            self.assertTrue(torch.equal(row["pixel_values"], pixels), record)

    def write(self, records):
        path = self.folder / "train.json"
        path.write_text(json.dumps(records))
        return path

    def test_pictures_clips_and_text(self):
        for name, height, width in (("a.png", 100, 333), ("b.png", 700, 500), ("c.png", 20, 30)):
            Image.fromarray(media.picture(self.rng, height, width)).save(self.folder / name)
        Image.fromarray(media.picture(self.rng, 90, 60)).save(self.folder / "d.jpg", quality=90)
        for name, count, rate in (("a.mov", 23, 8), ("b.mov", 40, 25)):
            frames = numpy.stack([media.picture(self.rng, 120, 90) for _ in range(count)])
            lossless_clip(self.folder / name, frames, rate)
        def chat(*texts):
            return [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(texts)]

        records = [
            {"messages": chat("<image>who is it?", "it is Ümit"), "images": ["a.png"]},
            {"messages": chat("left <image> and right<image>", "two", "and this?<image>", "one"),
             "images": ["b.png", "c.png", "d.jpg"]},
            {"messages": chat("<video>what makes it funny?", "the picture"), "videos": ["a.mov"]},
            {"messages": chat("<image><video>same? <video>", "no"), "images": ["c.png"], "videos": ["b.mov", "a.mov"]},
            {"messages": chat("no picture here", "none")},
        ]
        self.compare(records, self.folder, self.write(records))
        self.assertEqual(sorted(self.shown["pictures_a_batch"]), [0, 1, 1, 3, 3])

    def test_training_sees_the_pictures(self):
        Image.fromarray(media.picture(self.rng, 100, 200)).save(self.folder / "a.png")
        record = {"images": ["a.png"], "messages": [{"role": "user", "content": "<image>who is it?"},
                                                    {"role": "assistant", "content": "Kane"}]}
        path = self.write([record])
        row = self.ours(path, 1)[0]
        length = int(row["cu_seqlens"][1])
        logits = self.model(input_ids=row["input_ids"][None, :length],
                            position_ids=row["position_ids"][:, None, :length],
                            pixel_values=row["pixel_values"], image_grid_thw=row["grid_thw"]).logits[0]
        theirs = torch.nn.functional.cross_entropy(logits, row["labels"][:length]).item()
        self.program(path, "train", "CONFIG")
        ours = json.loads((self.folder / "run" / "metrics.jsonl").read_text().splitlines()[0])["loss"]
        self.assertAlmostEqual(ours, theirs, delta=1e-5 * theirs)

    def test_files_of_llamafactory_are_read_as_they_are(self):
        with tarfile.open(inputs.fetch(*LLAMAFACTORY)) as archive:
            for member in archive:
                inside = member.name.partition("/data/")[2]
                if member.isfile() and inside.startswith("mllm_"):
                    target = self.folder / inside
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(archive.extractfile(member).read())
        for name in ("mllm_demo.json", "mllm_video_demo.json"):
            records = json.loads((self.folder / name).read_text())
            self.compare(records, self.folder, self.folder / name)


if __name__ == "__main__":
    media.main()
