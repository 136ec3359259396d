"""Names of torchvision for timm's imports, where none fits this PyTorch.

timm's models are its own code. Of torchvision it imports transforms of images,
data sets, and a batch norm to tell its own layers from; none of these runs in a
model. Every name of torchvision is a class of its own here, without a member
that does anything.
"""

import importlib.abc
import importlib.machinery
import sys


class Name(type):
    """A class whose members are such classes, each made once."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(cls, name, Name(name, (), {}))
        return getattr(cls, name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torchvision and all modules in it."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "torchvision":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        names = Name("names", (), {})
        module.__getattr__ = lambda name: getattr(names, name)


def stand_in():
    """Let `import torchvision` succeed; the real one is taken if it fits."""
    try:
        import torchvision
        return torchvision
    except Exception: # none, or one that was built for another PyTorch
        pass
    for name in list(sys.modules):
        if name.partition(".")[0] == "torchvision":
            del sys.modules[name]
    sys.meta_path.insert(0, Finder())
    return None
