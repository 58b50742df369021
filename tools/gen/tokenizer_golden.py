#!/usr/bin/env python3
"""What the `tokenizers` package does, for data/tokenizer's tests.

Usage: tokenizer_golden.py [--check] DIRECTORY

Writes DIRECTORY, or with --check makes it again and fails unless it is equal.
Two small tokenizers are trained on the text below, one of GPT-2's kind and one
of Llama 3's, and encode and decode texts that are hard on a pre-tokenizer. The
same seed makes the same files.
"""

import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        pre_tokenizers, processors, trainers)

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

TEXT = """\
The sea was calm in the morning, and the boats weren't out before the wind had
turned. "They'll be back by 12:30," she said; "we've seen 3 of them, I'm sure."
for (int i = 0; i < 1024; ++i) { total += values[i] * 3.14159; }
    if value is None:\n        return default\n\n\n
Der Nebel lag über den Schären, und die Möwen schrien. Où sont les îles ?
Морской ветер гнал волны к берегу, и они разбивались о камни.
海は静かで、島々は霧の中にあった。小さな舟が三つ見えた。
바다는 잔잔했고 섬들은 안개 속에 있었다. مرحبا بالعالم
"""

HARD = [
    '', ' ', '  ', '\n', '\r\n', ' \n ', '\n\n a', 'a\n\n', '\t\tx', "'s",
    "'S", "don't DON'T 're 'LL 'Ve 'x '", "'\u017f 'l\u017f", "it's' ''s",
    ' 1 12 123 1234 12345', '\u0661\u0662\u0663\u0664 \u2163 \xbd\xb2',
    'a\u0301e\u0308', '\U0001f600 \U0001f469\u200d\U0001f680!',
    '\xa0x\u2003y \u3000', 'x  y   z    ', '!!!\n\n???', ' !a !1 ! ',
    '\x00\x01\x7f', '\x85\u2028\u2029', '\u4e2d\u6587abc123\u4e2d',
    '\ufeffbom', '\U000323af\U00010ffff', '#include <a>\r\n\r\n',
    '<|endoftext|>', 'a<|endoftext|>b <|endoftext|> c', '<|endof',
    '<|begin_of_text|>x', '<|end_of_text|><|end_of_text_more|>',
    'a [sea] b[sea]', 'unreachable unreachableness',
]
NORMAL_FORMS = [
    'e\u0301 \u00e9', '\u212b \u2126', '\u1112\u1161\u11ab\u1100\u1173\u11af',
    '[e\u0301] [\u00e9]', '[o\u0308] [\u00f6]', '<|far|> <|x|>',
    'a\u0323\u0301b a\u0301\u0323b', '\u0344', '\ufb1d \u0958', '\uf900'
]
HARD += [
    'a' * 67, 'the' * 40 + ' ' + 'in' * 40, '-' * 100, '\xfc' * 50
]
POOL = [
    '\r\n', '  ', 'the', ' sea', "'ll", '\xe9', '\xdf', '\u0438', '\u6d77',
    '\U0001f600', '\u0301', '\u0663', '\xa0', '\u2009', '\u017f',
    '<|endoftext|>', '[sea]', '<|end_of_text|>', '\u2167', '\u200d',
]
POOL += "aethsinrd  \n\t'.,!?1234567890SREVML-_<|>{}"


def random_texts(count):
    rng = random.Random(20260101)
    return [
        ''.join(rng.choice(POOL) for _ in range(rng.randrange(1, 40)))
        for _ in range(count)
    ]


def gpt2_like():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=480,
        special_tokens=['<|endoftext|>'],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False)
    made.train_from_iterator(TEXT.splitlines(keepends=True), trainer)
    made.add_tokens([AddedToken('[sea]', normalized=True)])
    return json.loads(made.to_str())


def byte_ranks(vocab):
    """Rules as converters from tiktoken make them: every split of a token."""
    merges = []
    for token, rank in sorted(vocab.items(), key=lambda item: item[1]):
        local = []
        for i in range(1, len(token)):
            left, right = token[:i], token[i:]
            if left in vocab and right in vocab:
                local.append((left, right, rank))
        local.sort(key=lambda m: (vocab[m[0]], vocab[m[1]]))
        merges += local
    return [[left, right] for left, right, _ in merges]


def llama3_like():
    made = Tokenizer(models.BPE(ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), 'isolated'),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    ])
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=440,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False)
    made.train_from_iterator(TEXT.splitlines(keepends=True), trainer)
    value = json.loads(made.to_str())
    vocab = value['model']['vocab']
    value['model']['merges'] = byte_ranks(vocab)
    # No rule makes it: only ignore_merges finds it.
    vocab['\u0120unreachable'] = len(vocab)
    for content in ('<|begin_of_text|>', '<|end_of_text|>',
                    '<|end_of_text_more|>'):
        number = len(vocab) + len(value['added_tokens'])
        value['added_tokens'].append({
            'id': number, 'content': content, 'single_word': False,
            'lstrip': False, 'rstrip': False, 'normalized': False,
            'special': True
        })
    first = value['added_tokens'][0]
    value['post_processor'] = {
        'type': 'Sequence',
        'processors': [{
            'type': 'ByteLevel', 'add_prefix_space': True,
            'trim_offsets': False, 'use_regex': True
        }, {
            'type': 'TemplateProcessing',
            'single': [{'SpecialToken': {'id': first['content'],
                                         'type_id': 0}},
                       {'Sequence': {'id': 'A', 'type_id': 0}}],
            'pair': [{'Sequence': {'id': 'A', 'type_id': 0}},
                     {'Sequence': {'id': 'B', 'type_id': 1}}],
            'special_tokens': {first['content']: {
                'id': first['content'], 'ids': [first['id']],
                'tokens': [first['content']]}}
        }]
    }
    return value


