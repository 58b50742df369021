"""Small models of the GPT-2 and the Llama family, drawn from a generator: their
configs, and their tensors as [name, type, shape, seed, base]."""

POSITIONS = 16


class Gpt2:
    kind, head, table = 'gpt2', 'lm_head.weight', 'transformer.wte.weight'
    bare = 'transformer.'

    def config(self, rng):
        heads = rng.choice([1, 2, 3])
        activation = rng.choice(['gelu_new', 'gelu_pytorch_tanh', 'gelu',
                                 'gelu_fast', 'relu', 'silu', 'swish'])
        config = {
            'model_type': 'gpt2', 'vocab_size': rng.randrange(17, 33),
            'n_positions': POSITIONS, 'n_embd': heads * rng.choice([4, 6]),
            'n_layer': rng.choice([1, 1, 2]), 'n_head': heads,
            'activation_function': activation,
            'resid_pdrop': rng.choice([0.0, 0.1]), 'embd_pdrop': 0.0,
            'attn_pdrop': rng.choice([0.0, 0.1]),
            'layer_norm_epsilon': rng.choice([1e-5, 1e-3])}
        for key, values in (
                ('n_inner', [None, None, 13]), ('n_ctx', [None, POSITIONS]),
                ('scale_attn_weights', [True, True, False]),
                ('scale_attn_by_inverse_layer_idx', [False, True]),
                ('reorder_and_upcast_attn', [False, True]),
                ('summary_type', ['cls_index'])):
            if rng.random() < 0.4:
                config[key] = rng.choice(values)
        return config

    def shapes(self, c):
        width = c['n_embd']
        inner = c.get('n_inner') or 4 * width
        shapes = {'transformer.wte.weight': [c['vocab_size'], width],
                  'transformer.wpe.weight': [c['n_positions'], width]}
        for layer in range(c['n_layer']):
            at = f'transformer.h.{layer}.'
            for name, shape in (
                    ('ln_1.weight', [width]), ('ln_1.bias', [width]),
                    ('attn.c_attn.weight', [width, 3 * width]),
                    ('attn.c_attn.bias', [3 * width]),
                    ('attn.c_proj.weight', [width, width]),
                    ('attn.c_proj.bias', [width]),
                    ('ln_2.weight', [width]), ('ln_2.bias', [width]),
                    ('mlp.c_fc.weight', [width, inner]),
                    ('mlp.c_fc.bias', [inner]),
                    ('mlp.c_proj.weight', [inner, width]),
                    ('mlp.c_proj.bias', [width])):
                shapes[at + name] = shape
        shapes['transformer.ln_f.weight'] = [width]
        shapes['transformer.ln_f.bias'] = [width]
        return shapes

    def derived(self, rng, c):
        for layer in range(c['n_layer']):
            yield [f'transformer.h.{layer}.attn.bias',
                   rng.choice(['BOOL', 'U8', 'F32']),
                   [1, 1, POSITIONS, POSITIONS], 1, 0]
            if rng.random() < 0.5:
                yield [f'transformer.h.{layer}.attn.masked_bias', 'F32', [], 1,
                       0]


class Llama:
    kind, head, table = 'llama', 'lm_head.weight', 'model.embed_tokens.weight'
    bare = 'model.'

    def config(self, rng):
        kv_heads = rng.choice([1, 2])
        heads = kv_heads * rng.choice([1, 2])
        size = rng.choice([4, 6])
        config = {
            'model_type': 'llama', 'vocab_size': rng.randrange(17, 33),
            'max_position_embeddings': POSITIONS, 'hidden_size': heads * size,
            'intermediate_size': rng.choice([9, 16]),
            'num_hidden_layers': rng.choice([1, 1, 2]),
            'num_attention_heads': heads, 'num_key_value_heads': kv_heads,
            'rms_norm_eps': rng.choice([1e-6, 1e-3])}
        for key, values in (
                ('hidden_act', ['silu', 'swish']), ('head_dim', [None, 6]),
                ('attention_bias', [False, True]),
                ('mlp_bias', [False, True]), ('pretraining_tp', [1]),
                ('attention_dropout', [0.0, 0.1]),
                ('layer_types',
                 [['full_attention'] * config['num_hidden_layers']])):
            if rng.random() < 0.4:
                config[key] = rng.choice(values)
        self.set_rotary(rng, config)
        return config

    @staticmethod
    def set_rotary(rng, config):
        theta = rng.choice([100.0, 10000.0])
        kind = rng.choice(['default', 'linear', 'dynamic', 'llama3', 'yarn'])
        rotary = {'rope_type': kind}
        if kind != 'default':
            rotary['factor'] = 2.0
        if kind == 'llama3':
            rotary |= {'low_freq_factor': 1.0, 'high_freq_factor': 4.0}
        if kind in ('llama3', 'yarn'):
            rotary['original_max_position_embeddings'] = 8
        if rng.random() < 0.5:
            config['rope_parameters'] = {**rotary, 'rope_theta': theta}
            return
        config['rope_theta'] = theta
        if kind != 'default':
            config['rope_scaling'] = rotary

    def shapes(self, c):
        width, inner = c['hidden_size'], c['intermediate_size']
        heads, kv_heads = c['num_attention_heads'], c['num_key_value_heads']
        size = c.get('head_dim') or width // heads
        shapes = {'model.embed_tokens.weight': [c['vocab_size'], width]}
        for layer in range(c['num_hidden_layers']):
            at = f'model.layers.{layer}.'
            for name, out, into, bias in (
                    ('self_attn.q_proj', heads * size, width, 'attention_bias'),
                    ('self_attn.k_proj', kv_heads * size, width,
                     'attention_bias'),
                    ('self_attn.v_proj', kv_heads * size, width,
                     'attention_bias'),
                    ('self_attn.o_proj', width, heads * size, 'attention_bias'),
                    ('mlp.gate_proj', inner, width, 'mlp_bias'),
                    ('mlp.up_proj', inner, width, 'mlp_bias'),
                    ('mlp.down_proj', width, inner, 'mlp_bias')):
                shapes[f'{at}{name}.weight'] = [out, into]
                if c.get(bias):
                    shapes[f'{at}{name}.bias'] = [out]
            shapes[at + 'input_layernorm.weight'] = [width]
            shapes[at + 'post_attention_layernorm.weight'] = [width]
        shapes['model.norm.weight'] = [width]
        return shapes

    def derived(self, rng, c):
        yield ['model.position_ids', 'I64', [1], 1, 0]
        for layer in range(c['num_hidden_layers']):
            yield [f'model.layers.{layer}.self_attn.rotary_emb.inv_freq',
                   'F32', [2], 1, 0]


def is_norm(name):
    return name.endswith('weight') and ('norm' in name or 'ln_' in name)


def plain_weights(family, rng, config):
    weights = [[name, 'F32', shape, rng.randrange(2**31),
                1 if is_norm(name) else 0]
               for name, shape in family.shapes(config).items()]
    if not is_tied(config):
        width = weights[0][2][1]
        weights.append([family.head, 'F32', [config['vocab_size'], width],
                        rng.randrange(2**31), 0])
    return weights


def is_tied(config):
    return config.get('tie_word_embeddings', config['model_type'] == 'gpt2')
