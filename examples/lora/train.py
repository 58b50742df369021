"""Fine-tunes adapters (LoRA) of a GPT-2 of transformers.

The model is made from a config, so that nothing is downloaded. With weights of
your own, call GPT2LMHeadModel.from_pretrained in `network`.
"""

import skerry
import torch
import transformers
from torch.utils.data import TensorDataset

torch.set_num_threads(1)
DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


class Adapted(torch.nn.Module):
    """A layer that is not trained, and a product of two small matrices that is:
    inputs x rank and rank x outputs."""

    def __init__(self, layer, rank):
        super().__init__()
        inputs, outputs = layer.weight.shape
        self.layer = layer
        self.down = torch.nn.Parameter(torch.randn(inputs, rank) * 0.05)
        self.up = torch.nn.Parameter(torch.zeros(rank, outputs))

    def forward(self, x):
        return self.layer(x) + x @ self.down @ self.up


def network():
    """The frozen values are the same in each process that calls it."""
    torch.manual_seed(1)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=64, n_positions=32, n_embd=48, n_layer=2, n_head=2,
        bos_token_id=None, eos_token_id=None))
    model.requires_grad_(False)
    for block in model.transformer.h:
        block.attn.c_attn = Adapted(block.attn.c_attn, rank=4)
        block.mlp.c_fc = Adapted(block.mlp.c_fc, rank=4)
    return model


def sequences(count, seed):
    """`count` sequences of 32 tokens that count upwards in steps of 1 to 3."""
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(64, (count, 1), generator=generator)
    step = torch.randint(1, 4, (count, 1), generator=generator)
    return TensorDataset((first + step * torch.arange(32)) % 64)


def main():
    dataset = sequences(2048, seed=1)
    model = network().to(DEVICE)
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    run = skerry.attach(model, optimizer)
    for tokens, in run.batches(dataset, batch_size=16):
        tokens = tokens.to(DEVICE)
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)


if __name__ == '__main__':
    main()
