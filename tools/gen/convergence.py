#!/usr/bin/env python3
"""Trains a model on a prepared data set with PyTorch, as engine_curve does.

Usage: convergence.py DATA PLAN.json FIRST

FIRST holds the initial parameters, fp32, in the order of the engine's layout.
Prints a line of JSON for each step and each evaluation: loss in nats. Samples
come in the order of docs/formats/token_shard.md, evaluation takes those of the
validation split from the first on, the last one all of them. All is fp32; the
model is that of gpt2_golden.py, optimizer and clipping are PyTorch's own.
"""

import json
import math
import pathlib
import sys

import torch
import torch.nn.functional as F

import gpt2_golden
import training_curve

_HEADER = 1024  # bytes of a token shard

# About 10.7M parameters over bytes; `bf16` is only the engine's.
PLAN = dict(
    config=dict(
        model_type="gpt2", vocab_size=256, n_positions=256, n_embd=384,
        n_layer=6, n_head=6, n_inner=None, activation_function="gelu_new",
        layer_norm_epsilon=1e-5, initializer_range=0.02,
        tie_word_embeddings=True, **gpt2_golden.NO_DROPOUT),
    columns=256, batch=8, steps=900, data_seed=1, rate=1e-3, warmup=0.05,
    floor=0.1, clip=1.0, betas=[0.9, 0.95], epsilon=1e-8, decay=0.1,
    evaluate_every=50, evaluate_samples=64, bf16=False, threads=2)


class Samples:
    """One split of a data set of 16-bit tokens."""

    def __init__(self, folder, split, columns):
        manifest = json.loads((folder / "manifest.json").read_text())
        parts = [(folder / shard["file"]).read_bytes()[_HEADER:]
                 for shard in manifest["shards"] if shard["split"] == split]
        self._tokens = torch.frombuffer(
            bytearray(b"".join(parts)), dtype=torch.uint16).to(torch.int64)
        self._columns = columns
        self.count = (len(self._tokens) - 1) // columns

    def stack(self, indexes):
        """(inputs, targets)."""
        rows = [self._tokens[i * self._columns:(i + 1) * self._columns + 1]
                for i in indexes]
        stacked = torch.stack(rows)
        return stacked[:, :-1], stacked[:, 1:]

    def drawn(self, positions, seed):
        def index(position):
            key = training_curve.random_at(seed, position // self.count)
            return training_curve.permuted(position % self.count, self.count,
                                           key)
        return self.stack(map(index, positions))


def learning_rate(plan, samples_done):
    total = plan["steps"] * plan["batch"]
    warmup = int(plan["warmup"] * total)
    if samples_done < warmup:
        return plan["rate"] * samples_done / warmup
    x = min(1.0, (samples_done - warmup) / (total - warmup))
    cosine = 0.5 * (1 + math.cos(math.pi * x))
    return plan["rate"] * (plan["floor"] + (1 - plan["floor"]) * cosine)


def parameters_from(config, path):
    flat = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32)
    found, at = {}, 0
    for name, shape in gpt2_golden.parameter_shapes(config).items():
        count = math.prod(shape)
        found[name] = flat[at:at + count].reshape(shape).clone(
            ).requires_grad_()
        at += count
    if at != len(flat):
        raise SystemExit(f"{path} holds {len(flat)} parameters, not {at}")
    return found


class Model:
    def __init__(self, plan, first):
        self._config = plan["config"]
        self._parameters = parameters_from(self._config, first)
        self.tensors = list(self._parameters.values())

    def loss(self, batch):
        inputs, targets = batch
        logits = gpt2_golden.gpt2_logits(self._config, self._parameters, inputs)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def evaluate(model, samples, count, rows):
    total = 0.0
    for begin in range(0, count, rows):
        end = min(count, begin + rows)
        total += model.loss(samples.stack(range(begin, end))).item() * (
            end - begin)
    return total / count


def tell(**fields):
    print(json.dumps(fields), flush=True)


def train(plan, folder, first):
    torch.set_num_threads(plan["threads"])
    training, validation = (Samples(folder, split, plan["columns"])
                            for split in ("train", "validation"))
    model = Model(plan, first)
    optimizer = torch.optim.AdamW(
        [{"params": [t for t in model.tensors if t.dim() > 1],
          "weight_decay": plan["decay"]},
         {"params": [t for t in model.tensors if t.dim() == 1],
          "weight_decay": 0.0}],
        betas=plan["betas"], eps=plan["epsilon"], fused=True)
    batch = plan["batch"]
    some = min(plan["evaluate_samples"], validation.count)
    for step in range(plan["steps"]):
        if step % plan["evaluate_every"] == 0:
            tell(step=step,
                 validation=evaluate(model, validation, some, batch))
        drawn = training.drawn(range(step * batch, (step + 1) * batch),
                               plan["data_seed"])
        optimizer.zero_grad()
        loss = model.loss(drawn)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.tensors, plan["clip"])
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(plan, (step + 1) * batch)
        optimizer.step()
        tell(step=step, loss=loss.item())
    tell(step=plan["steps"],
         validation=evaluate(model, validation, validation.count, batch))


def main(arguments):
    if arguments == ["--plan"]:
        print(json.dumps(PLAN))
        return 0
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if len(arguments) != 3:
        print(__doc__.splitlines()[2], file=sys.stderr)
        return 2
    folder, plan, first = map(pathlib.Path, arguments)
    train(json.loads(plan.read_text()), folder, first)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
