#!/usr/bin/env python3
"""A hundred folders as people have them, and what transformers makes of them.

Usage: model_folders.py [--check] FILE

Writes FILE, or with --check computes everything again and fails unless it
agrees. Each case is a small model of the GPT-2 or the Llama family with
settings, element types, names, files and notes of other tools drawn from a
seed; some have a fault that Skerry refuses by name. Values follow a formula, so
FILE holds none. The logits are those of transformers for the plain twin of a
case: the same model, every weight once, under its own name, as fp32 in one
file. Each case is also opened as it is, and "transformers" says what came of
it: "equal" logits, "other" logits or "refused".
"""

import json
import pathlib
import random
import struct
import sys
import tempfile
import warnings

import torch
import transformers

from model_families import Gpt2, Llama, is_tied, plain_weights

CASES = 100
SEED = 29
KEPT = 2  # of the last positions' logits
TOLERANCE = 1e-4
TYPES = {'F32': ('f', 4), 'F64': ('d', 8), 'F16': ('e', 2), 'BF16': (None, 2),
         'BOOL': ('B', 1), 'U8': ('B', 1), 'I8': ('b', 1), 'I64': ('q', 8)}
FLOATS = ('F32', 'F32', 'F32', 'BF16', 'F16', 'F64')

# Keys and values that change nothing.
HARMLESS = [
    ('transformers.js_config', {'dtype': 'q4'}), ('unsloth_version', '2025.9'),
    ('unsloth_fixed', True), ('auto_map', {}), ('neftune_noise_alpha', 5),
    ('use_sliding_window', False), ('use_cache', True), ('license', 'mit'),
    ('_name_or_path', 'somewhere/else'), ('gradient_checkpointing', True),
    ('pad_token_id', 3), ('eos_token_id', [1, 2]), ('bos_token_id', 1),
    ('tokenizer_class', 'PreTrainedTokenizerFast'), ('num_labels', 3),
    ('max_window_layers', 9), ('classifier_dropout', 0.1),
    ('quantization_config', None), ('final_logit_softcapping', 0),
    ('qk_layernorm', False), ('adapters', {}), ('is_decoder', False),
]


def value(seed, index, base):
    """Exact in every float type here: base + k / 128, |k| <= 31."""
    mixed = (seed * 2654435761 + index * 40503 + 12345) % 2**32
    mixed ^= mixed >> 15
    mixed = mixed * 2246822519 % 2**32
    mixed ^= mixed >> 13
    return base + (mixed % 63 - 31) / 128


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


def encode(tensor):
    _, kind, shape, seed, base = tensor
    letter, _ = TYPES[kind]
    elements = count(shape)
    if kind not in FLOATS:
        return struct.pack(f'<{elements}{letter}', *([seed % 2] * elements))
    values = [value(seed, i, base) for i in range(elements)]
    if letter:
        return struct.pack(f'<{elements}{letter}', *values)
    # Values are exact in bf16, so the upper half of a float32 is it.
    return b''.join(struct.pack('<f', one)[2:] for one in values)


def write_weights(path, tensors):
    header, at, data = {'__metadata__': {'format': 'pt'}}, 0, []
    for tensor in tensors:
        data.append(encode(tensor))
        header[tensor[0]] = {
            'dtype': tensor[1], 'shape': tensor[2],
            'data_offsets': [at, at + len(data[-1])]}
        at += len(data[-1])
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    path.write_bytes(struct.pack('<Q', len(text)) + text + b''.join(data))


def renamed(weights, rename):
    return [[rename(one[0])] + one[1:] for one in weights]


def vary_names(family, rng, config, weights):
    """Wrappers, bare models, tied pairs, duplicates, masks, element types."""
    first = weights[0]
    if is_tied(config):
        how = rng.choice(['table', 'table', 'head', 'both'])
        head = [family.head] + first[1:]
        if how == 'head':
            weights = [head] + weights[1:]
        elif how == 'both':
            weights = weights + [head]
    if rng.random() < 0.5:
        weights = weights + list(family.derived(rng, config))
    names = rng.choice(['own'] * 8 + ['bare'] * 3 +
                       ['module.', '_orig_mod.', 'base_model.model.'])
    if names == 'bare':
        weights = renamed(weights, lambda name: name.removeprefix(family.bare))
    elif names != 'own':
        weights = renamed(weights, lambda name: names + name)
    kind, mixed = rng.choice(FLOATS), rng.random() < 0.2
    return [[name, (rng.choice(FLOATS) if mixed else kind)
             if old == 'F32' else old, *rest]
            for name, old, *rest in weights]


