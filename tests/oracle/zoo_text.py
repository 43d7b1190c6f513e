#!/usr/bin/env python3
"""Transformers, single operators, perceptron and recurrent nets of the zoo against transformers and torch.

    zoo_text.py ASSAY                  exit status 1 when one differs by more than 1e-4
    zoo_text.py ASSAY --write FOLDER   also writes each case's inputs and the oracle's outputs as FOLDER/CASE.NAME.npy
                                       (tests/fixtures/zoo_text, which tests/unit/test_zoo_text.c reads)

The weights are the zoo's own, read back from the file it wrote: their names are those of the oracle's state dict.
Needs torch, transformers, onnx, onnxruntime, numpy.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from onnx import numpy_helper
from torch.nn import functional

TOLERANCE = 1e-4
VOCABULARY, WIDTH, LAYERS, HEADS, INNER, CONTEXT = 29, 24, 2, 4, 40, 16
SIZES = f"layers={LAYERS},width={WIDTH},heads={HEADS},ffn={INNER},vocab={VOCABULARY}"
random = np.random.default_rng(7)
transformers.logging.set_verbosity_error()


def tensor(array):
    return torch.from_numpy(np.array(array, order="C"))


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def tokens(*shape, below=VOCABULARY):
    return random.integers(0, below, shape)


def loaded(model, weights, transposed, tied=()):
    """`model` with the zoo's weights; transposed(name): the zoo keeps the matrix as [in, out]."""
    state = {}
    for name, value in model.state_dict().items():
        array = weights[dict(tied).get(name, name)]
        if transposed(name) and name not in dict(tied):
            array = array.T
        assert array.shape == tuple(value.shape), (name, array.shape, tuple(value.shape))
        state[name] = tensor(array)
    model.load_state_dict(state)
    return model.eval()


# --- oracles: (weights, feeds) -> {output: array} ------------------------------------------------------------------------


def decoded(model, ids):
    """Logits and cache of a whole prompt."""
    result = model(tensor(ids), use_cache=True)
    outputs = {"logits": result.logits.numpy()}
    cache = result.past_key_values
    for layer in range(LAYERS):
        outputs[f"present.{layer}.key"] = cache.layers[layer].keys.numpy()
        outputs[f"present.{layer}.value"] = cache.layers[layer].values.numpy()
    return outputs


def gpt2(weights, feeds):
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=WIDTH, n_layer=LAYERS,
                                     n_head=HEADS, n_inner=INNER)
    model = loaded(transformers.GPT2LMHeadModel(config), weights, lambda name: False,
                   [("lm_head.weight", "transformer.wte.weight")])
    return decoded(model, feeds["input_ids"])


def llama(groups, tied):
    def oracle(weights, feeds):
        config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=INNER,
                                          num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                          num_key_value_heads=groups, rms_norm_eps=1e-5, tie_word_embeddings=tied,
                                          rope_theta=10000.0)
        model = loaded(transformers.LlamaForCausalLM(config), weights,
                       lambda name: "proj" in name or name == "lm_head.weight",
                       [("lm_head.weight", "model.embed_tokens.weight")] if tied else [])
        return decoded(model, feeds["input_ids"])

    return oracle


def bert(weights, feeds):
    config = transformers.BertConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS,
                                     num_attention_heads=HEADS, intermediate_size=INNER,
                                     max_position_embeddings=CONTEXT)
    model = loaded(transformers.BertModel(config), weights,
                   lambda name: name.startswith("encoder") and name.endswith("weight") and "LayerNorm" not in name)
    result = model(**{name: tensor(value) for name, value in feeds.items()})
    return {"last_hidden_state": result.last_hidden_state.numpy(), "pooler_output": result.pooler_output.numpy()}


def distilbert(weights, feeds):
    config = transformers.DistilBertConfig(vocab_size=VOCABULARY, dim=WIDTH, n_layers=LAYERS, n_heads=HEADS,
                                           hidden_dim=INNER, max_position_embeddings=CONTEXT)
    model = loaded(transformers.DistilBertModel(config), weights,
                   lambda name: "lin" in name and name.endswith("weight"))
    result = model(**{name: tensor(value) for name, value in feeds.items()})
    return {"last_hidden_state": result.last_hidden_state.numpy()}


def vit(weights, feeds):
    config = transformers.ViTConfig(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                    intermediate_size=INNER, image_size=12, patch_size=4, num_labels=5,
                                    layer_norm_eps=1e-6)
    model = loaded(transformers.ViTForImageClassification(config), weights,
                   lambda name: ("_proj" in name or "mlp" in name) and name.endswith("weight"))
    return {"logits": model(tensor(feeds["pixel_values"])).logits.numpy()}


