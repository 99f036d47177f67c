"""Greedy answers and held-out loss of the program equal those of transformers on the same float32 weights.

Usage: greedy_test.py [MODEL QUESTIONS.jsonl]; without arguments a small random model answers made-up questions.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BINARY = os.environ["LOONGFORGE_BINARY"]
GIVEN = [Path(a) for a in sys.argv[1:]]
TEMPLATE = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
WORDS = "the wheel turned by day and night while seven men counted sacks of rye and wheat for a horse".split()
ANSWER_TOKENS = 24


def sentence(source, count):
    return " ".join(source.choice(WORDS) for _ in range(count))


def small_model(folder):
    """A random Llama whose logits lie far apart, with a tokenizer trained on the spot."""
    source = random.Random(1)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<|im_start|>", "<|im_end|>"], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator([sentence(source, 20) for _ in range(200)], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", bos_token="<|im_start|>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(2)
    config = LlamaConfig(vocab_size=len(fast), hidden_size=96, intermediate_size=192, num_hidden_layers=3,
                         num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=512,
                         tie_word_embeddings=True, initializer_range=0.3, bos_token_id=0, eos_token_id=1)
    model = LlamaForCausalLM(config)
    model.generation_config.eos_token_id = [1, 17]
    model.save_pretrained(folder)


def made_up_questions(file):
    source = random.Random(3)
    lines = [{"messages": [{"role": "user", "content": sentence(source, source.randint(1, 40))}], "answer": "x",
              "task": source.choice(["one", "two"])} for _ in range(40)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def run(*arguments):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=800)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout


class Greedy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = Path(cls.temporary.name)
        cls.folder = folder
        if GIVEN:
            cls.model, cls.questions = GIVEN
        else:
            cls.model, cls.questions = folder / "model", folder / "questions.jsonl"
            small_model(cls.model)
            made_up_questions(cls.questions)
        cls.theirs = AutoModelForCausalLM.from_pretrained(cls.model, dtype=torch.float32)
        cls.tokenizer = AutoTokenizer.from_pretrained(cls.model)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def their_answer(self, prompt):
        ids = self.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        out = self.theirs.generate(**ids, do_sample=False, max_new_tokens=ANSWER_TOKENS, temperature=None, top_p=None,
                                   top_k=None, pad_token_id=0)
        return out[0, ids["input_ids"].shape[1]:].tolist()

    def test_batched_chat_answers(self):
        out = self.folder / "match.json"
        run("eval", "match", "--model", self.model, "--questions", self.questions, "--max-new-tokens", ANSWER_TOKENS,
            "--out", out)
        answers_file = out.parent / json.loads(out.read_text())["answers"]
        ours = {line["index"]: line["answer"] for line in map(json.loads, answers_file.read_text().splitlines()[1:])}
        questions = [json.loads(line) for line in self.questions.read_text().splitlines()]
        self.assertEqual(len(ours), len(questions))
        for index, question in enumerate(questions):
            prompt = self.tokenizer.apply_chat_template(question["messages"], tokenize=False, add_generation_prompt=True)
            theirs = self.tokenizer.decode(self.their_answer(prompt), skip_special_tokens=True,
                                           clean_up_tokenization_spaces=False)
            self.assertEqual(ours[index], theirs, f"question {index}")

    def test_continued_text(self):
        prompt = "the wheel turned"
        ours = json.loads(run("generate", "--model", self.model, "--prompt", prompt, "--max-new-tokens", ANSWER_TOKENS,
                              "--json"))
        theirs = self.their_answer(prompt)
        ends = self.theirs.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        self.assertEqual(ours["ids"], [t for t in theirs if t not in ends])

    def test_held_out_loss(self):
        source = random.Random(9)
        texts = [sentence(source, n) for n in (30, 5, 90, 200)]
        (self.folder / "held.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
        run("prepare", self.folder / "held.jsonl", "--tokenizer", self.model, "--out", self.folder / "held")
        result = json.loads(run("eval", "ppl", "--model", self.model, "--data", self.folder / "held", "--seq-length", 64,
                                "--documents", "--json"))
        total = tokens = 0
        for text in texts:
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"] + [self.tokenizer.eos_token_id]
            for piece in (ids[i:i + 64] for i in range(0, len(ids), 64)):
                if len(piece) < 2:
                    continue
                row = torch.tensor([piece])
                with torch.no_grad():
                    loss = self.theirs(row, labels=row).loss.item()
                total += loss * (len(piece) - 1)
                tokens += len(piece) - 1
        self.assertEqual(result["tokens"], tokens)
        self.assertAlmostEqual(result["loss"], total / tokens, delta=1e-5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
