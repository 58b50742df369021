"""Trains a small network with Lightning."""

import lightning
import torch
from torch.nn import functional
from torch.utils.data import DataLoader
from torch.utils.data import TensorDataset

torch.set_num_threads(1)


def spirals(count, seed):
    """`count` points on one of three spirals, and which one it is."""
    generator = torch.Generator().manual_seed(seed)
    arm = torch.randint(3, (count,), generator=generator)
    radius = torch.rand(count, generator=generator)
    angle = 4 * radius + 2.1 * arm
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    noise = torch.randn(count, 2, generator=generator)
    return TensorDataset(points + 0.03 * noise, arm)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(
            torch.nn.Linear(2, 64), torch.nn.GELU(), torch.nn.Dropout(0.1),
            torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 3))

    def training_step(self, batch, _):
        x, y = batch
        return functional.cross_entropy(self.network(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=3e-3)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimizer, self.trainer.estimated_stepping_batches)
        return {'optimizer': optimizer, 'lr_scheduler': {
            'scheduler': scheduler, 'interval': 'step'}}


def main():
    loader = DataLoader(spirals(4096, seed=1), batch_size=16, shuffle=True)
    trainer = lightning.Trainer(max_epochs=5, accumulate_grad_batches=2,
                                logger=False, enable_progress_bar=False)
    trainer.fit(Classifier(), loader)


if __name__ == '__main__':
    main()
