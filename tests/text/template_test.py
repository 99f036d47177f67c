"""Chat templates against jinja2 as transformers configures it: text, errors, and the assistant's bytes."""

import datetime
import os
import re
import time
import unittest

import inputs
import probe
import snippets
from conversations import CONVERSATIONS, EXTRAS, SPECIAL, TOOLS, assistant, user
from transformers.utils import chat_template_utils

os.environ["TZ"] = "UTC"
time.tzset()


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime(1970, 1, 1)


chat_template_utils.datetime = FixedTime

MUST_HAVE = {
    "meta-llama-Llama-3.1-8B-Instruct": "llama", "meta-llama-Llama-3.2-3B-Instruct": "llama",
    "meta-llama-Llama-3.3-70B-Instruct": "llama", "Qwen-Qwen2.5-7B-Instruct": "chatml", "Qwen-Qwen3-0.6B": "chatml",
    "SmolLM2": "chatml"}
TURNS = {"llama": r"<\|start_header_id\|>assistant<\|end_header_id\|>\n\n(.*?<\|e[ot][tm]_id\|>)",
         "chatml": r"<\|im_start\|>assistant\n(.*?<\|im_end\|>)"}


def jinja2_text(source, variables):
    """The text, or the exception."""
    try:
        return chat_template_utils._compile_jinja_template(source).render(**variables)
    except Exception as error:
        return error


def sources():
    found = {path.stem: path.read_text() for path in sorted(inputs.llama_cpp_models().glob("templates/*.jinja"))}
    import gguf
    found["SmolLM2"] = gguf.GGUFReader(inputs.smollm2_gguf()).fields["tokenizer.chat_template"].contents()
    return found


class Templates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = sources()

    def test_the_named_templates_are_there(self):
        self.assertLessEqual(set(MUST_HAVE), set(self.sources))
        self.assertGreater(len(self.sources), 60)

    def test_every_template_over_every_conversation(self):
        lines, wanted, names = [], [], []
        for name, source in self.sources.items():
            for messages in CONVERSATIONS:
                for tools in (None, TOOLS):
                    for prompt in (False, True):
                        for extra in EXTRAS:
                            lines.append({"template": source, "messages": messages, "tools": tools, "special": SPECIAL,
                                          "add_generation_prompt": prompt, "extra": extra, "now": 0})
                            wanted.append(jinja2_text(source, {
                                "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt,
                                **SPECIAL, **extra}))
                            names.append(name)
        got = probe.run(lines, "render")
        equal = dict.fromkeys(self.sources, 0)
        for name, line, want, answer in zip(names, lines, wanted, got):
            if isinstance(want, Exception):
                self.assertIn("error", answer, f"{name}: jinja2 fails with {want!r}: {line}")
                continue
            self.assertEqual(answer.get("text", answer.get("error")), want, f"{name}: {line}")
            equal[name] += 1
        # A template that refuses every conversation would prove nothing.
        for name in MUST_HAVE:
            self.assertGreater(equal[name], 180, name)
        self.assertGreater(sum(count > 100 for count in equal.values()), 60, equal)

    def test_assistant_bytes_of_the_named_templates(self):
        checked = 0
        for name, style in MUST_HAVE.items():
            for messages in CONVERSATIONS:
                if not any(m["role"] == "assistant" for m in messages) or "<|im" in str(messages):
                    continue
                for extra in ({}, {"enable_thinking": False}):
                    line = {"template": self.sources[name], "messages": messages, "special": SPECIAL, "extra": extra,
                            "spans": True, "now": 0}
                    answer = probe.run([line], "render")[0]
                    if isinstance(jinja2_text(line["template"], {"messages": messages, "tools": None, "documents": None,
                                                                 "add_generation_prompt": False, **SPECIAL, **extra}),
                                  Exception):
                        continue
                    self.assertIn("assistant", answer, f"{name}: {answer} {messages}")
                    text = answer["text"].encode()
                    got = [text[begin:end].decode() for begin, end, _ in answer["assistant"]]
                    want = re.findall(TURNS[style], answer["text"], re.S)
                    if extra:
                        # What the prompt holds already is not the assistant's.
                        want = [re.sub(r"^<think>\n\n</think>\n\n", "", turn) if "Qwen3" in name else turn for turn in want]
                    self.assertEqual(got, want, f"{name}: {messages}")
                    roles = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
                    self.assertEqual([message for *_, message in answer["assistant"]], roles)
                    checked += 1
        self.assertGreater(checked, 100)

    def test_spans_are_never_silent(self):
        """On every template: an error, or one span a turn that holds the turn's words and ends behind them."""
        messages = [user("Q?"), assistant("first-answer"), user("R?"), assistant("second-answer")]
        lines = [{"template": source, "messages": messages, "special": SPECIAL, "spans": True, "now": 0}
                 for source in self.sources.values()]
        told = 0
        for name, answer in zip(self.sources, probe.run(lines, "render")):
            if "error" in answer:
                continue
            text = answer["text"].encode()
            spans = [text[begin:end].decode() for begin, end, _ in answer["assistant"]]
            self.assertEqual(len(spans), 2, name)
            for span, words in zip(spans, ("first-answer", "second-answer")):
                self.assertIn(words, span, name)
                self.assertFalse(span.endswith(words), f"{name}: no end marker in {span!r}")
                self.assertNotIn("?", span, name)
            told += 1
        self.assertGreater(told, 45)

    def test_generation_blocks_are_those_of_transformers(self):
        source = ("{% for m in messages %}{{ '<' + m.role + '>' }}{% if m.role == 'assistant' %}{% generation %}"
                  "{{ m.content }}</s>{% endgeneration %}{% else %}{{ m.content }}{% endif %}\n{% endfor %}")
        messages = [user("ü?"), assistant("é1"), user("R"), assistant("漢")]
        _, indices = chat_template_utils.render_jinja_template(
            [messages], chat_template=source, return_assistant_tokens_mask=True)
        answer = probe.run([{"template": source, "messages": messages, "spans": True}], "render")[0]
        characters = [[len(answer["text"].encode()[:at].decode()) for at in span[:2]] for span in answer["assistant"]]
        self.assertEqual(characters, [list(pair) for pair in indices[0]])


class Language(unittest.TestCase):
    def test_snippets(self):
        lines = [{"template": s, "messages": snippets.MESSAGES, "extra": snippets.VARIABLES, "now": 0}
                 for s in snippets.SNIPPETS]
        for line, answer in zip(lines, probe.run(lines, "render")):
            source = line["template"]
            with self.subTest(source):
                want = jinja2_text(source, {"messages": snippets.MESSAGES, "tools": None, "documents": None,
                                            "add_generation_prompt": False, **snippets.VARIABLES})
                if isinstance(want, Exception):
                    self.assertIn("error", answer, f"jinja2 fails with {want!r}")
                    self.assertNotIn("is not supported", answer["error"])
                else:
                    self.assertEqual(answer.get("text", answer.get("error")), want)


if __name__ == "__main__":
    unittest.main(verbosity=2)
