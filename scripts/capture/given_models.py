"""Models that the user names: a function, a Hugging Face config, a timm name.

    MODULE:FUNCTION       a Python module or a .py file, and a function in it
    PATH/config.json      a Hugging Face config (needs transformers)
    timm:NAME             a model of timm (needs timm)

each may be followed by settings, `,batch=8,seq=2048,precision=bf16,training`:

    precision=bf16        forward under autocast; fp16 too; tf32: fp32, whose
                          products are rounded
    dtype=bf16            weights and inputs of this type; fp16, fp32 too
    channels_last         weights and images laid out with channels last
    training, inference   which step, whatever FUNCTION says
    selects=25            percent of a mask that are true, where the model goes on
                          with what is selected (`torch.where(expert == n)`: 25
                          for four experts) and nothing is computed: on meta

FUNCTION takes no arguments and returns

    (model, inputs)
    (model, inputs, loss)
    (model, inputs, loss, optimizer)

`inputs` is a tensor, or a tuple or dict of what the model is called with. With
no loss a step is one forward pass without gradients, in the mode in which the
function left the model. A `model` that is no module, but a function of the
inputs, is a whole step as it stands: with backward passes, optimizers, autocast
of its own. With a loss it is a training step. `loss` takes the
model's output and returns a scalar; None takes the output itself, or its member
`loss`. `optimizer` is an optimizer, or a function of the model's parameters
that makes one; without it a step ends with the backward pass.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch
from torch.utils._pytree import tree_map

import no_torchvision

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
# What a trace says of products in fp32 that are rounded (core/trace/trace.h).
TF32_LABEL = "## float32_matmul_precision: high ##"
# Settings of each form; of functions, others are arguments of theirs.
NUMBERS = {"function": ("selects",), "config": ("batch", "seq", "selects"),
           "timm": ("batch", "image")}


class Refused(ValueError):
    """What the user asks for cannot be: the message says what is wanted."""


@dataclass
class Given:
    module: torch.nn.Module
    inputs: tuple
    named: dict # inputs by name
    loss: Optional[Callable] # None: no training
    optimizer: Any # an optimizer, or what makes one; None: no step


def is_given(name):
    return ":" in name or name.partition(",")[0].endswith(".json")


def split(text):
    """'MODEL,KEY=VALUE,...' -> ('MODEL', {KEY: VALUE})"""
    name, *rest = text.split(",")
    settings = {}
    for one in rest:
        key, _, value = one.partition("=")
        settings[key.strip()] = value.strip()
    return name, settings


def form_of(name):
    if name.endswith(".json"):
        return "config"
    return "timm" if name.startswith("timm:") else "function"


def as_argument(text):
    """A setting as a function of the user's takes it: a number, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_settings(name, settings, known=None):
    """Settings checked, as numbers where they are numbers."""
    types = ("dtype", "channels_last") if known is None else ()
    calls = known is None and form_of(name) == "function"
    known = NUMBERS[form_of(name)] if known is None else known
    read = {}
    for key, value in settings.items():
        if key in ("training", "inference") and not value:
            read["training"] = key == "training"
        elif key == "channels_last" and key in types and not value:
            read[key] = True
        elif (key in ("precision", *types) and value in TYPES) or \
                (key, value) == ("precision", "tf32"):
            read[key] = value
        elif key in known and value.isdigit() and int(value) > 0:
            read[key] = int(value)
        elif calls and key.isidentifier() and value and \
                key not in (*known, "precision", *types):
            read.setdefault("arguments", {})[key] = as_argument(value)
        else:
            raise Refused(
                f"'{name}' has no setting '{key}{'=' if value else ''}{value}'"
                ", want " + ", ".join([f"{k}=N" for k in known] + [
                    f"{k}={'|'.join(TYPES)}" for k in ("precision", *types[:1])
                ] + [*types[1:], "training", "inference"]))
    return read


# ---- what is named ---------------------------------------------------------

def workload(work, inference):
    """One of capture_models.py's as a Given."""
    work.module.train(not inference)
    *inputs, target = work.batch
    return Given(work.module, tuple(inputs), {}, None if inference else
                 lambda output: work.loss(output.float(), target),
                 None if inference else work.optimizer)


def make(name, settings):
    """A Given; raises Refused."""
    given = {"config": from_config, "timm": from_timm,
             "function": from_function}[form_of(name)](name, settings)
    return laid_out(given, TYPES.get(settings.get("dtype")),
                    settings.get("channels_last"))


