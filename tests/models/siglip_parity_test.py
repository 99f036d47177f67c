"""Small random SigLIP towers against transformers: pictures of several sizes in one call, the last hidden state and all
gradients."""

import json
import tempfile
from pathlib import Path

import common  # first: it silences progress bars
import torch
from safetensors.torch import load_file, save_file
from transformers import SiglipConfig, SiglipModel, SiglipTextConfig, SiglipVisionConfig, SiglipVisionModel

LIMIT = 1e-5


def sizes(**options):
    return {**dict(hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=2, image_size=24,
                   patch_size=4, spatial_merge_size=1, vision_use_head=False), **options}


# The tower, and its pictures: frames, height and width in pixels. Frames of a clip are pictures of their own.
CONFIGS = {
    "its own grid": (sizes(), [(1, 24, 24), (1, 24, 24), (3, 24, 24)]),
    "other grids": (sizes(hidden_size=48, num_attention_heads=4, num_hidden_layers=3, layer_norm_eps=1e-5),
                    [(1, 24, 24), (1, 16, 36), (1, 36, 16), (2, 8, 52), (1, 24, 24), (1, 4, 4)]),
    "merged, odd channels": (sizes(hidden_size=42, num_attention_heads=3, intermediate_size=37, image_size=30,
                                   patch_size=3, spatial_merge_size=2),
                             [(1, 30, 30), (1, 24, 42), (2, 6, 12)]),
    "a side of no whole patches": (sizes(image_size=27, spatial_merge_size=3), [(1, 24, 24), (1, 12, 36)]),
}


def make_model(options, seed):
    torch.manual_seed(seed)
    model = SiglipVisionModel._from_config(SiglipVisionConfig(**options), attn_implementation="eager")
    randomize(model)
    return model


def randomize(model):
    for parameter in model.parameters():
        parameter.data += (0.2 if parameter.dim() == 1 else 0.02) * torch.randn_like(parameter)


