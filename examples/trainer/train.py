"""Trains a GPT-2 with the Trainer of transformers.

The model is made from a config, so that nothing is downloaded. With weights of
your own, call GPT2LMHeadModel.from_pretrained in `network`.
"""

import skerry
import torch
import transformers

torch.set_num_threads(1)


class Sequences(torch.utils.data.Dataset):
    """`count` sequences of 32 tokens that count upwards in steps of 1 to 3."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        first = torch.randint(64, (count, 1), generator=generator)
        step = torch.randint(1, 4, (count, 1), generator=generator)
        self._tokens = (first + step * torch.arange(32)) % 64

    def __len__(self):
        return len(self._tokens)

    def __getitem__(self, index):
        tokens = self._tokens[index]
        return {'input_ids': tokens, 'labels': tokens}


def network():
    torch.manual_seed(1)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=64, n_positions=32, n_embd=48, n_layer=2, n_head=2,
        bos_token_id=None, eos_token_id=None))


def main():
    arguments = transformers.TrainingArguments(
        'trained', per_device_train_batch_size=8, gradient_accumulation_steps=2,
        num_train_epochs=1, learning_rate=2e-3, warmup_steps=10,
        save_strategy='no', report_to=[])
    trainer = transformers.Trainer(
        network(), arguments, train_dataset=Sequences(2048, seed=1),
        eval_dataset=Sequences(64, seed=2))
    skerry.hf.attach(trainer)
    trainer.train()


if __name__ == '__main__':
    main()
