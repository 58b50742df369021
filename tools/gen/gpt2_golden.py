#!/usr/bin/env python3
"""Golden values of GPT-2 and AdamW from PyTorch, for the engine's tests.

Usage: gpt2_golden.py [--check] DIRECTORY

Writes DIRECTORY/NAME.json (a config as Hugging Face writes it) and
DIRECTORY/NAME.golden for every case, or with --check computes them again and
fails unless they agree with the files. Prints the version of PyTorch.

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

NO_DROPOUT = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}

CASES = {
    "gpt2_tied": dict(
        model_type="gpt2", vocab_size=37, n_positions=16, n_embd=20, n_layer=2,
        n_head=2, n_inner=None, activation_function="gelu_new",
        layer_norm_epsilon=1e-5, initializer_range=0.02,
        tie_word_embeddings=True, **NO_DROPOUT),
    "gpt2_untied": dict(
        model_type="gpt2", vocab_size=37, n_positions=20, n_embd=24, n_layer=2,
        n_head=3, n_inner=50, activation_function="gelu",
        layer_norm_epsilon=1e-3, initializer_range=0.02,
        tie_word_embeddings=False, scale_attn_by_inverse_layer_idx=True,
        **NO_DROPOUT),
    "gpt2_relu": dict(
        model_type="gpt2", vocab_size=19, n_positions=12, n_embd=10, n_layer=1,
        n_head=1, n_inner=23, activation_function="relu",
        layer_norm_epsilon=1e-5, initializer_range=0.02,
        tie_word_embeddings=True, **NO_DROPOUT),
    "gpt2_silu": dict(
        model_type="gpt2", vocab_size=19, n_positions=12, n_embd=10, n_layer=1,
        n_head=2, n_inner=21, activation_function="silu",
        layer_norm_epsilon=1e-5, initializer_range=0.02,
        tie_word_embeddings=True, **NO_DROPOUT),
}
ACTIVATIONS = {"gelu_new": lambda x: F.gelu(x, approximate="tanh"),
               "gelu": F.gelu, "relu": F.relu, "silu": F.silu}
ROWS = {"gpt2_tied": 2, "gpt2_untied": 3, "gpt2_relu": 2, "gpt2_silu": 2}
# More than one block of queries, and no multiple of anything.
COLUMNS = {"gpt2_tied": 13, "gpt2_untied": 19, "gpt2_relu": 11,
           "gpt2_silu": 11}


def parameter_shapes(c):
    width, inner = c["n_embd"], c["n_inner"] or 4 * c["n_embd"]
    shapes = {"transformer.wte.weight": (c["vocab_size"], width),
              "transformer.wpe.weight": (c["n_positions"], width)}
    for layer in range(c["n_layer"]):
        at = f"transformer.h.{layer}."
        shapes |= {
            at + "ln_1.weight": (width,), at + "ln_1.bias": (width,),
            at + "attn.c_attn.weight": (width, 3 * width),
            at + "attn.c_attn.bias": (3 * width,),
            at + "attn.c_proj.weight": (width, width),
            at + "attn.c_proj.bias": (width,),
            at + "ln_2.weight": (width,), at + "ln_2.bias": (width,),
            at + "mlp.c_fc.weight": (width, inner),
            at + "mlp.c_fc.bias": (inner,),
            at + "mlp.c_proj.weight": (inner, width),
            at + "mlp.c_proj.bias": (width,)}
    shapes |= {"transformer.ln_f.weight": (width,),
               "transformer.ln_f.bias": (width,)}
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], width)
    return shapes


def make_parameters(c, generator):
    parameters = {}
    for name, shape in parameter_shapes(c).items():
        centre = 1.0 if ".ln_" in name and name.endswith("weight") else 0.0
        spread = 0.3 if len(shape) == 2 else 0.2
        values = float32(generator.gauss(centre, spread)
                         for _ in range(math.prod(shape)))
        parameters[name] = torch.tensor(
            values, dtype=torch.float64).reshape(shape).requires_grad_()
    return parameters


def gpt2_logits(c, p, ids):
    """The arithmetic of transformers' GPT2LMHeadModel."""
    rows, columns = ids.shape
    width, heads = c["n_embd"], c["n_head"]
    activate = ACTIVATIONS[c["activation_function"]]

    def norm(name, x):
        return F.layer_norm(x, (width,), p[name + ".weight"],
                            p[name + ".bias"], c["layer_norm_epsilon"])

    def conv1d(name, x):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    x = p["transformer.wte.weight"][ids]
    x = x + p["transformer.wpe.weight"][:columns]
    mask = torch.ones(columns, columns, dtype=torch.bool).tril()
    for layer in range(c["n_layer"]):
        at = f"transformer.h.{layer}."
        qkv = conv1d(at + "attn.c_attn", norm(at + "ln_1", x))
        q, k, v = (part.reshape(rows, columns, heads, -1).transpose(1, 2)
                   for part in qkv.split(width, dim=2))
        scores = q @ k.transpose(2, 3) / math.sqrt(width // heads)
        if c.get("scale_attn_by_inverse_layer_idx"):
            scores = scores / (layer + 1)
        scores = scores.masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        x = x + conv1d(at + "attn.c_proj", mixed.reshape(rows, columns, width))
        h = activate(conv1d(at + "mlp.c_fc", norm(at + "ln_2", x)))
        x = x + conv1d(at + "mlp.c_proj", h)
    head = p["transformer.wte.weight" if c["tie_word_embeddings"]
             else "lm_head.weight"]
    return norm("transformer.ln_f", x) @ head.T


def model_case(name):
    c = CASES[name]
    generator = random.Random(name)
    parameters = make_parameters(c, generator)
    count = ROWS[name] * COLUMNS[name]
    draw = lambda: [generator.randrange(c["vocab_size"]) for _ in range(count)]
    inputs, targets = draw(), draw()
    shape = (ROWS[name], COLUMNS[name])
    logits = gpt2_logits(c, parameters, torch.tensor(inputs).reshape(shape))
    loss = F.cross_entropy(logits.reshape(count, -1), torch.tensor(targets))
    loss.backward()
    arrays = {"shape": ("i", list(shape)), "inputs": ("i", inputs),
              "targets": ("i", targets),
              "logits": ("f", logits.flatten().tolist()),
              "loss": ("f", [loss.item()])}
    for key, value in parameters.items():
        arrays["parameter " + key] = ("f", value.flatten().tolist())
        arrays["gradient " + key] = ("f", value.grad.flatten().tolist())
    return arrays


def adamw_case():
    """20 steps of torch.optim.AdamW, the first half of the elements decayed."""
    generator = random.Random("adamw")
    count, steps = 70, 20
    draw = lambda: float32(generator.gauss(0, 1) for _ in range(count))
    start, gradients = draw(), [draw() for _ in range(steps)]
    rates = float32(0.01 * (i + 1) / steps for i in range(steps))
    tensors = [torch.tensor(start[:count // 2], dtype=torch.float64),
               torch.tensor(start[count // 2:], dtype=torch.float64)]
    beta1, beta2, epsilon, decay = float32([0.9, 0.95, 1e-8, 0.1])
    optimizer = torch.optim.AdamW(
        [{"params": tensors[:1], "weight_decay": decay},
         {"params": tensors[1:], "weight_decay": 0.0}],
        betas=(beta1, beta2), eps=epsilon)
    trajectory = []
    for rate, gradient in zip(rates, gradients):
        for group in optimizer.param_groups:
            group["lr"] = rate
        tensors[0].grad = torch.tensor(gradient[:count // 2],
                                       dtype=torch.float64)
        tensors[1].grad = torch.tensor(gradient[count // 2:],
                                       dtype=torch.float64)
        optimizer.step()
        trajectory += torch.cat(tensors).tolist()
    state = lambda key: sum(
        (optimizer.state[t][key].tolist() for t in tensors), [])
    return {"start": ("f", start), "rates": ("f", rates),
            "gradients": ("f", sum(gradients, [])),
            "trajectory": ("f", trajectory),
            "first_moment": ("f", state("exp_avg")),
            "second_moment": ("f", state("exp_avg_sq"))}


def main(arguments):
    folder, check = read_line(arguments, __doc__)
    print("torch", torch.__version__)
    made = {name: model_case(name) for name in CASES}
    made["adamw"] = adamw_case()
    return write_or_check(folder, check, made, CASES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