def recurrent(kind, layers, inputs, hidden, order):
    """order: where torch's gates lie among ONNX's."""

    def oracle(weights, feeds):
        model = kind(inputs, hidden, layers, bidirectional=True)
        state = {}
        for layer in range(layers):
            w, r, b = (weights[f"layers.{layer}.{part}"] for part in "WRB")
            for direction, suffix in enumerate(("", "_reverse")):
                def gates(array):
                    return tensor(np.concatenate([np.split(array, len(order))[i] for i in order]))

                biases = np.split(b[direction], 2)
                state[f"weight_ih_l{layer}{suffix}"] = gates(w[direction])
                state[f"weight_hh_l{layer}{suffix}"] = gates(r[direction])
                state[f"bias_ih_l{layer}{suffix}"] = gates(biases[0])
                state[f"bias_hh_l{layer}{suffix}"] = gates(biases[1])
        model.load_state_dict(state)
        start = tensor(feeds["h0"])
        if "c0" in feeds:
            start = (start, tensor(feeds["c0"]))
        output, last = model(tensor(feeds["input"]), start)
        if "c0" in feeds:
            return {"output": output.numpy(), "hn": last[0].numpy(), "cn": last[1].numpy()}
        return {"output": output.numpy(), "hn": last.numpy()}

    return oracle


def one(function):
    """An oracle with the single output "output"; function takes weights and feeds as tensors."""

    def oracle(weights, feeds):
        result = function({k: tensor(v) for k, v in weights.items()}, {k: tensor(v) for k, v in feeds.items()})
        return {"output": result.numpy()}

    return oracle


def rms(w, f):
    return functional.rms_norm(f["input"], (5,), w["norm.weight"], 1e-5)


def lora(w, f):
    x = f["input"]
    return x @ w["base.weight"] + 12 / 3 * ((x @ w["lora_A.weight"]) @ w["lora_B.weight"])


def perceptron(activation):
    def function(w, f):
        x = f["input"]
        for layer in range(2):
            x = activation(functional.linear(x, w[f"layers.{layer}.weight"], w[f"layers.{layer}.bias"]))
        return functional.linear(x, w["head.weight"], w["head.bias"])

    return one(function)


def causal(w, f):
    hidden = torch.triu(torch.full((3, 5), -torch.inf), diagonal=3)  # the last query is at the last key
    return functional.scaled_dot_product_attention(f["query"], f["key"], f["value"], hidden)


def mask():
    result = np.ones((2, 7), np.int64)
    result[1, 5:] = 0
    return result


