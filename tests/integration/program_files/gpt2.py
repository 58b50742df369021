"""A small GPT-2 of transformers, trained on numbers that repeat."""

import skerry
import torch
from torch.utils.data import TensorDataset
from transformers import GPT2Config
from transformers import GPT2LMHeadModel

torch.set_num_threads(1)


def main():
    config = GPT2Config(vocab_size=64, n_positions=16, n_embd=32, n_layer=2,
                        n_head=2, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    begins = torch.randint(64, (512, 1),
                           generator=torch.Generator().manual_seed(0))
    rows = TensorDataset((begins + torch.arange(16)) % 64)
    run = skerry.attach(model, optimizer, export_files={
        'config.json': config.to_json_string(use_diff=False),
        # More than a message of gRPC holds by itself.
        'vocabulary.txt': 'number\n' * (1 << 20)})
    for tokens, in run.batches(rows, batch_size=8):
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.log(loss=loss)


if __name__ == '__main__':
    main()
