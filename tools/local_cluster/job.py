"""Job files of the demo, the integration suites and the quality bench."""

import json


def gpt2_config(layers, width, heads, context):
    """A Hugging Face config.json for a byte-level GPT-2, as text."""
    return json.dumps({
        'model_type': 'gpt2', 'vocab_size': 256, 'n_positions': context,
        'n_embd': width, 'n_layer': layers, 'n_head': heads,
        'activation_function': 'gelu_new', 'layer_norm_epsilon': 1e-5,
        'initializer_range': 0.02, 'tie_word_embeddings': True,
        'resid_pdrop': 0.0, 'embd_pdrop': 0.0, 'attn_pdrop': 0.0})


def job(name, data, config, samples, batch, tau, method='OUTER_METHOD_CO2',
        codec='int8_block', seed=1, learning_rate=3e-3, workers_min=1,
        islands=(), **training):
    """The content of a job file; see proto/skerry/v1/job.proto."""
    return {
        'name': name,
        'model': {'config_json': config, 'seed': seed},
        'data': {'path': data, 'seed': seed},
        'training': {'samples': samples, 'batch_samples': batch, 'tau': tau,
                     'learning_rate': learning_rate, **training},
        'outer': {'method': method},
        'exchange': {'codec': codec},
        'placement': {'workers_min': workers_min, 'islands': list(islands)},
    }
