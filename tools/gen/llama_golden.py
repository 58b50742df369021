#!/usr/bin/env python3
"""Golden values of Llama models from PyTorch, for the engine's tests.

Usage: llama_golden.py [--check] DIRECTORY

Writes DIRECTORY/NAME.json (a config as Hugging Face writes it) and
DIRECTORY/NAME.golden for every case, or with --check computes them again and
fails unless they agree with the files. Prints the version of PyTorch. Where
transformers can be imported too, its LlamaForCausalLM has to give the same
logits.

Parameters and inputs come from Python's own generator, whose numbers are the
same in every version, and are rounded to float32. Everything after that is
float64, so the files hold the true values to the last bit of a float32.
"""

import math
import random
import sys

import torch
import torch.nn.functional as F

from golden_file import float32, read_line, write_or_check

# Sizes that are multiples of nothing.
CASES = {
    # As transformers 4 writes it.
    "llama_grouped": dict(
        model_type="llama", vocab_size=37, max_position_embeddings=32,
        hidden_size=36, intermediate_size=53, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, hidden_act="silu",
        rms_norm_eps=1e-5, initializer_range=0.02, tie_word_embeddings=False,
        rope_theta=300.0, rope_scaling=None, attention_bias=False,
        mlp_bias=False),
    # As transformers 5 does.
    "llama_tied_llama3": dict(
        model_type="llama", vocab_size=31, max_position_embeddings=64,
        hidden_size=24, intermediate_size=29, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=1, head_dim=10,
        hidden_act="silu", rms_norm_eps=1e-3, initializer_range=0.02,
        tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
        rope_parameters=dict(
            rope_type="llama3", rope_theta=100.0, factor=4.0,
            low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=16)),
    "llama_linear": dict(
        model_type="llama", vocab_size=23, max_position_embeddings=32,
        hidden_size=14, intermediate_size=17, num_hidden_layers=1,
        num_attention_heads=1, rms_norm_eps=1e-6, rope_theta=50.0,
        rope_scaling=dict(type="linear", factor=2.5)),
    # Longer than the context, which is what the scaling is for.
    "llama_dynamic": dict(
        model_type="llama", vocab_size=23, max_position_embeddings=11,
        hidden_size=18, intermediate_size=17, num_hidden_layers=1,
        num_attention_heads=3, num_key_value_heads=3, rms_norm_eps=1e-6,
        rope_parameters=dict(rope_type="dynamic", rope_theta=50.0,
                             factor=2.0)),
    "llama_yarn": dict(
        model_type="llama", vocab_size=23, max_position_embeddings=64,
        hidden_size=20, intermediate_size=17, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, rms_norm_eps=1e-6,
        rope_parameters=dict(rope_type="yarn", rope_theta=50.0, factor=4.0,
                             original_max_position_embeddings=16)),
}
ROWS = {"llama_grouped": 2, "llama_tied_llama3": 3, "llama_linear": 1,
        "llama_dynamic": 2, "llama_yarn": 1}
# More than one block of queries.
COLUMNS = {"llama_grouped": 19, "llama_tied_llama3": 27, "llama_linear": 21,
           "llama_dynamic": 19, "llama_yarn": 23}


def sizes(c):
    heads = c["num_attention_heads"]
    return (heads, c.get("num_key_value_heads", heads),
            c.get("head_dim", c["hidden_size"] // heads))


def parameter_shapes(c):
    width, inner = c["hidden_size"], c["intermediate_size"]
    heads, kv_heads, size = sizes(c)
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], width)}
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for name, out, into, bias in (
                ("self_attn.q_proj", heads * size, width, "attention_bias"),
                ("self_attn.k_proj", kv_heads * size, width, "attention_bias"),
                ("self_attn.v_proj", kv_heads * size, width, "attention_bias"),
                ("self_attn.o_proj", width, heads * size, "attention_bias"),
                ("mlp.gate_proj", inner, width, "mlp_bias"),
                ("mlp.up_proj", inner, width, "mlp_bias"),
                ("mlp.down_proj", width, inner, "mlp_bias")):
            shapes[at + name + ".weight"] = (out, into)
            if c.get(bias):
                shapes[at + name + ".bias"] = (out,)
        shapes[at + "input_layernorm.weight"] = (width,)
        shapes[at + "post_attention_layernorm.weight"] = (width,)
    shapes["model.norm.weight"] = (width,)
    if not c.get("tie_word_embeddings"):
        shapes["lm_head.weight"] = (c["vocab_size"], width)
    return shapes


def make_parameters(c, generator):
    parameters = {}
    for name, shape in parameter_shapes(c).items():
        centre = 1.0 if name.endswith("norm.weight") else 0.0
        spread = 0.3 if len(shape) == 2 else 0.2
        values = float32(generator.gauss(centre, spread)
                         for _ in range(math.prod(shape)))
        parameters[name] = torch.tensor(
            values, dtype=torch.float64).reshape(shape).requires_grad_()
    return parameters