def cases():
    ids = tokens(2, 7)
    cached = {f"past_key_values.{i}.{part}": np.zeros((2, HEADS, 0, WIDTH // HEADS), np.float32)
              for i in range(LAYERS) for part in ("key", "value")}
    rows = {"input": normal(3, 5)}
    perceptron_input = {"input": normal(3, 6)}
    yield "gpt2", f"gpt2:{SIZES},context={CONTEXT},phase=prefill", {"input_ids": ids}, gpt2
    yield "gpt2_both", f"gpt2:{SIZES},context={CONTEXT}", {"input_ids": ids, **cached}, gpt2
    yield "llama", f"llama:{SIZES},kv_heads=2,tied=1,phase=prefill", {"input_ids": ids}, llama(2, True)
    yield "llama_mqa", f"llama:{SIZES},kv_heads=1,tied=0,phase=prefill", {"input_ids": ids}, llama(1, False)
    yield "llama_mha", f"llama:{SIZES},kv_heads=4,tied=0,phase=prefill", {"input_ids": ids}, llama(4, False)
    text = {"input_ids": ids, "attention_mask": mask()}
    yield ("bert", f"bert:{SIZES},context={CONTEXT}", {**text, "token_type_ids": tokens(2, 7, below=2)}, bert)
    yield "distilbert", f"distilbert:{SIZES},context={CONTEXT}", text, distilbert
    yield ("vit", f"vit:layers={LAYERS},width={WIDTH},heads={HEADS},ffn={INNER},image=12,patch=4,classes=5",
           {"pixel_values": normal(2, 3, 12, 12)}, vit)
    states = {"h0": normal(4, 2, 5), "c0": normal(4, 2, 5)}
    recurrent_sizes = "layers=2,hidden=5,inputs=3,bidirectional=1,state=1"
    yield ("lstm", f"lstm:{recurrent_sizes}", {"input": normal(4, 2, 3), **states},
           recurrent(torch.nn.LSTM, 2, 3, 5, (0, 2, 3, 1)))  # i o f c to i f g o
    yield ("gru", f"gru:{recurrent_sizes}", {"input": normal(4, 2, 3), "h0": states["h0"]},
           recurrent(torch.nn.GRU, 2, 3, 5, (1, 0, 2)))  # z r h to r z n
    yield "mlp_relu", "mlp:layers=2,width=8,inputs=6,outputs=4", perceptron_input, perceptron(torch.relu)
    yield ("mlp_silu", "mlp:layers=2,width=8,inputs=6,outputs=4,activation=silu", perceptron_input,
           perceptron(functional.silu))
    yield "lora", "lora:d=6,rank=3,alpha=12,batch=2,seq=4", {"input": normal(2, 4, 6)}, one(lora)
    yield "softmax", "softmax:rows=3,width=5", rows, one(lambda w, f: torch.softmax(f["input"], -1))
    yield ("layernorm", "layernorm:rows=3,width=5", rows,
           one(lambda w, f: functional.layer_norm(f["input"], (5,), w["norm.weight"], w["norm.bias"], 1e-5)))
    yield "rmsnorm", "rmsnorm:rows=3,width=5", rows, one(rms)
    yield "gelu", "gelu:rows=3,width=5", rows, one(lambda w, f: functional.gelu(f["input"]))
    yield ("gelu_tanh", "gelu:rows=3,width=5,form=tanh", rows,
           one(lambda w, f: functional.gelu(f["input"], approximate="tanh")))
    yield "matmul", "matmul:m=3,k=4,n=5", {"a": normal(3, 4)}, one(lambda w, f: f["a"] @ w["b"])
    yield ("matmul_batch", "matmul:m=3,k=4,n=5,batch=2,b=input", {"a": normal(2, 3, 4), "b": normal(2, 4, 5)},
           one(lambda w, f: f["a"] @ f["b"]))
    heads = {"query": normal(2, 2, 3, 4), "key": normal(2, 2, 5, 4), "value": normal(2, 2, 5, 4)}
    yield ("attention", "attention:batch=2,heads=2,seq=3,keys=5,dim=4", heads,
           one(lambda w, f: functional.scaled_dot_product_attention(f["query"], f["key"], f["value"])))
    yield "attention_causal", "attention:batch=2,heads=2,seq=3,keys=5,dim=4,causal=1", heads, one(causal)


# --- running ------------------------------------------------------------------------------------------------------------


def made(assay, name, folder):
    path = os.path.join(folder, "model.onnx")
    if os.path.exists(path):
        os.remove(path)
    subprocess.run([assay, "make", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
    onnx.checker.check_model(path, full_check=True)
    return path


def run(path, feeds):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))


def distance(got, expected):
    assert got.keys() == expected.keys(), (sorted(got), sorted(expected))
    for name, value in expected.items():
        assert got[name].shape == value.shape, (name, got[name].shape, value.shape)
    return max(float(np.abs(got[name] - value).max()) for name, value in expected.items())


def steps(assay, folder, name, expected, ids):
    """The prompt in uneven pieces through phase=both, and its last token through phase=decode: the same logits."""
    both, decode = name.replace("phase=prefill", "phase=both"), name.replace("phase=prefill", "phase=decode,past=6")
    shape = list(expected["present.0.key"].shape)
    shape[2] = 0
    past = {key.replace("present", "past_key_values"): np.zeros(shape, np.float32) for key in expected if key != "logits"}
    path, logits, start = made(assay, both, folder), [], 0
    for count in (3, 1, 2, 1):
        if start == 6:
            last_past = past
        got = run(path, {"input_ids": ids[:, start:start + count], **past})
        logits.append(got.pop("logits"))
        past = {key.replace("present", "past_key_values"): value for key, value in got.items()}
        start += count
    worst = distance({"logits": np.concatenate(logits, 1), **got}, expected)
    got = run(made(assay, decode, folder), {"input_ids": ids[:, 6:], **last_past})
    return max(worst, distance(got, {**expected, "logits": expected["logits"][:, 6:]}))


def main():
    assay, write = sys.argv[1], sys.argv[3] if len(sys.argv) > 3 and sys.argv[2] == "--write" else None
    failed = 0
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for key, name, feeds, oracle in cases():
            path = made(assay, name, folder)
            weights = {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
            expected = oracle(weights, feeds)
            worst = distance(run(path, feeds), expected)
            if "phase=prefill" in name:
                worst = max(worst, steps(assay, folder, name, expected, feeds["input_ids"]))
            failed += not worst <= TOLERANCE
            print(f"{'ok ' if worst <= TOLERANCE else 'BAD'} {key:17} {worst:.1e}  {name}")
            for array_name, value in {**feeds, **expected}.items() if write and key != "gpt2_both" else ():
                np.save(os.path.join(write, f"{key}.{array_name}.npy"), value)
    print(f"{failed} differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
