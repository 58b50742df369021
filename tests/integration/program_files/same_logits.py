"""Whether transformers opens an exported folder with all of its weights, and
computes what the weights in the file say."""

import json
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from transformers import GPT2Config
from transformers import GPT2LMHeadModel


def main(folder):
    model, told = AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True)
    left = {name: list(told[name]) for name in
            ('missing_keys', 'unexpected_keys', 'mismatched_keys')}
    if any(left.values()):
        return f'transformers says {json.dumps(left)}'
    by_hand = GPT2LMHeadModel(GPT2Config.from_pretrained(folder))
    by_hand.load_state_dict(load_file(f'{folder}/model.safetensors'),
                            strict=False)
    by_hand.tie_weights()
    tokens = torch.arange(16).unsqueeze(0)
    with torch.no_grad():
        ours = model.eval()(tokens).logits
        theirs = by_hand.eval()(tokens).logits
    if not torch.equal(ours, theirs):
        return f'logits differ by {(ours - theirs).abs().max()}'
    # What was learnt: the next number follows.
    follows = (ours[0, :-1].argmax(-1) == tokens[0, 1:]).float().mean()
    print(f'{follows:.2f} of the numbers follow')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