def laid_out(given, dtype, channels_last):
    """The model and its inputs in another type or layout."""
    def asked(t):
        if not isinstance(t, torch.Tensor) or not t.is_floating_point():
            return t
        if channels_last and t.dim() == 4:
            t = t.contiguous(memory_format=torch.channels_last)
        return t.to(dtype) if dtype else t
    if dtype and isinstance(given.module, torch.nn.Module):
        given.module.to(dtype)
    if channels_last and isinstance(given.module, torch.nn.Module):
        given.module.to(memory_format=torch.channels_last)
    given.inputs, given.named = tree_map(asked, (given.inputs, given.named))
    return given


def load_module(where):
    """A module by its name, or by the path of its file."""
    if not where.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name != where.split(".")[0] and error.name != where:
                raise
            raise Refused(f"no Python module '{where}' here or installed, "
                          "want MODULE:FUNCTION or FILE.py:FUNCTION") from None
    if not os.path.exists(where):
        raise Refused(f"{where}: no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
    name = os.path.splitext(os.path.basename(where))[0]
    spec = importlib.util.spec_from_file_location(name, where)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def parameters_of(function):
    """Those that a setting may name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError): # of C
        return []
    return [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD,
                                                p.KEYWORD_ONLY)]


def wanted(function):
    """Arguments that it cannot be called without."""
    return [p.name for p in parameters_of(function) if p.default is p.empty]


def check_arguments(name, function, given):
    """Settings that are not ours are arguments of the user's function."""
    takes = [p.name for p in parameters_of(function)]
    unknown = [key for key in given if key not in takes]
    missing = [key for key in wanted(function) if key not in given]
    if unknown:
        raise Refused(f"{name} has no argument '{unknown[0]}', want "
                      + (", ".join(f"{t}=VALUE" for t in takes) or "none")
                      + ", or precision, dtype, channels_last, training, "
                      "inference")
    if missing:
        raise Refused(f"{name} takes arguments ({', '.join(missing)}): say "
                      f"them behind it, '{name},{missing[0]}=VALUE'")


def offered(where, module):
    """Functions of a module that --model may name, for people."""
    names = [n for n, v in vars(module).items()
             if inspect.isfunction(v) and v.__module__ == module.__name__
             and not wanted(v)]
    return ", ".join(f"{where}:{n}" for n in names[:8]) + \
        (", ..." if names[8:] else "") if names else \
        "one (it has none without arguments)"


def from_function(name, settings):
    where, _, function = name.rpartition(":")
    if not where:
        raise Refused(f"'{name}' names no module: want MODULE:FUNCTION or "
                      "FILE.py:FUNCTION")
    module = load_module(where)
    make_it = getattr(module, function, None)
    if not callable(make_it):
        raise Refused(f"{where}: no function '{function}', want "
                      + offered(where, module))
    if isinstance(make_it, type):
        raise Refused(f"{name} is a class: want a function that returns "
                      "(model, inputs[, loss[, optimizer]])")
    asked = settings.get("arguments", {})
    check_arguments(name, make_it, asked)
    made = make_it(**asked)
    if not isinstance(made, (tuple, list)) or not 2 <= len(made) <= 4 or \
            not callable(made[0]):
        raise Refused(f"{name} returned {describe(made)}, want (model, "
                      "inputs[, loss[, optimizer]])")
    model, inputs, *rest = made
    inputs, named = arguments(inputs)
    if isinstance(model, torch.nn.Module):
        model = uncompiled(model)
    elif rest or settings.get("training"):
        raise Refused(f"{name}: {describe(model)} is no module, so it is a "
                      "step as it stands: return (step, inputs), and let it "
                      "take its loss and optimizers itself")
    training = settings.get("training", bool(rest))
    loss = (rest[0] if rest and rest[0] is not None else own_loss) \
        if training else None
    optimizer = rest[1] if training and len(rest) > 1 else None
    if loss is not None and not callable(loss):
        raise Refused(f"{name}: the loss is {describe(loss)}, want a function "
                      "of the model's output, or None")
    if optimizer is not None and not callable(optimizer) and \
            not hasattr(optimizer, "zero_grad"):
        raise Refused(f"{name}: the optimizer is {describe(optimizer)}, want "
                      "one of torch.optim, or a function of the parameters "
                      "that makes one")
    return Given(model, inputs, named, loss, optimizer)


def uncompiled(model):
    """torch.compile's wrapper taken off: no generated code is recorded."""
    inner = getattr(model, "_orig_mod", None)
    if inner is None:
        return model
    print("capture.py: warning: torch.compile is left out: the model is "
          "recorded as it runs without", file=sys.stderr)
    return inner


def describe(made):
    if isinstance(made, (tuple, list)):
        return "(" + ", ".join(type(m).__name__ for m in made) + ")"
    return type(made).__name__


def arguments(inputs):
    if isinstance(inputs, dict):
        return (), inputs
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs), {}
    return (inputs,), {}


