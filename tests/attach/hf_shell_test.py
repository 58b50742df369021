"""transformers' Trainer, attached."""

import base64
import os
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import shell_cases  # noqa: E402
import skerry  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from shell_cases import positions  # noqa: E402

_STEPS = 12


class Rows(torch.utils.data.Dataset):
    """96 sequences of 8 tokens that count upwards."""

    def __len__(self):
        return 96

    def __getitem__(self, index):
        tokens = (index + torch.arange(8)) % 16
        return {'input_ids': tokens, 'labels': tokens}


def network():
    torch.manual_seed(1)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1,
        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0,
        eos_token_id=0))


class InOrder(transformers.Trainer):
    """Takes the samples as they lie."""

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def trainer(kind=transformers.Trainer, dataset=None, evaluated=None,
            **arguments):
    return kind(network(), transformers.TrainingArguments(**{
        'output_dir': '.', 'per_device_train_batch_size': 4,
        'gradient_accumulation_steps': 2, 'learning_rate': 0.01,
        'lr_scheduler_type': 'cosine', 'warmup_steps': 3, 'report_to': [],
        'save_strategy': 'no', 'disable_tqdm': True, 'use_cpu': True,
        'logging_steps': 5, **arguments}),
        train_dataset=dataset or Rows(), eval_dataset=evaluated)


def attached(found, *bodies, after=(), evaluated=None, job=None, **arguments):
    """The Trainer, after it has trained."""
    made = []

    def main():
        made.append(trainer(evaluated=evaluated, **arguments))
        skerry.hf.attach(made[0])
        made[0].train()
    shell_cases.run(main, shell_cases.script(found, *bodies, after=after),
                    **{'samples': _STEPS * 8, **(job or {})})
    return made[0]


class TrainerTest(unittest.TestCase):
    def test_it_trains_as_it_does_alone_bit_for_bit(self):
        found = []
        attached(found, *positions(0, 32, 56, _STEPS * 8))
        plain = trainer(InOrder, shell_cases.in_order(Rows(), 0, _STEPS * 8),
                        num_train_epochs=1)
        plain.train()
        self.assertEqual(plain.state.global_step, _STEPS)
        self.assertTrue(torch.equal(found[-1],
                                    shell_cases.values(plain.model)))
        # The losses of the Runs make the one that Trainer tells.
        total = sum(one['loss'] * int(one['innerSteps'])
                    for one in found[1:-1])
        self.assertAlmostEqual(
            total / _STEPS, plain.state.log_history[-1]['train_loss'],
            places=4)
        self.assertEqual([one['innerSteps'] for one in found[1:-1]],
                         ['4', '3', '5'])
        self.assertIn('gradientNorm', found[2])

    def test_a_replica_may_take_more_steps_than_the_run_has(self):
        # A lost round comes again.
        found = []
        made = attached(found, *positions(0, 96), *positions(48, 96),
                        *positions(8, 12))
        self.assertEqual(made.state.global_step, _STEPS + 7)
        self.assertEqual(found[3]['samples'], '4')
        self.assertAlmostEqual(made.state.epoch, 1.0)

    def test_its_own_saving_and_evaluation_are_off(self):
        class NoEvaluation(Rows):
            def __getitem__(self, index):
                raise AssertionError('it was evaluated')
        with tempfile.TemporaryDirectory() as folder:
            attached([], *positions(0, 96), evaluated=NoEvaluation(),
                     output_dir=folder, eval_strategy='steps', eval_steps=2,
                     save_strategy='steps', save_steps=2,
                     load_best_model_at_end=True)
            self.assertEqual(os.listdir(folder), [])

    def test_the_job_measures_its_evaluation_set(self):
        found = []
        evaluate = 'Evaluate', {'samplesMax': '40'}
        made = attached(found, *positions(0, 32), *positions(32, 96),
                        after=[evaluate, ('Evaluate', {})], evaluated=Rows())
        self.assertTrue(found[0]['capabilities']['evaluates'])
        self.assertEqual([one['samples'] for one in found[3:5]], ['40', '96'])
        whole = made.evaluate()
        self.assertAlmostEqual(found[4]['loss'], whole['eval_loss'], places=5)
        plain = trainer(InOrder, shell_cases.in_order(Rows(), 0, 96),
                        num_train_epochs=1)
        plain.train()
        self.assertTrue(torch.equal(found[-1],
                                    shell_cases.values(plain.model)))
        without = []
        attached(without, *positions(0, 8))
        self.assertFalse(without[0]['capabilities']['evaluates'])

    def test_from_pretrained_opens_what_is_exported(self):
        found = []
        made = attached(found, *positions(0, 8))
        with tempfile.TemporaryDirectory() as folder:
            made.model.save_pretrained(folder)
            for name in os.listdir(folder):
                if name.endswith('.json'):
                    os.remove(os.path.join(folder, name))
            for one in found[0]['exportFiles']:
                with open(os.path.join(folder, one['name']), 'wb') as file:
                    file.write(base64.b64decode(one['content']))
            opened = transformers.AutoModelForCausalLM.from_pretrained(folder)
        tokens = torch.arange(8).unsqueeze(0)
        with torch.no_grad():
            self.assertTrue(torch.equal(made.model.eval()(tokens).logits,
                                        opened.eval()(tokens).logits))

    def test_what_it_cannot_do_is_refused(self):
        for words, job, arguments in (
                ('4 samples x 2 batches x 1 processes = 8 samples a step, and '
                 'the job says training.batch_samples: 16',
                 {'batch_samples': 16}, {}),
                ('the last step would have 1 samples for 2 batches',
                 {'samples': 97}, {}),
                ('has 1 processes, and skerry-attach has started 2',
                 {'world': 2}, {}),
                ('auto_find_batch_size', {}, {'auto_find_batch_size': True}),
                ('follows a measured value', {},
                 {'lr_scheduler_type': 'greedy', 'eval_strategy': 'steps'})):
            with self.assertRaisesRegex(ValueError, words):
                attached([], job=job, evaluated=Rows(), **arguments)

        def resumes():
            made = trainer()
            skerry.hf.attach(made)
            made.train(resume_from_checkpoint=folder)
        with tempfile.TemporaryDirectory() as work:
            plain = trainer(output_dir=work, max_steps=1)
            plain.train()
            plain._save_checkpoint(plain.model, None)
            folder = os.path.join(work, 'checkpoint-1')
            with self.assertRaisesRegex(ValueError, 'from its own checkpoint'):
                shell_cases.run(resumes, shell_cases.script([]))
        with self.assertRaisesRegex(ValueError, 'without DeepSpeed and FSDP'):
            shell_cases.run(lambda: skerry.hf.attach(types.SimpleNamespace(
                args=None, is_deepspeed_enabled=False, is_fsdp_enabled=True)),
                shell_cases.script([]))

    def test_without_skerry_the_trainer_stays_as_it_is(self):
        made = trainer(max_steps=1)
        before = list(made.callback_handler.callbacks)
        skerry.hf.attach(made)
        self.assertEqual(made.callback_handler.callbacks, before)
        self.assertNotIn('get_train_dataloader', vars(made))

    def test_the_example_is_attached_as_it_is_alone(self):
        attached_as, losses = shell_cases.attached_values(
            self, 'trainer', 512, 16, 8)
        self.assertLess(losses[-1], losses[0])
        self.assertTrue(torch.equal(
            attached_as, shell_cases.alone_values('trainer', 512, 16, 8)))


if __name__ == '__main__':
    unittest.main()
