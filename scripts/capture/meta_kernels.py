"""What a build of PyTorch with CUDA decides: the calls of meta_gpu.py's device.

Convolutions, batch norm, attention and recurrent layers ask at run time which
library takes them. These are the rules of PyTorch's sources for a GPU of
compute capability 8.0 or later with cuDNN 9:

    convolution     aten/src/ATen/native/Convolution.cpp (use_cudnn,
                    use_cudnn_depthwise, is_depthwise), ConvUtils.h
    batch norm      aten/src/ATen/native/Normalization.cpp
    attention       aten/src/ATen/native/transformers/cuda/sdp_utils.cpp
    recurrent       aten/src/ATen/native/RNN.cpp (use_cudnn)

Each override calls the operators that the chosen path calls on a GPU; those are
recorded. Sizes come from the meta device.
"""

import torch

import meta_gpu
from meta_gpu import aten

HALVES = (torch.float16, torch.bfloat16)
FLOATS = HALVES + (torch.float32, torch.float64)


def empty(like, sizes, dtype=None):
    """Memory of a kernel's result. The observer sees it: so do those of CUDA."""
    return aten.empty.memory_format(list(sizes), dtype=dtype or like.dtype,
                                    device=like.device)


def result(like, sizes, dtype=None, memory_format=torch.contiguous_format):
    """A result whose memory no operator of its own takes."""
    gpu = meta_gpu.MetaGpu.current
    with meta_gpu.kernel():
        meta = torch.empty(list(sizes), dtype=dtype or like.dtype,
                           device=meta_gpu.META)
        if memory_format is not torch.contiguous_format:
            meta = meta.to(memory_format=memory_format)
    return gpu.housed(meta, like.device)


def same(t):
    """A result of the sizes and layout of `t`."""
    gpu = meta_gpu.MetaGpu.current
    with meta_gpu.kernel():
        meta = torch.empty_strided(
            t.size(), torch.empty_like(gpu.bare(t)).stride(), dtype=t.dtype,
            device=meta_gpu.META)
    return gpu.housed(meta, t.device)


# ---- convolutions ----------------------------------------------------------

def channels_last(t):
    return {4: torch.channels_last, 5: torch.channels_last_3d}[t.dim()]


def last(t):
    """suggest_memory_format() says channels last: by strides alone.

    is_channels_last_strides_2d_s4() and its like of c10/core/MemoryFormat.h.
    """
    if t.dim() not in (4, 5) or t.stride(1) == 0:
        return False
    least = 0
    for d in (1, *range(t.dim() - 1, 1, -1), 0):
        size, stride = t.shape[d], t.stride(d)
        if size == 0 or stride < least or (d == 0 and least == t.stride(1)):
            return False
        least = stride * max(size, 1)
    return True


def layout(x, weight):
    """cudnn_conv_suggest_memory_format()."""
    if x.dtype != torch.float64 and (last(x) or last(weight)):
        return channels_last(x)
    return torch.contiguous_format


def faster(x, stride, size):
    """check_cudnn_depthwise_workload_with_filter(): where cuDNN is asked."""
    batch, channels, _, width = x.shape
    if size not in (1, 3, 5) or width < 7 or stride not in (1, 2):
        return False
    if stride == 1:
        return True
    if batch == 1:
        return size > 1 or width <= 28
    if size == 1:
        return batch <= 16 and channels >= 128 and width <= 7
    return channels >= 512 or (channels >= 256 and width >= 28)


def cudnn_depthwise(x, weight, stride, dilation):
    """use_cudnn_depthwise()"""
    if max(x.numel(), weight.numel()) >= 1 << 31: # beyond 32-bit indices
        return True
    if layout(x, weight) is not torch.contiguous_format:
        return True
    if x.dtype != torch.float16 or x.dim() != 4 or max(dilation) > 1 or \
            x.shape[1] < 32 or (stride[0] != stride[1] and x.shape[2] != 1):
        return False
    if x.shape[2] == 1 and stride[1] == 1:
        return True
    return weight.shape[2] == weight.shape[3] and \
        faster(x, stride[1], weight.shape[3])


def depthwise(x, weight, stride, dilation, transposed, groups):
    """Whether PyTorch's own kernel takes it."""
    return not transposed and groups > 1 and x.shape[1] == groups and \
        weight.shape[0] % groups == 0 and x.dim() in (4, 5) and \
        not cudnn_depthwise(x, weight, stride, dilation)


