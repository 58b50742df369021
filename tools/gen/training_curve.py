#!/usr/bin/env python3
"""Loss curves of 100 training steps from PyTorch, for the trainer's test.

Usage: training_curve.py [--check] DIRECTORY

Trains a small GPT-2 and a small Llama as a job does (AdamW, warm-up and cosine,
clipping, samples in the order of docs/formats/token_shard.md) and writes
DIRECTORY/NAME.json (the config) and DIRECTORY/NAME.golden: loss, norm before
clipping and learning rate of every step. With --check it computes them again
and fails unless they agree.

Tokens and first parameters are drawn by formulas that the test knows too. The
arithmetic is float64; the models are those of gpt2_golden.py and
llama_golden.py, the optimizer and the clipping PyTorch's own.
"""

import math
import struct
import sys

import torch
import torch.nn.functional as F

import gpt2_golden
import llama_golden
from golden_file import read_line, write_or_check

STEPS, BATCH, COLUMNS = 100, 5, 21
VOCABULARY, TOKENS = 61, 4007
RATE, WARMUP, FLOOR, CLIP = 1e-2, 0.1, 0.1, 0.7
BETAS, EPSILON, DECAY = (0.9, 0.95), 1e-8, 0.1
DATA_SEED, TOKEN_SEED, PARAMETER_SEED = 5, 17, 23

# Sizes that are multiples of nothing.
CASES = {
    "curve_gpt2": dict(
        model_type="gpt2", vocab_size=VOCABULARY, n_positions=29, n_embd=30,
        n_layer=2, n_head=3, n_inner=77, activation_function="gelu_new",
        layer_norm_epsilon=1e-5, initializer_range=0.02,
        tie_word_embeddings=True, **gpt2_golden.NO_DROPOUT),
    "curve_llama": dict(
        model_type="llama", vocab_size=VOCABULARY, max_position_embeddings=29,
        hidden_size=36, intermediate_size=53, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, hidden_act="silu",
        rms_norm_eps=1e-5, initializer_range=0.02, tie_word_embeddings=False,
        rope_theta=300.0, rope_scaling=None, attention_bias=False,
        mlp_bias=False),
}
_MASK = (1 << 64) - 1


def mix64(x):
    x = (x + 0x9e3779b97f4a7c15) & _MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & _MASK
    return x ^ (x >> 31)


def random_at(key, counter):
    """base/random.h."""
    return mix64((mix64(key) + counter * 0xd1342543de82ef95) & _MASK)


def uniform(key, counter):
    return (random_at(key, counter) >> 11) * 2.0 ** -53


def permuted(index, count, key):
    """Six rounds of a balanced Feistel network, walked until in range."""
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(6):
            left, right = right, left ^ (random_at((key + turn) & _MASK, right)
                                         & mask)
        index = left << half | right
        if index < count:
            return index


def sample(position, tokens):
    """(inputs, targets) of a position."""
    count = (len(tokens) - 1) // COLUMNS
    epoch = position // count
    begin = COLUMNS * permuted(position % count, count,
                               random_at(DATA_SEED, epoch))
    end = begin + COLUMNS
    return tokens[begin:end], tokens[begin + 1:end + 1]


def made_up_tokens():
    """Mostly the same after the same; else any."""
    tokens = [1]
    while len(tokens) < TOKENS:
        draw = random_at(TOKEN_SEED, len(tokens))
        likely = (7 * tokens[-1] + 5) % VOCABULARY
        tokens.append(draw // 8 % VOCABULARY if draw % 8 == 0 else likely)
    return tokens


def name_key(name):
    """FNV-1a."""
    key = 0xcbf29ce484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001b3) & _MASK
    return key


def first_parameters(shapes):
    parameters = {}
    for name, shape in shapes.items():
        is_norm = name.endswith(("norm.weight", "ln_1.weight", "ln_2.weight",
                                 "ln_f.weight"))
        key = PARAMETER_SEED ^ name_key(name)
        values = [(1.0 if is_norm else 0.0) + 0.16 * (uniform(key, i) - 0.5)
                  for i in range(math.prod(shape))]
        values = [struct.unpack("f", struct.pack("f", v))[0] for v in values]
        parameters[name] = torch.tensor(
            values, dtype=torch.float64).reshape(shape).requires_grad_()
    return parameters


def rate(samples_done):
    total = STEPS * BATCH
    warmup = WARMUP * total
    if samples_done < warmup:
        return RATE * samples_done / warmup
    x = min(1.0, (samples_done - warmup) / (total - warmup))
    return RATE * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * x)))


def curve(config):
    """(losses, norms, rates), one a step."""
    module = gpt2_golden if config["model_type"] == "gpt2" else llama_golden
    logits = getattr(module, config["model_type"] + "_logits")
    parameters = first_parameters(module.parameter_shapes(config))
    tensors = list(parameters.values())
    optimizer = torch.optim.AdamW(
        [{"params": [t for t in tensors if t.dim() > 1],
          "weight_decay": DECAY},
         {"params": [t for t in tensors if t.dim() == 1],
          "weight_decay": 0.0}], betas=BETAS, eps=EPSILON)
    tokens = made_up_tokens()
    found = [], [], []
    for step in range(STEPS):
        rows = [sample(step * BATCH + row, tokens) for row in range(BATCH)]
        inputs = torch.tensor([row[0] for row in rows])
        targets = torch.tensor([row[1] for row in rows])
        optimizer.zero_grad()
        loss = F.cross_entropy(
            logits(config, parameters, inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(tensors, CLIP)
        now = rate((step + 1) * BATCH)
        for group in optimizer.param_groups:
            group["lr"] = now
        optimizer.step()
        for values, value in zip(found, (loss.item(), norm.item(), now)):
            values.append(value)
    return found


def made(name):
    config = CASES[name]
    losses, norms, rates = curve(config)
    clipped = sum(norm > CLIP for norm in norms)
    print(f"{name}: {losses[0]:.4f} to {losses[-1]:.4f}, {clipped} steps "
          "clipped")
    return {"losses": ("f", losses), "norms": ("f", norms),
            "rates": ("f", rates)}


def main(arguments):
    folder, check = read_line(arguments, __doc__)
    print("torch", torch.__version__)
    return write_or_check(folder, check, {n: made(n) for n in CASES}, CASES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