def own_loss(output):
    """The loss that a model computes, or the sum of what it puts out."""
    loss = getattr(output, "loss", None)
    if loss is None and isinstance(output, dict):
        loss = output.get("loss")
    if loss is not None:
        return loss
    while not isinstance(output, torch.Tensor):
        if isinstance(output, dict):
            output = list(output.values())
        if not isinstance(output, (tuple, list)) or not output:
            raise Refused(f"the model puts out {type(output).__name__}: want "
                          "a loss to train it by")
        output = output[0]
    return output if output.dim() == 0 else output.float().sum()


def adamw(parameters):
    """In lists of tensors, as on a GPU wherever it runs."""
    return torch.optim.AdamW(parameters, lr=1e-4, foreach=True)


def inputs_of(path, model, config, settings, training):
    """What a model of Hugging Face reads, and labels to train it by."""
    batch, seq = settings.get("batch", 1), settings.get("seq", 2048)
    words, read = getattr(config, "vocab_size", 0), model.main_input_name
    classes = (batch,) # one label a sample, where it tells samples apart
    if read == "pixel_values":
        size = config.image_size
        size = size if isinstance(size, (list, tuple)) else (size, size)
        named = {read: torch.randn(batch, config.num_channels, *size)}
    elif read == "input_ids" and words:
        named = {read: torch.randint(words, (batch, seq))}
        if getattr(config, "is_encoder_decoder", False):
            named["decoder_input_ids"] = torch.randint(words, (batch, seq))
        if not type(model).__name__.endswith("ForSequenceClassification"):
            classes = (batch, seq)
    else:
        raise Refused(f"{path}: a model of '{config.model_type}' reads "
                      f"'{read}', want one that reads tokens or images: write "
                      "MODULE:FUNCTION that makes it and its inputs")
    if training:
        named["labels"] = torch.randint(
            words if len(classes) == 2 else config.num_labels, classes)
    return named


def from_config(path, settings):
    try:
        with open(path, encoding="utf-8") as file:
            kind = json.load(file).get("model_type")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except (ValueError, AttributeError) as error:
        raise Refused(f"{path}: {error}, want a config.json of Hugging Face") \
            from None
    if not kind:
        raise Refused(f"{path}: no 'model_type', want a config.json of Hugging "
                      "Face")
    try:
        import transformers
    except ImportError:
        raise Refused(f"{path}: needs transformers (pip install transformers)"
                      ) from None
    if kind not in transformers.CONFIG_MAPPING:
        raise Refused(f"{path}: transformers {transformers.__version__} knows "
                      f"no 'model_type' '{kind}': want a newer transformers, "
                      "or MODULE:FUNCTION that makes the model")
    config = transformers.AutoConfig.from_pretrained(
        os.path.dirname(os.path.abspath(path)) if
        os.path.basename(path) == "config.json" else path)
    config.use_cache = False
    training = settings.get("training", False)
    dtype = getattr(config, "dtype", None) or torch.bfloat16
    # Which head goes with the config: the one that it was saved with.
    heads = getattr(config, "architectures", None) or []
    causal = kind in transformers.models.auto.modeling_auto \
        .MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    maker = getattr(transformers, heads[0], None) if heads else None
    if maker is not None:
        model = maker._from_config(config, dtype=dtype)
    elif causal:
        model = transformers.AutoModelForCausalLM.from_config(config,
                                                              dtype=dtype)
    else:
        model = transformers.AutoModel.from_config(config, dtype=dtype)
    model.train(training)
    named = inputs_of(path, model, config, settings, training)
    return Given(model, (), named, own_loss if training else None,
                 adamw if training else None)


def timm_model(timm, name, image):
    """A model for images of this size, where its maker is asked for one."""
    if image:
        try:
            return timm.create_model(name, img_size=image)
        except TypeError: # takes every size
            pass
    return timm.create_model(name)


