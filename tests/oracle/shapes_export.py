"""Small transformers, exported by both of PyTorch's exporters with dynamic axes, for shapes.py.

    shapes_export.py DIR

Writes DIR/<model>_<exporter>.onnx: an encoder layer, a BERT-like model with a mask, a GPT-like model
with a key-value cache, and a small image network. Sizes are tiny: what matters is the arithmetic on
shapes that the exporters write.
"""
import os
import sys
import warnings

import onnx
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, WORDS = 8, 2, 11


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, mask, past_key=None, past_value=None):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.first(x)).split(WIDTH, dim=2)
        q, k, v = (t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
        if past_key is not None:
            k, v = torch.cat([past_key, k], dim=2), torch.cat([past_value, v], dim=2)
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, -1e4)
        y = torch.softmax(scores, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(batch, length, WIDTH)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.second(x)))), k, v


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(16, WIDTH)
        self.block, self.pool = Block(), nn.Linear(WIDTH, WIDTH)

    def forward(self, input_ids, attention_mask):
        length = input_ids.shape[1]
        x = self.words(input_ids) + self.places(torch.arange(length).unsqueeze(0))
        mask = (attention_mask == 0)[:, None, None, :].expand(-1, 1, length, -1)
        x, _, _ = self.block(x, mask)
        return x, torch.tanh(self.pool(x[:, 0]))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(16, WIDTH)
        self.block, self.head = Block(), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, input_ids, past_key, past_value):
        seq, past = input_ids.shape[1], past_key.shape[2]
        x = self.words(input_ids) + self.places(torch.arange(past, past + seq).unsqueeze(0))
        rows = torch.arange(past, past + seq).unsqueeze(1)
        mask = torch.arange(past + seq).unsqueeze(0) > rows
        x, k, v = self.block(x, mask, past_key, past_value)
        return self.head(x), k, v


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x, None)[0]


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1)
        self.last = nn.Linear(4, 5)

    def forward(self, image):
        x = F.relu(self.b(F.max_pool2d(F.relu(self.a(image)), 2)))
        x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        return self.last(x.mean(dim=(2, 3))), x.flatten(2).transpose(1, 2)


def cases():
    ids = torch.zeros(2, 5, dtype=torch.int64)
    cache = torch.zeros(2, HEADS, 3, WIDTH // HEADS)
    yield ("encoder", Encoder(), (torch.zeros(2, 5, WIDTH),), ["x"], ["y"],
           {"x": {0: "batch", 1: "seq"}})
    yield ("bert", Bert(), (ids, torch.ones_like(ids)), ["input_ids", "attention_mask"],
           ["last", "pooled"],
           {"input_ids": {0: "batch", 1: "seq"}, "attention_mask": {0: "batch", 1: "seq"}})
    yield ("gpt", Gpt(), (ids, cache, cache), ["input_ids", "past_key", "past_value"],
           ["logits", "key", "value"],
           {"input_ids": {0: "batch", 1: "seq"}, "past_key": {0: "batch", 2: "past"},
            "past_value": {0: "batch", 2: "past"}})
    yield ("image", Image(), (torch.zeros(2, 3, 32, 32),), ["image"], ["classes", "tokens"],
           {"image": {0: "batch", 2: "h", 3: "w"}})


def strip(path):
    """Takes out stack traces and other remarks: paths of the machine that exported."""
    model = onnx.load(path)
    graph = model.graph
    for item in [model, graph] + list(graph.node) + list(graph.value_info) + list(graph.input) + \
            list(graph.output) + list(graph.initializer):
        item.ClearField("metadata_props")
        item.ClearField("doc_string")
    onnx.save(model, path)


def main():
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, module, inputs, input_names, output_names, axes in cases():
        module.eval()
        with torch.no_grad():
            torch.onnx.export(module, inputs, os.path.join(folder, name + "_script.onnx"),
                              input_names=input_names, output_names=output_names,
                              dynamic_axes=axes, opset_version=17, dynamo=False)
            shapes = tuple({axis: torch.export.Dim(symbol, min=2, max=64)
                            for axis, symbol in axes[n].items()} for n in input_names)
            torch.onnx.export(module, inputs, os.path.join(folder, name + "_dynamo.onnx"),
                              input_names=input_names, output_names=output_names,
                              dynamic_shapes=shapes, dynamo=True, external_data=False)
        for exporter in ("script", "dynamo"):
            strip(os.path.join(folder, "%s_%s.onnx" % (name, exporter)))


if __name__ == "__main__":
    main()
