#!/usr/bin/env python3
"""What the `sentencepiece` package does, for data/sentencepiece's tests.

Usage: sentencepiece_golden.py [--check] DIRECTORY

Trains small models on the text below and writes them into DIRECTORY, with the
tokens and texts that the package makes with each. With --check trains nothing:
takes the models that lie there, makes those tokens and texts again, and fails
unless they are equal. Encoding is the same everywhere, except that versions
choose otherwise between ways that are equally likely, such as a long and a
short run of spaces in a unigram model: no such texts are here.
"""

import io
import json
import pathlib
import random
import sys

import sentencepiece

TEXT = """\
The sea was calm in the morning, and the boats weren't out before the wind had
turned. "They'll be back by 12:30," she said; "we've seen 3 of them, I'm sure."
for (int i = 0; i < 1024; ++i) { total += values[i] * 3.14159; }
    if value is None:\n        return default\n\n\n
Der Nebel lag über den Schären, und die Möwen schrien. Où sont les îles ?
Морской ветер гнал волны к берегу, и они разбивались о камни.
海は静かで、島々は霧の中にあった。小さな舟が三つ見えた。
"""

# Rules as sentencepiece's own normalizers have them, but few: the tables of
# those take 240 kB.
RULES = [
    ('\n', ' '), ('\t', ' '), ('\r', ' '), ('\xa0', ' '), ('\u3000', ' '),
    ('\u200b', ''), ('\xad', ''), ('e\u0301', '\xe9'), ('u\u0308', '\xfc'),
    ('\u0438\u0306', '\u0439'), ('\ufb01', 'fi'), ('\u2026', '...'),
    ('\xbd', '1\u20442'), ('\ufdfa', '\u0635\u0644\u0649 \u0627\u0644\u0644'),
] + [(chr(0xff00 + i), chr(0x20 + i)) for i in range(1, 0x5f)]

# Rules across spaces and line feeds, which forbid to cut there.
SPACED_RULES = [('. ', '.  '), ('a b', 'ab'), ('z\n', 'Z')]

HARD = [
    '', ' ', '  ', '\n', '\r\n', ' \n ', '\n\n a', 'a\n\n', '\t\tx', "don't",
    ' 1 12 123 1234 12345', 'a\u0301e\u0308', 'e\u0301t\u00e9 u\u0308ber',
    '\U0001f600 \U0001f469\u200d\U0001f680!', '\xa0x\u2003y \u3000',
    'x  y   z    ', '   lead and trail   ', '!!!\n\n???', '\x01\x7f',
    '\x85\u2028\u2029', '\u4e2d\u6587abc123\u4e2d', '\ufeffbom',
    '\U000323af\U00010ffff', '#include <a>\r\n\r\n', '<s>', 'a</s>b </s> c',
    '<unk>', '<0x0A>', '\u2581', ' \u2581 the\u2581sea', 'the\u2581',
    '[sea]', 'a [sea] b[sea][sea]', '\ufb01ne \uff21\uff22\uff23 \u2026 \xbd',
    '\ufdfa the \ufdfa', 'so\xadft \u200b zero', 'a b. c d z\n\nz\n',
    'the sea\n\n\nthe boats\n', '\n\nthe', '中\n\n文\n中', 'the end\n\nend\n',
]
HARD += ['a' * 67, 'the' * 40 + ' ' + 'in' * 40, '-' * 100, '\xfc' * 50]
POOL = [
    '\r\n', '  ', 'the', ' sea', "'ll", '\xe9', '\xdf', '\u0438', '\u6d77',
    '\U0001f600', '\u0301', '\u0663', '\xa0', '\u3000', '</s>', '[sea]',
    '\u200b', '\ufb01', '\u2581', '\n', '\n\n', ' \n', '. ', 'a b', 'z\n',
    'end\n',
]
POOL += "aethsinrd  \n\t'.,!?1234567890SREVML-_<|>{}"

SPECIAL = dict(user_defined_symbols=['[sea]'])
KINDS = {
    # Llama 2's settings.
    'llama_like': dict(
        model_type='bpe', vocab_size=620, byte_fallback=True,
        normalization_rule_name='identity', remove_extra_whitespaces=False,
        split_digits=True, allow_whitespace_only_pieces=True),
    # Those that sentencepiece has by itself, with fewer rules.
    'unigram_like': dict(model_type='unigram', vocab_size=260, rules=RULES,
                         **SPECIAL),
    'unigram_bytes': dict(
        model_type='unigram', vocab_size=480, byte_fallback=True,
        normalization_rule_name='identity', add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        user_defined_symbols=['[sea]', '\n', 'end\n']),
    'spaced_rules': dict(model_type='bpe', vocab_size=200,
                         rules=RULES + SPACED_RULES, **SPECIAL),
    'suffix': dict(model_type='unigram', vocab_size=240, rules=RULES,
                   treat_whitespace_as_suffix=True),
    'words': dict(model_type='word', vocab_size=40, rules=RULES),
    'characters': dict(model_type='char', vocab_size=80, rules=RULES),
}


def random_texts(count):
    rng = random.Random(20260101)
    return [
        ''.join(rng.choice(POOL) for _ in range(rng.randrange(1, 40)))
        for _ in range(count)
    ]


def points(text):
    return ' '.join(f'{ord(c):X}' for c in text)


def trained(directory, rules=None, **settings):
    """The bytes of a model."""
    if rules:
        path = directory / 'rules.tsv'
        path.write_text(''.join(f'{points(a)}\t{points(b)}\n'
                                for a, b in rules), encoding='utf-8')
        settings['normalization_rule_tsv'] = str(path)
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((TEXT * 5).splitlines()), model_writer=made,
        num_threads=1, hard_vocab_limit=False, minloglevel=2, **settings)
    if rules:
        path.unlink()
    return made.getvalue()


def cases_of(model):
    opened = sentencepiece.SentencePieceProcessor(model_proto=model)
    cases = []
    for text in HARD + random_texts(100) + [TEXT]:
        tokens = opened.encode(text)
        cases.append({'text': text, 'tokens': tokens,
                      'decoded': opened.decode(tokens)})
    rng = random.Random(7)
    for _ in range(40):
        # What a model may say, but no text would have.
        tokens = [rng.randrange(opened.get_piece_size()) for _ in range(12)]
        cases.append({'tokens': tokens, 'decoded': opened.decode(tokens)})
    return json.dumps({'vocab_size': opened.get_piece_size(),
                       'eos': opened.eos_id(), 'bos': opened.bos_id(),
                       'unk': opened.unk_id(), 'cases': cases},
                      ensure_ascii=True, separators=(',', ':')) + '\n'


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
    for name, settings in KINDS.items():
        model = target / f'{name}.model'
        cases = target / f'{name}_cases.json'
        if not check:
            model.write_bytes(trained(target, **settings))
            cases.write_text(cases_of(model.read_bytes()), encoding='utf-8')
        elif cases.read_text(encoding='utf-8') != cases_of(
                model.read_bytes()):
            differ.append(cases.name)
    for name in differ:
        print(f'{name} is not what sentencepiece {sentencepiece.__version__} '
              'makes')
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
