"""Which tensors models have, and how they are called."""

import torch


def unwrapped_name(model, name):
    """`name` of named_parameters() without what DDP, torch.compile, FSDP and
    activation checkpoints put before it."""
    kept, owner = [], model
    for part in name.split('.'):
        wraps = part in ('_orig_mod', '_fsdp_wrapped_module',
                         '_checkpoint_wrapped_module')
        wraps |= part == 'module' and isinstance(
            owner, (torch.nn.parallel.DistributedDataParallel,
                    torch.nn.DataParallel))
        if not wraps:
            kept.append(part)
        owner = getattr(owner, part)
    return '.'.join(kept)


def by_key(models):
    """{key: module} of a module or of such a dictionary."""
    return {'': models} if isinstance(models, torch.nn.Module) else models


def named_parameters(models):
    """{name: parameter} of a model, or of a dictionary of models, whose keys
    become the first parts of the names. Tied parameters come once a name."""
    found = {}
    for key, model in by_key(models).items():
        for name, parameter in model.named_parameters(remove_duplicate=False):
            name = unwrapped_name(model, name)
            found[f'{key}.{name}' if key else name] = parameter
    return found


def saved_buffers(models):
    """{name: (module, attribute)} of the floating buffers that state_dict()
    has, with names as those of named_parameters()."""
    found = {}
    for key, model in by_key(models).items():
        for path, module in model.named_modules(remove_duplicate=False):
            for attribute, buffer in module.named_buffers(recurse=False):
                if (not buffer.is_floating_point()
                        or attribute in module._non_persistent_buffers_set):
                    continue
                name = unwrapped_name(
                    model, f'{path}.{attribute}' if path else attribute)
                found[f'{key}.{name}' if key else name] = module, attribute
    return found
