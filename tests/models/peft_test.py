"""LoRA against peft: gradients of its adapters, our files in its hands, merged weights."""

import common  # first: it silences progress bars
import torch
from common import parity, probe
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


TARGETS = ["q_proj", "v_proj", "down_proj"]


class Peft(common.FolderTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)
        config = LlamaConfig(vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=2,
                             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
                             initializer_range=0.1, tie_word_embeddings=True)
        self.base, self.adapter = self.folder / "base", self.folder / "adapter"
        LlamaForCausalLM(config).save_pretrained(self.base)
        self.ids = torch.randint(0, 97, (2, 50))

    def load_base(self):
        return LlamaForCausalLM.from_pretrained(self.base, attn_implementation="eager")

    def compare(self, model, ours):
        """Logits, loss and every adapter gradient."""
        theirs = model(input_ids=self.ids, labels=self.ids)
        theirs.loss.backward()
        self.assert_close(ours["logits"], theirs.logits, 1e-5, "logits")
        self.assert_close(ours["loss"], theirs.loss, 1e-6, "loss")
        expected = {k.replace(".default.", "."): v for k, v in common.gradients(model).items()}
        self.assertEqual({k[5:] for k in ours if k.startswith("grad.")}, set(expected))
        for name, grad in expected.items():
            self.assert_close(ours["grad." + name], grad, 1e-5, name)

    def test_gradients_of_an_adapter_that_peft_wrote(self):
        config = LoraConfig(r=5, lora_alpha=11, target_modules=TARGETS, init_lora_weights=False, task_type="CAUSAL_LM")
        model = get_peft_model(self.load_base(), config)
        model.save_pretrained(self.adapter)
        self.compare(model, parity(self.adapter, {"input_ids": self.ids}))
        again = parity(self.adapter, {"input_ids": self.ids}, "float32", "recompute")
        self.compare(model_with_fresh_gradients(model), again)

    def test_peft_loads_our_adapter(self):
        probe("adapter", self.base, self.adapter, 6, *TARGETS)
        with common.NoWarnings():
            model = PeftModel.from_pretrained(self.load_base(), self.adapter, is_trainable=True)
        self.compare(model, parity(self.adapter, {"input_ids": self.ids}))

    def test_merged_weights_equal_pefts(self):
        probe("adapter", self.base, self.adapter, 6, "all-linear")
        probe("merge", self.adapter, self.folder / "merged")
        with common.NoWarnings():
            ours = LlamaForCausalLM.from_pretrained(self.folder / "merged")
        theirs = PeftModel.from_pretrained(self.load_base(), self.adapter).merge_and_unload().state_dict()
        changed = 0
        base = self.load_base().state_dict()
        for name, weight in ours.state_dict().items():
            self.assert_close(weight, theirs[name], 1e-6, name)
            changed += not torch.equal(weight, base[name])
        self.assertEqual(changed, 2 * 7)


def model_with_fresh_gradients(model):
    model.zero_grad()
    return model


if __name__ == "__main__":
    common.main()
