"""What engine_steps does, with PyTorch: see there.

  torch_steps.py --attention eager|fused|compiled --threads N --vocab V ...

With --bf16 1 the model runs under autocast; its parameters are fp32.
"""

import json
import math
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tools.local_cluster import flags  # noqa: E402


class Block(nn.Module):
    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, q, k, v):
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        columns = q.shape[2]
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        mask = torch.ones(columns, columns, dtype=torch.bool).triu(1)
        return scores.masked_fill(mask, float('-inf')).softmax(-1) @ v

    def forward(self, x):
        rows, columns, width = x.shape
        q, k, v = (part.reshape(rows, columns, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        mixed = self.attend(q, k, v).transpose(1, 2)
        x = x + self.out(mixed.reshape(rows, columns, width))
        hidden = F.gelu(self.up(self.norm2(x)), approximate='tanh')
        return x + self.down(hidden)


class Gpt2(nn.Module):
    def __init__(self, args, fused):
        super().__init__()
        self.tokens = nn.Embedding(args.vocab, args.width)
        self.places = nn.Embedding(args.columns, args.width)
        self.blocks = nn.ModuleList(Block(args.width, args.heads, fused)
                                    for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, inputs, targets):
        x = self.tokens(inputs) + self.places.weight[:inputs.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    parser = flags.Parser()
    parser.add_argument('--attention', required=True)
    for name in ('threads', 'vocab', 'columns', 'width', 'layers', 'heads',
                 'rows', 'bf16'):
        parser.add_argument('--' + name, type=flags.whole(), required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model = Gpt2(args, fused=args.attention != 'eager')
    tensors = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [{'params': [t for t in tensors if t.dim() > 1], 'weight_decay': 0.1},
         {'params': [t for t in tensors if t.dim() == 1], 'weight_decay': 0}],
        lr=1e-4, betas=(0.9, 0.95), fused=True)
    run = torch.compile(model) if args.attention == 'compiled' else model
    inputs, targets = torch.randint(args.vocab, (2, args.rows, args.columns))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast('cpu', dtype=torch.bfloat16,
                            enabled=args.bf16 == 1):
            loss = run(inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tensors, 1.0)
        optimizer.step()

    step()
    print(json.dumps({'parameters': sum(t.numel() for t in tensors),
                      'version': torch.__version__}), flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(line)):
            step()
        print(time.perf_counter() - begin, flush=True)


if __name__ == '__main__':
    main()