def prefix_space(value):
    value = json.loads(json.dumps(value))
    value['pre_tokenizer']['add_prefix_space'] = True
    value['added_tokens'][0]['normalized'] = True
    value['model']['merges'] = [
        pair if isinstance(pair, str) else ' '.join(pair)
        for pair in value['model']['merges']
    ]
    return value


def whole(value):
    value = json.loads(json.dumps(value))
    value['pre_tokenizer']['use_regex'] = False
    return value


def added(content, number, **flags):
    return {
        'id': number, 'content': content, 'single_word': False,
        'lstrip': False, 'rstrip': False, 'normalized': False,
        'special': True, **flags
    }


def qwen2_like(value):
    """Normalization Form C, and numbers digit by digit."""
    value = json.loads(json.dumps(value))
    value['normalizer'] = {'type': 'NFC'}
    pattern = value['pre_tokenizer']['pretokenizers'][0]['pattern']
    pattern['Regex'] = LLAMA3.replace(r'\p{N}{1,3}', r'\p{N}')
    value['post_processor'] = {
        'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': False,
        'use_regex': False
    }
    number = max(token['id'] for token in value['added_tokens']) + 1
    # One is looked for before a text is normalized, the other after it.
    value['added_tokens'] += [
        added('[e\u0301]', number, special=False),
        added('[o\u0308]', number + 1, special=False, normalized=True)
    ]
    return value


def with_gaps(value):
    """What saved files have beside the encoding, and numbers with holes."""
    value = json.loads(json.dumps(value))
    value['model']['vocab']['\u0120apart'] = 700
    value['model']['dropout'] = 0.0
    value['normalizer'] = {'type': 'Sequence', 'normalizers': []}
    value['truncation'] = {'direction': 'Right', 'max_length': 2,
                           'strategy': 'LongestFirst', 'stride': 0}
    value['padding'] = {'strategy': {'Fixed': 16}, 'direction': 'Right',
                        'pad_to_multiple_of': None, 'pad_id': 0,
                        'pad_type_id': 0, 'pad_token': '<|endoftext|>'}
    first, second = value['added_tokens']
    value['added_tokens'] = [
        dict(first, id=9), added('<|far|>', 4000), second, dict(second),
        added('<|x|>', 300)
    ]
    return value


def all_files():
    """{file name: text} of everything."""
    gpt2 = gpt2_like()
    kinds = {
        'gpt2_like': gpt2,
        'gpt2_prefix_space': prefix_space(gpt2),
        'gpt2_whole': whole(gpt2),
        'llama3_like': llama3_like(),
    }
    kinds['qwen2_like'] = qwen2_like(kinds['llama3_like'])
    kinds['gpt2_gaps'] = with_gaps(gpt2)
    files = {'training_text.txt': TEXT}
    for name, value in kinds.items():
        text = json.dumps(value, ensure_ascii=True, separators=(',', ':'))
        files[f'{name}.json'] = text + '\n'
        opened = Tokenizer.from_str(text)
        # A plain encode of transformers does not apply what was saved.
        opened.no_truncation()
        opened.no_padding()
        cases = []
        for case in HARD + NORMAL_FORMS + random_texts(120) + [TEXT]:
            tokens = opened.encode(case, add_special_tokens=False).ids
            cases.append({
                'text': case,
                'tokens': tokens,
                'whole': len(opened.encode(case).ids) - len(tokens),
                'kept': opened.decode(tokens, skip_special_tokens=False),
                'plain': opened.decode(tokens, skip_special_tokens=True),
            })
        files[f'{name}_cases.json'] = json.dumps(
            cases, ensure_ascii=True, separators=(',', ':')) + '\n'
    return files


def main():
    check = "--check" in sys.argv[1:]
    folders = [word for word in sys.argv[1:] if word != "--check"]
    if folders in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if len(folders) != 1 or folders[0].startswith("-"):
        print(__doc__.splitlines()[2], file=sys.stderr)
        return 2
    target = pathlib.Path(folders[0])
    differ = []
    for name, text in all_files().items():
        path = target / name
        if not check:
            path.write_text(text, encoding='utf-8')
        elif path.read_text(encoding='utf-8') != text:
            differ.append(name)
    for name in differ:
        print(f'{name} is not what tokenizers {tokenizers.__version__} makes')
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