class Picture:
    """Frames (t, 3, height, width) of one size."""

    def __init__(self, config, frames, height, width):
        self.patch, self.merge = config.patch_size, config.spatial_merge_size
        self.grid = [frames, height // self.patch, width // self.patch]
        self.frames = torch.randn(frames, 3, height, width)

    def in_units(self, grid):
        """(t, h, w, ...) → (P, ...): the patches of a unit are neighbours."""
        t, h, w = self.grid
        m = self.merge
        parts = grid.reshape(t, h // m, m, w // m, m, -1)
        return parts.permute(0, 1, 3, 2, 4, 5).reshape(t * h * w, -1)

    def rows(self):
        t, h, w = self.grid
        p = self.patch
        return self.in_units(self.frames.reshape(t, 3, h, p, w, p).permute(0, 2, 4, 1, 3, 5))

    def hidden(self, model):
        """What transformers makes of it, in our order."""
        own = self.grid[1] == self.grid[2] == model.config.image_size // self.patch
        frames = self.frames.to(model.dtype)
        if own and model.config.image_size != frames.shape[-1]:  # the convolution leaves the rest of the picture
            rest = model.config.image_size - frames.shape[-1]
            frames = torch.nn.functional.pad(frames, (0, rest, 0, rest), value=7.0)
        return self.in_units(model(frames, interpolate_pos_encoding=not own).last_hidden_state)


def tower(folder, pictures, weights, dtype):
    """last_hidden_state and grad.NAME of the C++ tower."""
    with tempfile.TemporaryDirectory() as temporary:
        given, got = Path(temporary) / "in.safetensors", Path(temporary) / "out.safetensors"
        save_file({"pixel_values": torch.cat([p.rows() for p in pictures]).contiguous(), "weights": weights,
                   "grid_thw": torch.tensor([p.grid for p in pictures])}, given)
        common.probe("tower", folder, given, got, dtype)
        return {k.replace("vision_model.", ""): v for k, v in load_file(got).items()}


class SiglipParity(common.FolderTest):
    def compare(self, model, shapes, limit, what, dtype="float32"):
        pictures = [Picture(model.config, *shape) for shape in shapes]
        model.zero_grad()
        theirs = torch.cat([p.hidden(model) for p in pictures])
        weights = torch.randn(theirs.shape)
        (theirs * weights).sum().backward()
        ours = tower(self.folder, pictures, weights, dtype)
        worst = self.assert_close(ours["last_hidden_state"], theirs, limit, f"{what}: last_hidden_state")
        gradients = common.gradients(model)
        self.assertEqual({k[5:] for k in ours if k.startswith("grad.")}, set(gradients), what)
        for name, grad in gradients.items():
            if name.endswith("k_proj.bias"):  # softmax does not see it: zero but for rounding on both sides
                scale = gradients[name.replace("bias", "weight")].norm()
                self.assertLess(float(ours["grad." + name].norm()), 10 * limit * float(scale), f"{what}: {name}")
                self.assertLess(float(grad.norm()), 10 * limit * float(scale), f"{what}: {name}")
            else:
                worst = max(worst, self.assert_close(ours["grad." + name], grad, limit, f"{what}: {name}"))
        print(f"{what}: worst relative error {worst:.1e}")

    def test_float32(self):
        for i, (name, (options, shapes)) in enumerate(CONFIGS.items()):
            with self.subTest(name):
                model = make_model(options, seed=i)
                model.save_pretrained(self.folder)
                self.compare(model, shapes, LIMIT, name)

    def test_float64(self):
        for i, (name, (options, shapes)) in enumerate(CONFIGS.items()):
            with self.subTest(name):
                model = make_model(options, seed=10 + i)
                model.save_pretrained(self.folder)
                # transformers' softmax runs in float32 here too; ours in float64.
                self.compare(model.double(), shapes, 2e-6, f"{name}, float64", "float64")

    def test_bfloat16_is_near(self):
        options, shapes = CONFIGS["other grids"]
        model = make_model(options, seed=20)
        model.save_pretrained(self.folder)
        self.compare(model, shapes, 0.1, "bfloat16", "bfloat16")

    def test_older_names_and_a_head_are_read(self):
        options, shapes = CONFIGS["other grids"]
        model = make_model(options, seed=21)
        model.save_pretrained(self.folder)
        tensors = {"vision_model." + k: v for k, v in model.state_dict().items()}
        tensors["vision_model.embeddings.position_ids"] = torch.arange(36)[None]
        tensors["vision_model.head.probe"] = torch.randn(1, 1, 48)
        save_file(tensors, self.folder / "model.safetensors")
        self.compare(model, shapes, LIMIT, "older names")

    def test_the_tower_of_a_whole_siglip_is_read(self):
        options, shapes = CONFIGS["other grids"]
        text = SiglipTextConfig(vocab_size=50, hidden_size=48, intermediate_size=24, num_hidden_layers=1,
                                num_attention_heads=2, bos_token_id=1, eos_token_id=2)
        torch.manual_seed(22)
        with_head = {k: v for k, v in options.items() if k != "vision_use_head"}
        whole = SiglipModel(SiglipConfig(vision_config=SiglipVisionConfig(**with_head).to_dict(),
                                         text_config=text.to_dict()))
        whole.save_pretrained(self.folder)
        self.assertEqual(json.loads((self.folder / "config.json").read_text())["model_type"], "siglip")
        self.compare_tower_of(whole, shapes)

    def compare_tower_of(self, whole, shapes):
        model = whole.vision_model
        model.set_attn_implementation("eager")
        model.head, model.use_head = None, False
        self.compare(model, shapes, LIMIT, "tower of a whole siglip")

    def test_other_activations_are_refused(self):
        make_model(sizes(hidden_act="gelu"), seed=23).save_pretrained(self.folder)
        with self.assertRaisesRegex(AssertionError, "exit code 4: .*config.json: key 'hidden_act'"):
            common.probe("tower", self.folder, "none", "none", "float32")


if __name__ == "__main__":
    common.main()
