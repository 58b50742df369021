"""A GPT-2 of transformers on the bytes of a text, on a device.

It writes one JSON line for every tau steps: when the first batch came, when the
device had ended the last step, and the loss. Without Skerry, `gpt2.py FILE`
trains the same loop over a DataLoader of PyTorch alone, with the parameters in
FILE, for `steps` of them.
"""

import json
import os
import sys
import time

import skerry
import torch
from torch.utils.data import DataLoader
from torch.utils.data import Dataset
from transformers import GPT2Config
from transformers import GPT2LMHeadModel

torch.set_num_threads(1)


class Windows(Dataset):
    """Pieces of `length` bytes of a file, from byte `begin` on."""

    def __init__(self, path, length, begin, end):
        with open(path, 'rb') as file:
            file.seek(begin)
            raw = bytearray(file.read(end - begin))
        count = len(raw) // length
        self._tokens = torch.frombuffer(
            raw, dtype=torch.uint8, count=count * length).view(count, length)

    def __len__(self):
        return len(self._tokens)

    def __getitem__(self, index):
        return self._tokens[index].long()


class Notes:
    """Writes a line for every `tau` steps to a file of this process."""

    def __init__(self, folder, tau, device):
        self._file = open(os.path.join(folder, f'{os.getpid()}.jsonl'), 'w',
                          encoding='ascii')
        self._tau, self._device = tau, device
        self._steps = 0
        self._began_s = None

    def batch_came(self):
        if self._steps % self._tau == 0:
            self._began_s = time.monotonic()

    def step_ended(self, loss):
        self._steps += 1
        if self._steps % self._tau:
            return
        if self._device.type == 'cuda':
            torch.cuda.synchronize()
        self._file.write(json.dumps({
            'began_s': self._began_s, 'ended_s': time.monotonic(),
            'loss': loss.item()}) + '\n')
        self._file.flush()


def network(given, device):
    torch.manual_seed(1)
    config = GPT2Config(
        n_positions=given['length'], n_embd=given['width'],
        n_layer=given['layers'], n_head=given['width'] // 64, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    return GPT2LMHeadModel(config).to(device)


def loss_of(model, tokens):
    tokens = tokens.to(model.device, non_blocking=True)
    with torch.autocast(model.device.type, torch.bfloat16):
        return model(tokens, labels=tokens).loss


def held_out_loss(model, held_out, samples):
    batches = DataLoader(torch.utils.data.Subset(
        held_out, range(min(samples, len(held_out)))), 16)
    sums = sum(loss_of(model, tokens) * len(tokens) for tokens in batches)
    return sums / len(batches.dataset)


def main():
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding='utf-8') as file:
            given = json.load(file)
    else:
        given = skerry.job().parameters
    device = torch.device(given['device'])
    dataset = Windows(given['text'], given['length'], 0, given['trained'])
    held_out = Windows(given['text'], given['length'], given['trained'],
                       given['bytes'])
    model = network(given, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4,
                                  fused=device.type == 'cuda')
    notes = Notes(given['notes'], given['tau'], device)
    if len(sys.argv) > 1:
        batches = batches_alone(dataset, given)
    else:
        run = skerry.attach(
            model, optimizer,
            evaluate=lambda model, samples: {
                'loss': held_out_loss(model, held_out, samples),
                'samples': min(samples, len(held_out))},
            export_files={'config.json': model.config.to_json_string(
                use_diff=False)})
        batches = run.batches(dataset, batch_size=given['batch'])
    for tokens in batches:
        notes.batch_came()
        loss = loss_of(model, tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if len(sys.argv) == 1:
            run.log(loss=loss)
        notes.step_ended(loss)


def batches_alone(dataset, given):
    """`steps` batches, over as many epochs as it takes."""
    left = given['steps']
    while True:
        for tokens in DataLoader(dataset, given['batch'], shuffle=True,
                                 drop_last=True):
            if not left:
                return
            left -= 1
            yield tokens


if __name__ == '__main__':
    main()