def yarn(scaling, theta, size, frequencies):
    factor = scaling["factor"]
    old = scaling["original_max_position_embeddings"]

    def dimension(turns):
        return (size * math.log(old / (turns * 2 * math.pi)) /
                (2 * math.log(theta)))

    low = max(math.floor(dimension(32)), 0)
    high = min(math.ceil(dimension(1)), size - 1)
    ramp = (torch.arange(size // 2, dtype=torch.float64) - low) / (
        high - low if high != low else 0.001)
    ramp = ramp.clamp(0, 1)
    return frequencies * (ramp / factor + 1 - ramp), 0.1 * math.log(factor) + 1


def rotary_tables(c, columns):
    """Cosines and sines, [columns, head size / 2]."""
    scaling = c.get("rope_parameters") or c.get("rope_scaling") or {}
    theta = scaling.get("rope_theta", c.get("rope_theta"))
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    _, _, size = sizes(c)
    context, attention_factor = c["max_position_embeddings"], 1.0
    if kind == "dynamic":
        stretch = scaling["factor"] * max(columns, context) / context
        theta *= (stretch - scaling["factor"] + 1) ** (size / (size - 2))
    exponents = torch.arange(0, size, 2, dtype=torch.float64) / size
    frequencies = theta ** -exponents
    if kind == "linear":
        frequencies = frequencies / scaling["factor"]
    elif kind == "yarn":
        frequencies, attention_factor = yarn(scaling, theta, size, frequencies)
    elif kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        turns = (scaling["original_max_position_embeddings"] * frequencies /
                 (2 * math.pi))
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        frequencies = frequencies * ((1 - kept) / scaling["factor"] + kept)
    angles = torch.arange(columns, dtype=torch.float64)[:, None] * frequencies
    return angles.cos() * attention_factor, angles.sin() * attention_factor


def llama_logits(c, p, ids):
    """The arithmetic of transformers' LlamaForCausalLM."""
    rows, columns = ids.shape
    heads, kv_heads, size = sizes(c)
    cosines, sines = rotary_tables(c, columns)

    def norm(name, x):
        square = x.pow(2).mean(-1, keepdim=True)
        return (x * torch.rsqrt(square + c["rms_norm_eps"]) *
                p[name + ".weight"])

    def linear(name, x):
        return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))

    def split(x, count):
        return x.reshape(rows, columns, count, size).transpose(1, 2)

    def turn(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosines - b * sines, b * cosines + a * sines), -1)

    x = p["model.embed_tokens.weight"][ids]
    mask = torch.ones(columns, columns, dtype=torch.bool).tril()
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        h = norm(at + "input_layernorm", x)
        q = turn(split(linear(at + "self_attn.q_proj", h), heads))
        k = turn(split(linear(at + "self_attn.k_proj", h), kv_heads))
        v = split(linear(at + "self_attn.v_proj", h), kv_heads)
        k, v = (part.repeat_interleave(heads // kv_heads, 1) for part in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(size)
        scores = scores.masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        x = x + linear(at + "self_attn.o_proj",
                       mixed.reshape(rows, columns, heads * size))
        h = norm(at + "post_attention_layernorm", x)
        h = F.silu(linear(at + "mlp.gate_proj", h)) * linear(at + "mlp.up_proj",
                                                             h)
        x = x + linear(at + "mlp.down_proj", h)
    head = p["model.embed_tokens.weight" if c.get("tie_word_embeddings")
             else "lm_head.weight"]
    return norm("model.norm", x) @ head.T


def model_case(name):
    c = CASES[name]
    generator = random.Random(name)
    parameters = make_parameters(c, generator)
    shape = (ROWS[name], COLUMNS[name])
    draw = lambda: [generator.randrange(c["vocab_size"])
                    for _ in range(math.prod(shape))]
    inputs, targets = draw(), draw()
    ids = torch.tensor(inputs).reshape(shape)
    logits = llama_logits(c, parameters, ids)
    compare_with_transformers(name, parameters, ids, logits)
    loss = F.cross_entropy(logits.reshape(len(inputs), -1),
                           torch.tensor(targets))
    loss.backward()
    arrays = {"shape": ("i", list(shape)), "inputs": ("i", inputs),
              "targets": ("i", targets),
              "logits": ("f", logits.flatten().tolist()),
              "loss": ("f", [loss.item()])}
    for key, value in parameters.items():
        arrays["parameter " + key] = ("f", value.flatten().tolist())
        arrays["gradient " + key] = ("f", value.grad.flatten().tolist())
    return arrays


def compare_with_transformers(name, parameters, ids, logits):
    try:
        import transformers
    except ImportError:
        return
    config = {k: v for k, v in CASES[name].items() if k != "model_type"}
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**config)).double().eval()
    model.load_state_dict({k: v.detach() for k, v in parameters.items()},
                          strict=not config.get("tie_word_embeddings"))
    with torch.no_grad():
        theirs = model(ids).logits
    # Its rotary tables are float32.
    worst = (theirs - logits).abs().max() / logits.abs().max()
    print(f"{name}: transformers {transformers.__version__} is {worst:.1e} off")
    if not worst <= 1e-5:
        sys.exit(f"{name}: transformers computes other logits")


def main(arguments):
    folder, check = read_line(arguments, __doc__)
    print("torch", torch.__version__)
    made = {name: model_case(name) for name in CASES}
    return write_or_check(folder, check, made, CASES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
