"""Small random Qwen2.5-VL models against transformers: pictures and clips, packed and not, all gradients."""

import common  # first: it silences progress bars
import torch
from common import parity
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

LIMIT = 1e-5
IMAGE, VIDEO, START, END = 120, 121, 122, 123


def vision(**options):
    return dict(depth=3, hidden_size=32, num_heads=2, intermediate_size=40, patch_size=4, temporal_patch_size=2,
                spatial_merge_size=2, window_size=16, fullatt_block_indexes=[1], tokens_per_second=2,
                **options)


def text(**options):
    return {**dict(vocab_size=131, hidden_size=48, intermediate_size=56, num_hidden_layers=2, num_attention_heads=6,
                   num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.15, bos_token_id=1,
                   eos_token_id=2,
                   rope_parameters={"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}), **options}


CONFIGS = {
    "windows, untied": (vision(), text(), False),
    "tied, wide heads": ({**vision(), "num_heads": 4, "hidden_size": 48, "patch_size": 2, "window_size": 12},
                         text(num_attention_heads=3, num_key_value_heads=3, head_dim=16,
                              rope_parameters={"rope_type": "default", "rope_theta": 1e6,
                                               "mrope_section": [2, 3, 3]}), True),
    "all blocks whole": ({**vision(), "depth": 2, "fullatt_block_indexes": [0, 1], "temporal_patch_size": 1,
                          "spatial_merge_size": 1, "tokens_per_second": 5},
                         text(num_hidden_layers=1, num_key_value_heads=6), False),
}


def make_model(name, seed):
    torch.manual_seed(seed)
    tower, language, tied = CONFIGS[name]
    tower = {**tower, "out_hidden_size": language["hidden_size"], "initializer_range": 0.15}
    config = Qwen2_5_VLConfig(vision_config=tower, text_config=language, image_token_id=IMAGE, video_token_id=VIDEO,
                              vision_start_token_id=START, vision_end_token_id=END, tie_word_embeddings=tied)
    model = Qwen2_5_VLForConditionalGeneration._from_config(config, attn_implementation="eager")
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


class Sample:
    """A text with pictures and clips: `parts` are numbers of words, ("image", t, h, w) or ("video", t, h, w), sides in
    tokens."""

    def __init__(self, model, *parts):
        config = model.config.vision_config
        merge = config.spatial_merge_size
        row = config.in_channels * config.temporal_patch_size * config.patch_size**2
        ids, self.grids, self.pixels = [], {"image": [], "video": []}, {"image": [], "video": []}
        for part in parts:
            if isinstance(part, int):
                ids += torch.randint(0, 110, (part,)).tolist()
                continue
            kind, t, h, w = part
            ids += [START] + [IMAGE if kind == "image" else VIDEO] * (t * h * w) + [END]
            self.grids[kind].append([t, h * merge, w * merge])
            self.pixels[kind].append(torch.randn(t * h * w * merge * merge, row))
        self.ids = torch.tensor(ids)
        self.seconds = [0.5 + 0.75 * i for i in range(len(self.grids["video"]))]

    def inputs(self):
        """As transformers takes them."""
        ids = self.ids[None]
        out = {"input_ids": ids, "attention_mask": torch.ones_like(ids),
               "mm_token_type_ids": (ids == IMAGE).int() + 2 * (ids == VIDEO).int()}
        for kind, pixels, grid in (("image", "pixel_values", "image_grid_thw"),
                                   ("video", "pixel_values_videos", "video_grid_thw")):
            if self.grids[kind]:
                out[pixels] = torch.cat(self.pixels[kind])
                out[grid] = torch.tensor(self.grids[kind])
        if self.seconds:
            out["second_per_grid_ts"] = torch.tensor(self.seconds)
        return out


def packed(samples):
    """The samples behind each other in one row, as `parity` takes them."""
    parts = [s.inputs() for s in samples]
    lengths = torch.tensor([0] + [len(s.ids) for s in samples])
    out = {"input_ids": torch.cat([s.ids for s in samples]), "cu_seqlens": lengths.cumsum(0).int()}
    for key in ("pixel_values", "image_grid_thw", "pixel_values_videos", "video_grid_thw", "second_per_grid_ts"):
        given = [p[key] for p in parts if key in p]
        if given:
            out[key] = torch.cat(given)
    return out


def samples_of(model):
    return [
        Sample(model, 5, ("image", 1, 3, 5), 7, ("image", 1, 4, 4), 4),
        Sample(model, 3, ("video", 3, 2, 5), 6),
        Sample(model, 9),
        Sample(model, ("video", 5, 1, 1), 2, ("image", 1, 9, 2), ("video", 2, 4, 4), 8),
    ]


class Qwen25VlParity(common.ParityTest):
    def one_by_one(self, name, dtype, limit):
        model = make_model(name, seed=3)
        model.save_pretrained(self.folder)
        model = model.to(dtype)
        for i, sample in enumerate(samples_of(model)):
            model.zero_grad()
            inputs = sample.inputs()
            labels = torch.where(torch.rand(inputs["input_ids"].shape) < 0.2, -100, inputs["input_ids"])
            theirs = model(**inputs, labels=labels)
            theirs.loss.backward()
            given = {k: v.contiguous() for k, v in inputs.items() if k not in ("attention_mask", "mm_token_type_ids")}
            ours = parity(self.folder, {**given, "labels": labels}, str(dtype).split(".")[1])
            if not any(sample.grids.values()):  # the tower is not run: upstream leaves no gradient, ours are zero
                for key in [k for k in ours if k.startswith("grad.model.visual")]:
                    self.assertEqual(float(ours.pop(key).abs().max()), 0.0)
            self.compare(ours, theirs.logits, theirs.loss, model, limit, f"{name}, sample {i}, {dtype}")

    def test_one_by_one_float32(self):
        for name in CONFIGS:
            with self.subTest(name):
                self.one_by_one(name, torch.float32, LIMIT)

    def test_one_by_one_float64(self):
        # transformers keeps rotary tables in float32 here too; ours are float64.
        for name in CONFIGS:
            with self.subTest(name):
                self.one_by_one(name, torch.float64, 2e-6)

    def test_packed_equals_separate_runs(self):
        for name in CONFIGS:
            with self.subTest(name):
                model = make_model(name, seed=4)
                model.save_pretrained(self.folder)
                samples = samples_of(model)
                loss, logits, counted = 0, [], 0
                for sample in samples:
                    out = model(**sample.inputs()).logits[0]
                    loss = loss + torch.nn.functional.cross_entropy(out[:-1], sample.ids[1:], reduction="sum")
                    counted += len(sample.ids) - 1
                    logits.append(out)
                loss = loss / counted
                loss.backward()
                plain = parity(self.folder, packed(samples))
                self.compare(plain, torch.cat(logits), loss, model, LIMIT, f"{name} packed")
                for way in ("recompute", "fused"):
                    again = parity(self.folder, packed(samples), "float32", way)
                    self.compare(again, torch.cat(logits), loss, model, LIMIT, f"{name} packed, {way}")

    def test_names_of_modules_in_files_are_read(self):
        from safetensors.torch import save_file
        model = make_model("windows, untied", seed=5)
        model.save_pretrained(self.folder)
        save_file({k: v.contiguous() for k, v in model.state_dict().items()}, self.folder / "model.safetensors")
        sample = samples_of(model)[0]
        theirs = model(**sample.inputs(), labels=sample.ids[None])
        theirs.loss.backward()
        ours = parity(self.folder, packed([sample]))
        self.compare(ours, theirs.logits[0], theirs.loss, model, LIMIT, "module names")

    def test_bfloat16_is_near(self):
        model = make_model("windows, untied", seed=6)
        model.save_pretrained(self.folder)
        sample = samples_of(model)[3]
        theirs = model(**sample.inputs(), labels=sample.ids[None])
        theirs.loss.backward()
        ours = parity(self.folder, packed([sample]), "bfloat16")
        self.compare(ours, theirs.logits[0], theirs.loss, model, 0.1, "bfloat16")


if __name__ == "__main__":
    common.main()
