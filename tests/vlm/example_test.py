"""The vision example with a small language model and a few steps: its commands, and what transformers makes of the
model."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "media"))
sys.argv.insert(1, "-")  # the program that probe takes, not needed here
import probe  # noqa: E402

probe.load_torchvision()
import numpy  # noqa: E402
import torch  # noqa: E402
from clips import frames_of, lossless_clip  # noqa: E402
from PIL import Image  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from transformers import (AutoModelForImageTextToText, AutoProcessor, LlamaConfig, LlamaForCausalLM,  # noqa: E402
                          PreTrainedTokenizerFast)

BINARY = os.environ["LOONGFORGE_BINARY"]
SHORT = ["train.steps=3", "eval.every=100", "checkpoint.every=100", "eval.max_batches=2", "train.threads=2",
         "optim.warmup_steps=1"]


def language_model(folder):
    """A small random Llama with a byte-level tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=256, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(["a"], trainer)
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False)
                                  for name in ("<|im_start|>", "<|im_end|>")])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token="<|im_end|>")
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    LlamaForCausalLM(LlamaConfig(
        vocab_size=len(fast), hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.3, tie_word_embeddings=True,
        bos_token_id=fast.bos_token_id, eos_token_id=fast.eos_token_id)).save_pretrained(folder)