def convolution(x, weight, bias, stride, padding, dilation, transposed,
                output_padding, groups):
    cudnn = torch.backends.cudnn
    return aten._convolution.default(
        x, weight, bias, stride, padding, dilation, transposed, output_padding,
        groups, cudnn.benchmark, cudnn.deterministic, True,
        cudnn.allow_tf32)


def spread(values, n):
    """A setting of each direction."""
    return list(values) * n if len(values) == 1 else list(values)


def _convolution(x, weight, bias, stride, padding, dilation, transposed,
                 output_padding, groups, benchmark, deterministic,
                 cudnn_enabled, allow_tf32=True):
    if x.dtype not in FLOATS:
        raise meta_gpu.NoRule(
            f"no convolution of {x.dtype} on a GPU: want a float type")
    n = weight.dim() - 2
    stride, padding, dilation, output_padding = (
        spread(v, n) for v in (stride, padding, dilation, output_padding))
    flat = n == 1
    if flat: # as one row of an image
        x, weight = aten.unsqueeze(x, 2), aten.unsqueeze(weight, 2)
        stride, dilation = [1] + stride, [1] + dilation
        padding, output_padding = [0] + padding, [0] + output_padding
    if depthwise(x, weight, stride, dilation, transposed, groups):
        call = aten._conv_depthwise2d if x.dim() == 4 else aten.conv_depthwise3d
        out = call.default(x.contiguous(), weight, list(weight.shape[2:]), bias,
                           stride, padding, dilation)
    else:
        form = layout(x, weight)
        x = x.contiguous(memory_format=form)
        weight = weight.contiguous(memory_format=form)
        if transposed:
            out = aten.cudnn_convolution_transpose.default(
                x, weight, padding, output_padding, stride, dilation, groups,
                benchmark, deterministic, allow_tf32)
        else:
            out = aten.cudnn_convolution.default(
                x, weight, padding, stride, dilation, groups, benchmark,
                deterministic, allow_tf32)
        if bias is not None:
            aten.add_.Tensor(out, aten.reshape(
                bias, [1, -1] + [1] * (x.dim() - 2)))
    return aten.squeeze.dim(out, 2) if flat else out


def convolved(x, weight, padding, stride, dilation, groups, transposed=False,
              output_padding=()):
    gpu = meta_gpu.MetaGpu.current
    with meta_gpu.kernel():
        sizes = aten.convolution.default(
            gpu.bare(x), gpu.bare(weight), None, stride, padding, dilation,
            transposed, list(output_padding) or [0] * len(stride),
            groups).size()
    return result(x, sizes, memory_format=layout(x, weight))


def cudnn_convolution(x, weight, padding, stride, dilation, groups, *_):
    return convolved(x, weight, padding, stride, dilation, groups)


def cudnn_convolution_transpose(x, weight, padding, output_padding, stride,
                                dilation, groups, *_):
    return convolved(x, weight, padding, stride, dilation, groups, True,
                     output_padding)


def conv_depthwise(x, weight, kernel_size, bias, stride, padding, dilation):
    return convolved(x, weight, padding, stride, dilation, x.shape[1])


def convolution_backward(grad, x, weight, bias_sizes, stride, padding, dilation,
                         transposed, output_padding, groups, mask):
    form = layout(x, weight) if x.dim() > 3 else torch.contiguous_format
    return (result(x, x.shape, memory_format=form) if mask[0] else None,
            result(weight, weight.shape, memory_format=form)
            if mask[1] else None,
            aten.sum.dim_IntList(grad, [0] + list(range(2, grad.dim())))
            if mask[2] else None)


# ---- batch norm ------------------------------------------------------------

def batch_norm(x, weight, bias, mean, var, training, momentum, eps, enabled):
    """_batch_norm_impl_index: the results, memory of cuDNN, who took it."""
    cudnn = (enabled and x.dim() >= 3 and weight is not None and
             bias is not None and torch.bfloat16 not in (x.dtype, weight.dtype)
             and (x.dtype != torch.float16 or weight.dtype == torch.float32)
             and ((mean is None) == (var is None))
             and (mean is not None or training)
             and x.shape[0] <= (880801 if training else 65535)
             and eps >= 1e-5)
    if cudnn:
        form = channels_last(x) if last(x) else torch.contiguous_format
        out, save_mean, save_var, reserve = aten.cudnn_batch_norm.default(
            x.contiguous(memory_format=form), weight.contiguous(),
            bias.contiguous(), mean, var, training, momentum, eps)
        return out, save_mean, save_var, reserve, 1
    reserve = empty(x, [0], torch.uint8)
    out, save_mean, save_var = aten.native_batch_norm.default(
        x, weight, bias, mean, var, training, momentum, eps)
    return out, save_mean, save_var, reserve, 0