def from_timm(name, settings):
    no_torchvision.stand_in()
    try:
        import timm
    except ImportError as error:
        raise Refused(f"{name}: timm cannot be imported ({error}): pip install "
                      "timm (it needs no torchvision here)") from None
    name = name.partition(":")[2]
    if not timm.is_model(name):
        near = timm.list_models(f"*{name.split('_')[0]}*")[:8]
        raise Refused(f"timm has no model '{name}'" + (
            ", want one like " + ", ".join(near) if near else
            ": timm.list_models() has them all"))
    model = timm_model(timm, name, settings.get("image"))
    channels, *size = model.default_cfg["input_size"]
    size = [settings.get("image", s) for s in size]
    training = settings.get("training", False)
    model.train(training)
    x = torch.randn(settings.get("batch", 1), channels, *size)
    labels = torch.randint(model.num_classes, (x.shape[0],))
    loss = (lambda output: torch.nn.functional.cross_entropy(
        output.float(), labels)) if training else None
    return Given(model, (x,), {}, loss, adamw if training else None)


# ---- a step ----------------------------------------------------------------

class Steps:
    """What takes steps on a device."""

    tf32 = False

    def say_precision(self):
        if self.tf32:
            with torch.profiler.record_function(TF32_LABEL):
                pass

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def timed_step(self):
        """One step to its end, in milliseconds."""
        start = time.perf_counter()
        self.step()
        self.wait()
        return (time.perf_counter() - start) * 1e3


class Job(Steps):
    """A given model, ready to take steps: like capture.py's of its models."""

    def __init__(self, given, device, precision):
        self.given = given
        self.device = torch.device(device)
        self.tf32 = precision == "tf32"
        self.dtype = {"fp16": torch.float16,
                      "bf16": torch.bfloat16}.get(precision)
        self.optimizer = given.optimizer
        if callable(self.optimizer) and not isinstance(
                self.optimizer, torch.optim.Optimizer):
            self.optimizer = self.optimizer(
                [p for p in given.module.parameters() if p.requires_grad])
        # Gradients of fp16 underflow unless the loss is scaled.
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=self.dtype is torch.float16 and
            self.optimizer is not None)

    def forward(self):
        """The output, or the loss where there is one."""
        given = self.given
        with torch.autocast(self.device.type, self.dtype,
                            enabled=self.dtype is not None):
            out = given.module(*given.inputs, **given.named)
            return out if given.loss is None else given.loss(out)

    def step(self):
        self.say_precision()
        if self.given.loss is None:
            # A function takes its own step, with gradients where it asks.
            with torch.set_grad_enabled(
                    not isinstance(self.given.module, torch.nn.Module)):
                self.forward()
            return
        if self.optimizer is not None:
            self.optimizer.zero_grad(set_to_none=True)
        elif isinstance(self.given.module, torch.nn.Module):
            for p in self.given.module.parameters():
                p.grad = None
        loss = self.forward()
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise Refused("the loss is " + (
                f"of sizes {list(loss.shape)}" if
                isinstance(loss, torch.Tensor) else describe(loss)) +
                ", want a single number")
        self.scaler.scale(loss).backward()
        if self.optimizer is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()


# ---- what went wrong -------------------------------------------------------

OURS = os.path.dirname(os.path.abspath(__file__))
THEIRS = os.path.dirname(os.path.abspath(torch.__file__))


def users_line(error):
    """Where in the user's code, 'FILE:LINE: in FUNCTION()'; None: not there."""
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        if not path.startswith((OURS, THEIRS, "<")) and \
                not path.endswith("capture.py"):
            line = f"{path}:{number}: in {frame.f_code.co_name}()"
    return line


def where_failed(error, model=None):
    """'FILE:LINE: in Class.forward of layer.name: Kind: text'"""
    line, owner = users_line(error), None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        holder = frame.f_locals.get("self")
        if isinstance(holder, torch.nn.Module) and \
                frame.f_code.co_name == "forward":
            owner = holder
    text = str(error).strip().splitlines() or [""]
    # Of our own kinds the message alone says all.
    own = type(error).__module__ in ("meta_gpu", "given_models")
    said = text[0] if own else f"{type(error).__name__}: {text[0]}"
    if owner is not None:
        name = next((n for n, m in model.named_modules() if m is owner), "") \
            if isinstance(model, torch.nn.Module) else ""
        said = f"in {type(owner).__name__}" + (f" '{name}'" if name else "") \
            + f": {said}"
    return f"{line}: {said}" if line else said
