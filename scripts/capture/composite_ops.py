#!/usr/bin/env python3
"""Write replay/program/composite_ops.c: PyTorch's operators made of others.

    composite_ops.py >replay/program/composite_ops.c

An operator that PyTorch registers as CompositeImplicitAutograd has no kernel of
its own: it calls other operators, through autograd too. A benchmark may hence
call those instead. PyTorch's registry is asked, so the table is of the version
that runs this script.
"""

import torch


def composite():
    """Names of operators, with `.overload` where only some overloads are."""
    known = {}
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name = schema.name
        if schema.overload_name:
            name += "." + schema.overload_name
        try:
            made = torch._C._dispatch_has_kernel_for_dispatch_key(
                name, "CompositeImplicitAutograd")
        except RuntimeError: # of TorchScript alone
            continue
        known.setdefault(schema.name, {})[schema.overload_name] = made
    for name, overloads in known.items():
        if all(overloads.values()):
            yield name[6:]
        else:
            for overload, made in overloads.items():
                if made:
                    yield name[6:] + "." + overload


print(f"""\
/*
 * replay/program/composite_ops.c - operators of PyTorch that are made of others.
 *
 * Written by scripts/capture/composite_ops.py from PyTorch
 * {torch.__version__.split("+")[0]}'s registry: all CompositeImplicitAutograd operators, without `aten::`.
 * `name` stands for all overloads, `name.overload` for one, `name.` for the
 * one without a name. In the order of strcmp().
 */
#include "replay/program/program.h"

const char *const msim_composite_ops[] = {{""")
names = sorted(composite())
for name in names:
    print(f'    "{name}",')
print(f"""}};
const unsigned msim_n_composite_ops = {len(names)};""")
