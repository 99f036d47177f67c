"""Ids, text and byte ranges of real and trained tokenizers against the libraries tokenizers and transformers."""

import json
import random
import tempfile
import unittest
import warnings
from pathlib import Path

import gguf
import inputs
import probe
from sample_text import strings
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer

COUNT = 20000


class TokenizerCase(unittest.TestCase):
    def check_equal(self, texts, got, want, what):
        wrong = [i for i in range(len(texts)) if got[i] != want[i]]
        shown = [(texts[i][:80], got[i][:12], want[i][:12]) for i in wrong[:3]]
        self.assertFalse(wrong, f"{what}: {len(wrong)} of {len(texts)} differ, e.g. {shown}")

    def check(self, judge, path, count, seed=1):
        """Ids with and without special names, decoding, and byte ranges."""
        specials = [token.content for token in judge.get_added_tokens_decoder().values()]
        texts = strings(count, specials, seed)
        self.assertEqual(len(texts), count)
        for command, plain in (("encode", False), ("encode-plain", True)):
            judge.encode_special_tokens = plain
            want = [e.ids for e in judge.encode_batch(texts, add_special_tokens=False)]
            self.check_equal(texts, probe.run(texts, command, path), want, command)
        judge.encode_special_tokens = False
        rng = random.Random(seed)
        size = judge.get_vocab_size()
        lists = [[rng.randrange(size) for _ in range(rng.randint(0, 20))] for _ in range(count // 5)]
        for command, skip in (("decode", False), ("decode-skip", True)):
            want = [judge.decode(ids, skip_special_tokens=skip) for ids in lists]
            self.check_equal(lists, probe.run(lists, command, path), want, command)
        if judge.normalizer is None:
            self.check_ranges(texts[: count // 5], path)

    def check_ranges(self, texts, path):
        """Where nothing normalizes, ranges follow each other without overlap and none is beyond the text."""
        for text, spans in zip(texts, probe.run(texts, "spans", path)):
            at = 0
            for _, begin, end in spans:
                self.assertTrue(at <= begin <= end <= len(text.encode()), (text, spans))
                at = end


class RealTokenizers(TokenizerCase):
    def test_smollm2_from_gguf(self):
        path = inputs.smollm2_gguf()
        fields = gguf.GGUFReader(path).fields
        tokens = fields["tokenizer.ggml.tokens"].contents()
        merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
        judge = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
        judge.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
        judge.decoder = decoders.ByteLevel()
        kinds = fields["tokenizer.ggml.token_type"].contents()
        judge.add_special_tokens([AddedToken(t, normalized=False) for t, kind in zip(tokens, kinds) if kind == 3])
        self.check(judge, path, COUNT)

    def test_deepseek(self):
        folder = inputs.deepseek_folder()
        self.check(Tokenizer.from_file(str(folder / "tokenizer.json")), folder, COUNT, seed=2)

    def test_families_of_gguf(self):
        """The ids that llama.cpp stores beside its vocabularies."""
        folder = inputs.llama_cpp_models()
        for name in ("gpt-2", "llama-bpe", "qwen2", "starcoder", "refact"):
            with self.subTest(name):
                vocabulary = folder / f"ggml-vocab-{name}.gguf"
                texts = Path(f"{vocabulary}.inp").read_text().split("\n__ggml_vocab_test__\n")
                lines = Path(f"{vocabulary}.out").read_text().split("\n")
                want = [[int(i) for i in line.split()] for line in lines[: len(texts)]]
                self.check_equal(texts, probe.run(texts, "encode", vocabulary), want, name)

    def test_saved_files_load_in_transformers(self):
        conversation = [{"role": "user", "content": "Wie geht's?"}, {"role": "assistant", "content": "Gut."}]
        for path in (inputs.smollm2_gguf(), inputs.deepseek_folder()):
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                probe.run([], "save", path, folder)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    theirs = AutoTokenizer.from_pretrained(folder)
                texts = strings(2000, theirs.all_special_tokens, 3)
                want = theirs(texts, add_special_tokens=False)["input_ids"]
                self.check_equal(texts, probe.run(texts, "encode", folder), want, "saved files")
                self.check_equal(texts, probe.run(texts, "encode", path), want, "source")
                if theirs.chat_template is None:
                    continue
                self.assertEqual((theirs.bos_token_id, theirs.eos_token_id, theirs.pad_token_id, theirs.unk_token_id),
                                 (1, 2, 2, 0))
                self.assertEqual(theirs.model_max_length, 8192)
                line = {"template": (Path(folder) / "chat_template.jinja").read_text(), "messages": conversation}
                self.assertEqual(probe.run([line], "render")[0]["text"],
                                 theirs.apply_chat_template(conversation, tokenize=False))

    def test_unchanged_files_are_kept(self):
        source = inputs.deepseek_folder()
        with tempfile.TemporaryDirectory() as folder:
            probe.run([], "save", source, folder)
            for name in ("tokenizer.json", "tokenizer_config.json"):
                self.assertEqual((Path(folder) / name).read_bytes(), (source / name).read_bytes())


def trained(**parts):
    """A tokenizer of 700 tokens, trained on the sample's own kind of text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "</s>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(strings(3000, [], 7), trainer)
    tokenizer.decoder = decoders.ByteLevel()
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer


LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def sequence(*steps):
    return pre_tokenizers.Sequence(list(steps))


class TrainedTokenizers(TokenizerCase):
    """Every piece of tokenizer.json that this reader knows."""

    def check_small(self, judge, count=1500):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            judge.save(str(path))
            self.check(judge, path, count, seed=5)
            return path

    def test_plain(self):
        self.check_small(trained())

    def test_normalizers(self):
        for form in (normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(),
                     normalizers.Replace("e", "EE"), normalizers.Replace(Regex(r"\s+"), "_"), normalizers.Prepend(">"),
                     normalizers.Sequence([normalizers.NFC(), normalizers.Replace("ab", "")])):
            with self.subTest(str(form)):
                self.check_small(trained(normalizer=form), 600)

    def test_prefix_space(self):
        self.check_small(trained(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True)))

    def test_digits(self):
        for individual in (False, True):
            self.check_small(trained(pre_tokenizer=sequence(
                pre_tokenizers.Digits(individual_digits=individual), pre_tokenizers.ByteLevel(add_prefix_space=False))))

    def test_split_behaviors(self):
        for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
            for pattern in (" ", Regex(r"\p{P}"), Regex(r"\w+|\s"), Regex("x*"), Regex(r"[^\s\w]+(?=\s)")):
                for invert in (False, True):
                    with self.subTest(f"{behavior} {pattern} {invert}"):
                        split = pre_tokenizers.Split(pattern, behavior, invert)
                        self.check_small(trained(pre_tokenizer=sequence(split, BYTES)), 300)

    def test_patterns_of_known_models(self):
        cl100k = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
        o200k = "|".join([
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
        for pattern in (LLAMA3, cl100k, o200k):
            split = pre_tokenizers.Split(Regex(pattern), "isolated")
            self.check_small(trained(pre_tokenizer=sequence(split, BYTES)))

    def test_other_steps(self):
        falcon = sequence(pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
                          pre_tokenizers.Digits(individual_digits=False),
                          pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"))
        for steps in (falcon, sequence(pre_tokenizers.Whitespace(), BYTES), sequence(pre_tokenizers.WhitespaceSplit(), BYTES),
                      sequence(pre_tokenizers.Punctuation(), BYTES),
                      sequence(pre_tokenizers.Split(" ", "removed"), pre_tokenizers.ByteLevel(add_prefix_space=True))):
            with self.subTest(str(steps)):
                self.check_small(trained(pre_tokenizer=steps))

    def test_added_tokens(self):
        judge = trained(normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]))
        judge.add_tokens([AddedToken("New York", single_word=True), AddedToken("the", lstrip=True, normalized=False),
                          AddedToken("hello", rstrip=True), AddedToken("é", normalized=True), "def", "camelcase"])
        judge.add_special_tokens([AddedToken("<|a|>", lstrip=True), AddedToken("<|ab|>", rstrip=True),
                                  AddedToken("<|a", single_word=True), AddedToken("<|we|>", normalized=True)])
        self.check_small(judge, 4000)

    def test_model_options(self):
        spec = json.loads(trained().to_str())
        vocabulary = spec["model"]["vocab"]
        whole = next(t for t in vocabulary if len(t) > 4)
        spec["model"]["merges"] = [m for m in spec["model"]["merges"] if "".join(m) != whole]
        spec["model"]["ignore_merges"] = True
        self.check_small(Tokenizer.from_str(json.dumps(spec)))
        for fuse in (False, True):
            holes = json.loads(trained().to_str())
            for token in ("é", "x", "Ġ", "Ã"):
                holes["model"]["vocab"].pop(token, None)
            holes["model"]["merges"] = [m for m in holes["model"]["merges"]
                                        if all(t in holes["model"]["vocab"] for t in (*m, "".join(m)))]
            order = sorted(holes["model"]["vocab"], key=holes["model"]["vocab"].get)
            holes["model"]["vocab"] = {token: i for i, token in enumerate(order)}
            holes["model"].update(unk_token="<s>", fuse_unk=fuse)
            self.check_small(Tokenizer.from_str(json.dumps(holes)))
            holes["model"]["unk_token"] = None
            self.check_small(Tokenizer.from_str(json.dumps(holes)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