def lay_out(rng, weights):
    """({weight file: tensors}, {text file: text})."""
    how = rng.choice(['one', 'one', 'shards', 'shards', 'stale', 'index'])
    single = 'model.safetensors'
    if how in ('one', 'stale', 'index'):
        texts = {}
        named = 'model-00001-of-00002.safetensors' if how == 'stale' else single
        if how != 'one':
            texts['model.safetensors.index.json'] = json.dumps(
                {'metadata': {}, 'weight_map': {
                    one[0]: named for one in weights}})
        return {single: weights}, texts
    shards = rng.choice([2, 3])
    files = {f'model-{i + 1:05}-of-{shards:05}.safetensors': weights[i::shards]
             for i in range(shards)}
    if rng.random() < 0.3:  # the same tensor in two files
        files[f'model-{shards:05}-of-{shards:05}.safetensors'].append(
            weights[0])
    index = {one[0]: name for name, part in files.items() for one in part}
    return files, {'model.safetensors.index.json': json.dumps(
        {'metadata': {}, 'weight_map': index})}


def add_notes(rng, config):
    for key, harmless in rng.sample(HARMLESS, rng.randrange(5)):
        config.setdefault(key, harmless)
    for key in rng.choice([['torch_dtype'], ['dtype'], [],
                           ['dtype', 'torch_dtype']]):
        config[key] = rng.choice(['float32', 'bfloat16', 'float16'])


# Faults change config, weight files and text files of a plain folder in place.
def all_weights(files):
    return next(iter(files.values()))


def fault_config(key, what):
    def fault(config, files, texts):
        config[key] = what
    return fault


def fault_activation(config, files, texts):
    key = ('activation_function' if config['model_type'] == 'gpt2'
           else 'hidden_act')
    config[key] = 'mish'


def fault_type(config, files, texts):
    config['model_type'] = 'gpt_neox'


def fault_rotary(config, files, texts):
    for key in ('rope_parameters', 'rope_scaling'):
        config.pop(key, None)
    config['rope_scaling'] = {'rope_type': 'longrope', 'factor': 2.0}


def fault_two_rotaries(config, files, texts):
    config['rope_scaling'] = {'rope_type': 'linear', 'factor': 2.0}
    config['rope_parameters'] = {'rope_type': 'linear', 'factor': 2.0}


def fault_unknown(config, files, texts):
    all_weights(files).append(['score.weight', 'F32', [2, 4], 5, 0])


def fault_adapter(config, files, texts):
    all_weights(files).append(
        ['base_model.model.q_proj.lora_A.weight', 'F32', [2, 4], 5, 0])


def fault_missing(config, files, texts):
    del all_weights(files)[3]


def fault_shape(config, files, texts):
    all_weights(files)[3][2] = all_weights(files)[3][2] + [1]


def fault_integers(config, files, texts):
    all_weights(files)[3][1] = 'I8'


def fault_duplicate(config, files, texts):
    other = list(all_weights(files)[3])
    other[0], other[3] = 'module.' + other[0], other[3] + 1
    all_weights(files).append(other)


def fault_head(config, files, texts):
    weights = all_weights(files)
    if not is_tied(config):
        weights[:] = [one for one in weights if one[0] != 'lm_head.weight']
        return
    weights.append(['lm_head.weight', 'F32', weights[0][2], 77, 0])


def fault_index(config, files, texts):
    texts['model.safetensors.index.json'] = json.dumps({'weight_map': {
        'a': 'model-00001-of-00002.safetensors'}})
    files['model-00002-of-00002.safetensors'] = files.pop('model.safetensors')


def fault_no_weights(config, files, texts):
    files.clear()
    texts['pytorch_model.bin'] = 'PK'


# (fault, the words by which Skerry refuses it, the family that it is of)
FAULTS = [
    (fault_config('quantization_config', {'quant_method': 'gptq'}),
     'quantised checkpoint', None),
    (fault_config('sliding_window', 4096),
     'sliding_window: is not known', None),
    (fault_config('use_sliding_window', True),
     'use_sliding_window: is not known', None),
    (fault_config('mystery', 0.5), 'mystery: is not known', None),
    (fault_config('add_cross_attention', True),
     'add_cross_attention: is true, which Skerry does not compute', None),
    (fault_activation, 'is "mish"', None),
    (fault_type, 'model_type: is "gpt_neox"', None),
    (fault_rotary, 'rope_type: is "longrope"', 'llama'),
    (fault_two_rotaries, 'stands beside rope_parameters', 'llama'),
    (fault_config('hidden_size', 5), 'hidden_size: is 5, and n_embd', 'gpt2'),
    (fault_unknown, 'score.weight is not in the model', None),
    (fault_adapter, 'is of a LoRA adapter', None),
    (fault_missing, 'is missing', None),
    (fault_shape, "the model's is", None),
    (fault_integers, 'has the dtype I8', None),
    (fault_duplicate, 'has other values than', None),
    (fault_head, 'tie_word_embeddings', None),
    (fault_index, 'which is not there; the folder has', None),
    (fault_no_weights, 'save the model with save_pretrained', None),
]