class Example(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.data = cls.folder / "data"
        subprocess.run([sys.executable, ROOT / "examples/vlm/make_data.py", cls.data, "--limit", "150"], check=True,
                       timeout=300)
        language_model(cls.folder / "language")
        files = [f"data.train={cls.data}/train.jsonl", f"data.eval={cls.data}/heldout.jsonl"]
        cls.run_program("train", ROOT / "examples/vlm/stage1.yaml", *files, *SHORT,
                        f"model.language.path={cls.folder}/language", f"train.output_dir={cls.folder}/stage1",
                        f"data.chat_template={ROOT}/examples/vlm/chat_template.jinja")
        cls.run_program("train", ROOT / "examples/vlm/stage2.yaml", *files, *SHORT, f"model.path={cls.folder}/stage1",
                        f"train.output_dir={cls.folder}/stage2", f"sample.conversations={cls.data}/heldout.jsonl",
                        "sample.max_conversations=3")
        hf = next((cls.folder / "stage2/checkpoints").glob("step-*")) / "hf"
        cls.processor = AutoProcessor.from_pretrained(hf)
        cls.model = AutoModelForImageTextToText.from_pretrained(hf, dtype=torch.float32).eval()
        # An answer holds no places of pictures.
        cls.places = [cls.model.config.image_token_id, cls.model.config.video_token_id]

    @staticmethod
    def run_program(*arguments, code=0):
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        if done.returncode != code:
            raise AssertionError(f"{arguments}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def expect_greedy_answer_of_transformers(self, inputs, *options):
        ids = self.model.generate(**inputs, max_new_tokens=12, do_sample=False, suppress_tokens=self.places)
        end = self.processor.tokenizer.convert_tokens_to_ids("<|im_end|>")
        mine = json.loads(self.run_program("generate", "--model", self.folder / "stage2", *options,
                                           "--max-new-tokens", 12, "--json"))
        self.assertEqual(mine["ids"], [i for i in ids[0, inputs["input_ids"].shape[1]:].tolist() if i != end])

    def opening(self, kind):
        given = [{"role": "user", "content": [{"type": kind}]}]
        return self.processor.apply_chat_template(given, add_generation_prompt=True)

    def test_greedy_answers_to_pictures_equal_transformers(self):
        for picture in sorted((self.data / "pictures").iterdir())[::150][:3]:
            inputs = self.processor(text=[self.opening("image")], images=[Image.open(picture).convert("RGB")],
                                    return_tensors="pt")
            self.expect_greedy_answer_of_transformers(inputs, "--image", picture)

    def test_greedy_answer_to_a_clip_equals_transformers(self):
        clip, rate = self.folder / "clip.mov", 4
        pictures = sorted((self.data / "pictures").glob("noto-*.png"))[:12]
        frames = numpy.stack([numpy.asarray(Image.open(p).convert("RGB").resize((136, 136))) for p in pictures])
        lossless_clip(clip, frames, rate)
        decoded, rate = frames_of(clip)
        inputs = self.processor(
            text=[self.opening("video")], videos=[decoded], return_tensors="pt",
            videos_kwargs={"do_sample_frames": True, "video_metadata": [
                {"fps": rate, "total_num_frames": len(frames), "duration": len(frames) / rate}]})
        self.assertEqual(inputs["video_grid_thw"][0, 0].item(), 3)
        self.expect_greedy_answer_of_transformers(inputs, "--video", clip)

    def test_choices_are_scored_as_transformers_does(self):
        questions = [json.loads(line) for line in (self.data / "questions.jsonl").read_text().splitlines()][:3]
        right = 0
        for question in questions:
            shown = question["messages"][0]["content"][0]["image"]
            picture = Image.open(self.data / shown).convert("RGB")
            opening = self.opening("image")
            scores = []
            for choice in question["choices"]:
                inputs = self.processor(text=[opening + choice + "<|im_end|>"], images=[picture], return_tensors="pt")
                with torch.no_grad():
                    logp = self.model(**inputs).logits[0].log_softmax(-1)
                ids = inputs["input_ids"][0]
                count = len(self.processor.tokenizer(choice)["input_ids"]) + 1
                scores.append(logp[-count - 1:-1].gather(1, ids[-count:, None]).mean().item())
            right += scores.index(max(scores)) == question["answer"]
        result = json.loads(self.run_program("eval", "choice", "--model", self.folder / "stage2", "--questions",
                                             self.data / "questions.jsonl", "--limit", 3, "--json"))
        self.assertEqual(result["questions"], 3)
        self.assertEqual(result["mean"]["right"], right)
        result = json.loads(self.run_program("eval", "match", "--model", self.folder / "stage2", "--questions",
                                             self.data / "heldout.jsonl", "--limit", 4, "--max-new-tokens", 4, "--json"))
        self.assertEqual(result["questions"], 4)

    def test_answers_with_other_sizes_of_pictures_are_made_anew(self):
        answers = self.folder / "answers.json"
        headers = []
        for options in ([], ["--max-pixels", 18496]):
            self.run_program("eval", "match", "--model", self.folder / "stage2", "--questions", self.data / "heldout.jsonl",
                             "--limit", 1, "--max-new-tokens", 1, "--out", answers, *options)
            stored = next(self.folder.glob("answers*.jsonl")).read_text().splitlines()
            headers.append(json.loads(stored[0]))
        self.assertEqual(headers[1]["shown"]["pictures"]["size"]["longest_edge"], 18496)
        self.assertNotEqual(headers[0], headers[1])

    def test_converted_folder_keeps_the_processor(self):
        out = self.folder / "converted"
        self.run_program("convert", self.folder / "stage2", out, "--dtype", "bfloat16")
        ours, theirs = AutoProcessor.from_pretrained(out), self.processor
        self.assertEqual(ours.image_processor.to_dict(), theirs.image_processor.to_dict())
        self.assertEqual(ours.video_processor.to_dict(), theirs.video_processor.to_dict())

    def test_report_shows_the_pictures(self):
        page = self.folder / "report.html"
        self.run_program("report", self.folder / "stage1", self.folder / "stage2", "--out", page)
        text = page.read_text()
        self.assertEqual(text.count("data:image/png;base64,"), 3)
        self.assertIn("[picture]", text)

    def test_bad_pictures_are_named(self):
        model = ("generate", "--model", self.folder / "stage2", "--prompt", "What?")
        for arguments, words in ((("--image", self.folder / "none.png"), "none.png"),
                                 (("--image", ROOT / "README.md"), "README.md"),
                                 (("--video", self.data / "pictures/grey.png"), "grey.png")):
            message = self.run_program(*model, *arguments, code=3)
            self.assertIn(words, message)
            self.assertEqual(message.count("\n"), 1, message)
        (self.folder / "language/chat_template.jinja").write_text(
            (ROOT / "examples/vlm/chat_template.jinja").read_text())
        message = self.run_program("generate", "--model", self.folder / "language", "--image",
                                   self.data / "pictures/grey.png", code=3)
        self.assertIn("reads text alone", message)


if __name__ == "__main__":
    unittest.main(verbosity=2)