def cudnn_batch_norm(x, weight, bias, mean, var, training, factor, eps):
    channels = [x.shape[1]] if training else [0]
    return (same(x), result(weight, channels), result(weight, channels),
            result(x, [0], torch.uint8))


def native_batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    kind = torch.float32 if x.dtype in HALVES else x.dtype
    channels = [x.shape[1]] if training else [0]
    return same(x), result(x, channels, kind), result(x, channels, kind)


def cudnn_batch_norm_backward(x, grad, weight, *_):
    return same(x), same(weight), same(weight)


def native_batch_norm_backward(grad, x, weight, mean, var, save_mean, save_std,
                               train, eps, mask):
    kind = weight if weight is not None else x
    channels = [x.shape[1]]
    return (same(x) if mask[0] else None,
            result(kind, channels) if mask[1] else None,
            result(kind, channels) if mask[2] else None)


# ---- attention -------------------------------------------------------------

def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, *,
              scale=None, enable_gqa=False):
    """scaled_dot_product_attention: flash, memory-efficient or plain."""
    if flash(q, k, v, attn_mask, is_causal, enable_gqa):
        return flash_attention(q, k, v, dropout_p, is_causal, scale)
    if efficient(q, k, v, attn_mask, enable_gqa):
        grad = torch.is_grad_enabled() and any(
            t.requires_grad for t in (q, k, v))
        return aten._scaled_dot_product_efficient_attention.default(
            q, k, v, additive(attn_mask, q, k), grad, dropout_p, is_causal,
            scale=scale)[0]
    return aten._scaled_dot_product_attention_math.default(
        q, k, v, attn_mask, dropout_p, is_causal, None, scale=scale,
        enable_gqa=enable_gqa)[0]


def alike(q, k, v, grouped):
    """Four dimensions, batches and heads that match, nothing empty."""
    if not q.dim() == k.dim() == v.dim() == 4 or \
            not q.shape[0] == k.shape[0] == v.shape[0] or \
            0 in q.shape + k.shape:
        return False
    if any(t.stride(-1) != 1 for t in (q, k, v)):
        return False
    heads = q.shape[1], k.shape[1], v.shape[1]
    if grouped:
        return heads[1] == heads[2] and heads[0] % heads[1] == 0
    return heads[0] == heads[1] == heads[2]


def flash(q, k, v, mask, causal, grouped):
    return (torch.backends.cuda.flash_sdp_enabled() and mask is None and
            q.dtype in HALVES and alike(q, k, v, grouped) and
            q.shape[3] == k.shape[3] == v.shape[3] <= 256 and
            not (causal and q.shape[2] != k.shape[2]))


def efficient(q, k, v, mask, grouped):
    each = 8 if q.dtype in HALVES else 4 # elements that a load wants
    return (torch.backends.cuda.mem_efficient_sdp_enabled() and
            q.dtype in HALVES + (torch.float32,) and not grouped and
            alike(q, k, v, False) and q.shape[3] == k.shape[3] and
            q.shape[3] % each == 0 and v.shape[3] % each == 0)


def flash_attention(q, k, v, dropout_p, causal, scale):
    size = q.shape[3]
    if size % 8: # heads are padded to whole loads, and the result cut
        scale = scale if scale is not None else size ** -0.5
        q, k, v = (torch.nn.functional.pad(t, (0, 8 - size % 8))
                   for t in (q, k, v))
    out = aten._scaled_dot_product_flash_attention.default(
        q, k, v, dropout_p, causal, False, scale=scale)[0]
    return out[..., :size] if size % 8 else out