def make_case(number):
    rng = random.Random(SEED * 1000 + number)
    has_fault = number % 5 == 3
    fault, refusal, kind = FAULTS[number // 5 % len(FAULTS)]
    if not has_fault or kind is None:
        kind = ('gpt2', 'llama')[number % 2]
    family = {'gpt2': Gpt2(), 'llama': Llama()}[kind]
    config = family.config(rng)
    tied = rng.choice([None, True, False])
    if tied is not None:
        config['tie_word_embeddings'] = tied
    plain = plain_weights(family, rng, config)
    inputs = [rng.randrange(config['vocab_size']) for _ in range(12)]
    case = {'name': f'{number} {family.kind}', 'inputs': inputs,
            'plain': (dict(config), plain)}
    if has_fault:
        files, texts = {'model.safetensors': [list(one) for one in plain]}, {}
        fault(config, files, texts)
        case['refusal'] = refusal
    else:
        add_notes(rng, config)
        files, texts = lay_out(rng, vary_names(family, rng, config, plain))
    case['texts'] = {'config.json': json.dumps(config), **texts}
    case['weights'] = files
    return case


def write_folder(folder, texts, weights):
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, tensors in weights.items():
        write_weights(folder / name, tensors)


def logits_of(folder, inputs):
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32,
        output_loading_info=True)
    with torch.no_grad():
        return model.eval()(torch.tensor([inputs])).logits[0], report


def judge(case, folder):
    """Fills in what transformers makes of the case and of its plain twin."""
    config, plain = case.pop('plain')
    twin = folder / 'twin'
    write_folder(twin, {'config.json': json.dumps(config)},
                 {'model.safetensors': plain})
    truth, report = logits_of(twin, case['inputs'])
    assert not report['missing_keys'], report
    assert not report['unexpected_keys'], report
    opened = folder / 'case'
    write_folder(opened, case['texts'], case['weights'])
    try:
        found, _ = logits_of(opened, case['inputs'])
        same = found.shape == truth.shape and (
            (found - truth).abs().max().item() <= TOLERANCE)
        case['transformers'] = 'equal' if same else 'other'
    except Exception:  # whatever it says, it does not open the folder
        case['transformers'] = 'refused'
    if 'refusal' not in case:
        case['logits'] = [round(one, 6) for one in
                          truth[-KEPT:].flatten().tolist()]


def differences(made, stored):
    if len(made) != len(stored):
        yield 'the number of cases differs'
        return
    for new, old in zip(made, stored):
        logits = new.pop('logits', []), old.pop('logits', [])
        if new != old or len(logits[0]) != len(logits[1]):
            yield f'{new["name"]} differs'
        elif any(abs(a - b) > TOLERANCE / 10 for a, b in zip(*logits)):
            yield f'{new["name"]} has other logits'


def main(arguments):
    check = '--check' in arguments
    paths = [one for one in arguments if not one.startswith('--')]
    if len(paths) != 1:
        sys.exit(__doc__)
    path = pathlib.Path(paths[0])
    print('torch', torch.__version__, 'transformers', transformers.__version__)
    warnings.simplefilter('ignore')
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    made = [make_case(number) for number in range(CASES)]
    for case in made:
        with tempfile.TemporaryDirectory() as folder:
            judge(case, pathlib.Path(folder))
    for verdict in ('equal', 'other', 'refused'):
        print(f'{verdict}:', *(
            case['name'] + (' (' + case['refusal'] + ')'
                            if 'refusal' in case else '')
            for case in made if case['transformers'] == verdict), sep='\n  ')
    # As FILE gives them back.
    made = json.loads(json.dumps(made))
    if not check:
        lines = [json.dumps(case, separators=(',', ':')) for case in made]
        path.write_text('[\n' + ',\n'.join(lines) + '\n]\n')
        return 0
    failed = list(differences(made, json.loads(path.read_text())))
    print(*failed, 'different' if failed else 'the same', sep='\n')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
