"""Small random Llama and Qwen2 models in float32 and float64 against transformers: logits, loss, every gradient."""

import common  # first: it silences progress bars
import torch
from common import parity
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM


LIMIT = 1e-5
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
CONFIGS = {
    "grouped, tied": dict(hidden_size=48, num_attention_heads=6, num_key_value_heads=2, tie_word_embeddings=True),
    "untied, biases": dict(hidden_size=32, num_attention_heads=4, num_key_value_heads=4, attention_bias=True,
                           mlp_bias=True),
    "llama3 scaling, wide heads": dict(hidden_size=40, num_attention_heads=4, num_key_value_heads=1, head_dim=16,
                                       rope_parameters=LLAMA3),
    "linear scaling, one layer": dict(hidden_size=24, num_attention_heads=2, num_key_value_heads=2,
                                      num_hidden_layers=1, tie_word_embeddings=True, rms_norm_eps=1e-5,
                                      rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}),
    "qwen2, tied": dict(family="qwen2", hidden_size=48, num_attention_heads=6, num_key_value_heads=2,
                        tie_word_embeddings=True),
    "qwen2, untied": dict(family="qwen2", hidden_size=32, num_attention_heads=4, num_key_value_heads=4,
                          rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
}


def make_model(options, seed):
    torch.manual_seed(seed)
    settings = dict(vocab_size=131, intermediate_size=56, num_hidden_layers=3, max_position_embeddings=256,
                    initializer_range=0.15, attn_implementation="eager")
    settings.update(options)
    if settings.pop("family", "llama") == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**settings))
    else:
        model = LlamaForCausalLM(LlamaConfig(**settings))
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


def counted_sum(model, ids, labels):
    """Logits and summed loss of transformers."""
    logits = model(input_ids=ids).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(),
                                             ignore_index=-100, reduction="sum")
    return logits, loss


class DecoderParity(common.ParityTest):
    def rows(self, name, dtype, limit):
        options = CONFIGS[name]
        model = make_model(options, seed=3)
        model.save_pretrained(self.folder)
        model = model.to(dtype)
        ids = torch.randint(0, 131, (3, 70))
        labels = torch.where(torch.rand(3, 70) < 0.2, -100, ids)
        theirs = model(input_ids=ids, labels=labels)
        theirs.loss.backward()
        for way in ([], ["fused"]):
            ours = parity(self.folder, {"input_ids": ids, "labels": labels}, str(dtype).split(".")[1], *way)
            self.compare(ours, theirs.logits, theirs.loss, model, limit, f"{name} {dtype} {way}")

    def test_rows_float32(self):
        for name in CONFIGS:
            with self.subTest(name):
                self.rows(name, torch.float32, LIMIT)

    def test_rows_float64(self):
        # transformers keeps the rotary tables in float32 here too; ours are float64.
        for name in CONFIGS:
            with self.subTest(name):
                self.rows(name, torch.float64, 2e-6)

    def test_packed_documents_equal_separate_runs(self):
        lengths = [19, 1, 44, 7]
        for name, options in CONFIGS.items():
            with self.subTest(name):
                model = make_model(options, seed=4)
                model.save_pretrained(self.folder)
                parts = [torch.randint(0, 131, (1, n)) for n in lengths]
                results = [counted_sum(model, ids, ids) for ids in parts]
                loss = sum(r[1] for r in results) / (sum(lengths) - len(lengths))
                loss.backward()
                logits = torch.cat([r[0][0] for r in results])
                bounds = torch.tensor([0, *torch.tensor(lengths).cumsum(0)], dtype=torch.int32)
                packed = {"input_ids": torch.cat(parts, 1)[0], "cu_seqlens": bounds}
                plain = parity(self.folder, packed)
                self.compare(plain, logits, loss, model, LIMIT, f"{name} packed")
                again = parity(self.folder, packed, "float32", "recompute")
                for key, value in plain.items():
                    self.assertTrue(torch.equal(value, again[key]), f"recompute changes {key}")

    def test_given_positions_are_used(self):
        model = make_model(CONFIGS["grouped, tied"], seed=5)
        model.save_pretrained(self.folder)
        ids = torch.randint(0, 131, (1, 20))
        positions = torch.arange(100, 120)[None] * 2
        theirs = model(input_ids=ids, labels=ids, position_ids=positions)
        theirs.loss.backward()
        ours = parity(self.folder, {"input_ids": ids, "position_ids": positions})
        self.compare(ours, theirs.logits, theirs.loss, model, LIMIT, "positions")

    def test_bfloat16_is_near(self):
        model = make_model(CONFIGS["grouped, tied"], seed=6)
        model.save_pretrained(self.folder)
        ids = torch.randint(0, 131, (2, 64))
        theirs = model(input_ids=ids, labels=ids)
        theirs.loss.backward()
        ours = parity(self.folder, {"input_ids": ids}, "bfloat16")
        self.compare(ours, theirs.logits, theirs.loss, model, 0.05, "bfloat16")


if __name__ == "__main__":
    common.main()