def additive(mask, q, k):
    """A mask as the kernel adds it: of one type, rows of whole loads."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, aten.scalar_tensor.default(
            float("-inf"), dtype=q.dtype, device=mask.device))
    keys = mask.shape[-1]
    if keys % 8:
        mask = torch.nn.functional.pad(mask, (0, 8 - keys % 8))[..., :keys]
    return mask.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])


# ---- recurrent layers ------------------------------------------------------

RNN_RELU, RNN_TANH, LSTM, GRU = range(4)
GATES = {RNN_RELU: 1, RNN_TANH: 1, LSTM: 4, GRU: 3}


def recurrent(mode):
    def padded(x, hx, params, has_biases, layers, dropout, train, both,
               batch_first):
        return cudnn_layers(mode, x, hx, params, has_biases, layers, dropout,
                            train, both, batch_first, [])
    return padded


def recurrent_packed(mode):
    def packed(data, batch_sizes, hx, params, has_biases, layers, dropout,
               train, both):
        return cudnn_layers(mode, data, hx, params, has_biases, layers, dropout,
                            train, both, False, batch_sizes.tolist())
    return packed


def cudnn_layers(mode, x, hx, params, has_biases, layers, dropout, train, both,
                 batch_first, batch_sizes):
    hidden, cell = hx if mode == LSTM else (hx, None)
    if torch.is_autocast_enabled("cuda"): # RNN.cpp of autocast casts all
        dtype = torch.get_autocast_dtype("cuda")
        x, hidden, *params = (t.to(dtype) for t in (x, hidden, *params))
        cell = cell if cell is None else cell.to(dtype)
    projected = hidden.shape[2] if cell is not None and \
        cell.shape[2] != hidden.shape[2] else 0
    size = (cell if projected else hidden).shape[2]
    each = (4 if has_biases else 2) + bool(projected)
    out, hidden, cell, _, _ = aten._cudnn_rnn.default(
        x, list(params), each, None, hidden, cell, mode, size, projected,
        layers, batch_first, dropout, train, both, batch_sizes, None)
    return (out, hidden, cell) if mode == LSTM else (out, hidden)


def cudnn_rnn(x, weight, stride0, buffer, hx, cx, mode, hidden, projected,
              layers, batch_first, dropout, train, both, batch_sizes, state):
    width = (projected or hidden) * (2 if both else 1)
    elements = sum(w.numel() for w in weight)
    # Gates of each step and layer are kept for the backward pass.
    kept = x.numel() // x.shape[-1] * layers * GATES[mode] * hidden * \
        (2 if both else 1) * x.element_size() if train else 0
    return (result(x, list(x.shape[:-1]) + [width]), same(hx),
            same(cx) if cx is not None else result(x, [0]),
            result(x, [kept], torch.uint8), result(x, [elements]))


def cudnn_rnn_backward(x, weight, stride0, buffer, hx, cx, *rest):
    mask = rest[-1]
    return (same(x), same(hx) if mask[1] else None,
            same(cx) if mask[2] and cx is not None else None,
            [same(w) for w in weight])


def fused_gru_cell(igates, hgates, hx, *_):
    return same(hx), result(hx, [hx.shape[0], hx.shape[1] * 5])


def fused_gru_cell_backward(grad, workspace, has_bias):
    gates = [grad.shape[0], grad.shape[1] * 3]
    bias = [gates[1]]
    return (result(grad, gates), result(grad, gates), same(grad),
            result(grad, bias) if has_bias else None,
            result(grad, bias) if has_bias else None)


def lstm_cell(x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return aten._thnn_fused_lstm_cell.default(
        aten.linear(x, w_ih), aten.linear(hx[0], w_hh), hx[1], b_ih, b_hh)[:2]


def gru_cell(x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return aten._thnn_fused_gru_cell.default(
        aten.linear(x, w_ih), aten.linear(hx, w_hh), hx, b_ih, b_hh)[0]


# ---- others ----------------------------------------------------------------

def dropout(x, p, train):
    """One kernel, where a CPU draws, scales and multiplies."""
    if not train or p == 0 or not x.numel():
        return x
    if p == 1:
        return x * aten.zeros.default([], device=x.device, dtype=x.dtype)
    return aten.native_dropout.default(x, p, train)[0]


def embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size,
                           max_indices, num_weights, scale, mode, sparse,
                           per_sample_weights, padding_idx=-1):
    if sparse:
        raise meta_gpu.NeedsValue("a sparse gradient of embeddings has as many "
                                  "rows as there are different indices")
    return aten._embedding_bag_dense_backward.default(
        grad, indices, offset2bag, bag_size, max_indices, num_weights, scale,
        mode, per_sample_weights, padding_idx)


def index_put(x, indices, values, accumulate=False):
    """In place where autograd asks, which else copies for classes of tensors
    that it does not know."""
    own = x if torch._C._current_graph_task_id() >= 0 else x.clone()
    return aten.index_put_.default(own, indices, values, accumulate)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    return aten._fused_rms_norm.default(x, normalized_shape, weight, eps)[0]


def fused_rms_norm(x, normalized_shape, weight, eps):
    kind = torch.float32 if x.dtype in HALVES else x.dtype
    kept = x.dim() - len(normalized_shape)
    return result(x, x.shape), result(
        x, list(x.shape[:kept]) + [1] * len(normalized_shape), kind)


# Kernels of aten/src/ATen/native/cuda that clear their result by an operator
# before they add to it, and those that copy their first input into it.
CLEARED = (
    "nll_loss_backward", "nll_loss2d_backward", "embedding_dense_backward",
    "max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward",
    "adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward",
    "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward",
    "avg_pool3d_backward", "upsample_linear1d_backward",
    "upsample_bilinear2d_backward", "upsample_bicubic2d_backward",
    "upsample_trilinear3d_backward", "reflection_pad1d_backward",
    "reflection_pad2d_backward", "replication_pad1d_backward",
    "replication_pad2d_backward", "replication_pad3d_backward",
    "grid_sampler_2d_backward", "grid_sampler_3d_backward",
    "unfold_backward")
COPIED = (
    "index_add", "index_copy", "index_reduce", "scatter.src", "scatter.value",
    "scatter.reduce", "scatter.value_reduce", "scatter_add",
    "scatter_reduce.two")


def cleared(op):
    def call(*args, **kwargs):
        out = meta_gpu.MetaGpu.current.sized(op, args, kwargs)
        aten.zero_.default(out[0] if isinstance(out, (tuple, list)) else out)
        return out
    return call


def copied(op):
    def call(first, *args, **kwargs):
        out = meta_gpu.MetaGpu.current.sized(op, (first, *args), kwargs)
        aten.copy_.default(out, first)
        return out
    return call


# ---- who overrides what ----------------------------------------------------

# Operators that PyTorch decomposes above the dispatch to a device.
COMPOSITES = {
    "_batch_norm_impl_index": batch_norm,
    "scaled_dot_product_attention": attention,
    "dropout": dropout, "rms_norm": rms_norm,
    "lstm_cell": lstm_cell, "gru_cell": gru_cell,
    "lstm.input": recurrent(LSTM), "lstm.data": recurrent_packed(LSTM),
    "gru.input": recurrent(GRU), "gru.data": recurrent_packed(GRU),
    "rnn_tanh.input": recurrent(RNN_TANH),
    "rnn_tanh.data": recurrent_packed(RNN_TANH),
    "rnn_relu.input": recurrent(RNN_RELU),
    "rnn_relu.data": recurrent_packed(RNN_RELU),
}

KERNELS = {
    "channel_shuffle": lambda x, groups: aten.native_channel_shuffle(x, groups),
    "convolution": convolution, "_convolution": _convolution,
    "cudnn_convolution": cudnn_convolution,
    "cudnn_convolution_transpose": cudnn_convolution_transpose,
    "_conv_depthwise2d": conv_depthwise, "conv_depthwise3d": conv_depthwise,
    "convolution_backward": convolution_backward,
    "cudnn_batch_norm": cudnn_batch_norm,
    "cudnn_batch_norm_backward": cudnn_batch_norm_backward,
    "native_batch_norm": native_batch_norm,
    "native_batch_norm_backward": native_batch_norm_backward,
    "_embedding_bag_backward": embedding_bag_backward,
    "_cudnn_rnn": cudnn_rnn, "_cudnn_rnn_backward": cudnn_rnn_backward,
    "_thnn_fused_gru_cell": fused_gru_cell,
    "_thnn_fused_gru_cell_backward": fused_gru_cell_backward,
    "_fused_rms_norm": fused_rms_norm, "index_put": index_put,
}


def overload(name):
    plain, _, form = name.partition(".")
    return getattr(getattr(aten, plain), form or "default")


OVERRIDES = {overload(name): there
             for name, there in {**COMPOSITES, **KERNELS}.items()}
OVERRIDES.update((overload(name), cleared(overload(name))) for name in CLEARED)
OVERRIDES.update((overload(name), copied(overload(name))) for name in COPIED)


# Kernels of CUDA that PyTorch takes for compositions of others, where it was
# built without.
OWN = ("silu_backward", "mish_backward")


def composites():
    """Register what is decided above the device; in force while it is held."""
    library = torch.library.Library("aten", "IMPL")
    for name in OWN: # never called: tensors come to meta_gpu.py before
        library.impl(name, lambda *_: None, "CUDA")
    for name, there in COMPOSITES.items():
        library.impl(name, there, "AutogradCUDA")
    return library
