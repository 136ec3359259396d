/*
 * replay/program/callable.c - which operators of a trace a program may call.
 *
 * Nothing is taken from the signature that the trace has: it may lie. What
 * counts are the name, which PyTorch looks up, and the values that are passed.
 */
#include "replay/program/program.h"

#include <stdbool.h>
#include <string.h>

/* Is the word at `word` one of `list`, which blanks or commas separate? */
static bool is_in(const char *list, const char *word, size_t n)
{
    while (list && *list) {
        size_t len = strcspn(list, " ,");

        if (len == n && n > 0 && !memcmp(list, word, n))
            return true;
        list += len + (list[len] != '\0');
    }
    return false;
}

/* ---- names --------------------------------------------------------------- */

static const char SPACES[] =
    "aten c10d fbgemm torchvision quantized mkldnn mkl onednn prims";

bool msim_is_known_space(const char *space, size_t n)
{
    return is_in(SPACES, space, n);
}

/* `__init__`: Python's own names, which no operator but a sign has: __and__. */
static bool is_python_own(const char *name)
{
    static const char SIGNS[] = "__and__ __or__ __xor__ __lshift__ __rshift__ "
                                "__iand__ __ior__ __ixor__ __ilshift__ "
                                "__irshift__";
    size_t n = strlen(name);

    return n > 4 && !strncmp(name, "__", 2) && !strcmp(name + n - 2, "__") &&
           !is_in(SIGNS, name, n);
}

/* Operators that are there to read or write a file, whatever is passed. */
static bool is_of_files(const char *name)
{
    static const char NAMES[] = "from_file from_file_out save load _save _load";

    return is_in(NAMES, name, strlen(name));
}

bool msim_is_python_keyword(const char *word, size_t n)
{
    static const char KEYWORDS[] =
        "and as assert async await break class continue def del elif else "
        "except finally for from global if import in is lambda nonlocal not or "
        "pass raise return try while with yield None True False";

    return is_in(KEYWORDS, word, n);
}

/* Names that stand in front of a dot or of `=` in a program. */
static bool is_said(const struct msim_schema *s)
{
    if (msim_is_python_keyword(s->name, strcspn(s->name, ":")))
        return false;
    for (uint32_t i = 0; i < s->n_args; i++)
        if (s->args[i].by_name &&
            msim_is_python_keyword(s->args[i].name.at, s->args[i].name.len))
            return false;
    return true;
}

/* ---- texts --------------------------------------------------------------- */

/* Operators that take a text, and the words that it can be. */
static const struct {
    const char *operators, *words;
} WORDS[] = {
    {"div div_ divide divide_", "floor trunc"},
    {"gelu gelu_ gelu_backward", "none tanh"},
    {"scatter scatter_", "add multiply"},
    {"scatter_reduce scatter_reduce_ index_reduce index_reduce_ segment_reduce "
     "_segment_reduce_backward _sparse_mm _sparse_mm_reduce_impl "
     "_sparse_mm_reduce_impl_backward",
     "sum prod mean amax amin max min"},
    {"pad stft", "constant reflect replicate circular"},
    {"conv1d conv2d conv3d _convolution_mode", "valid same"},
    {"__interpolate __upsample",
     "nearest linear bilinear bicubic trilinear area nearest-exact"},
    {"meshgrid", "ij xy"},
    {"searchsorted pad_sequence", "left right"},
    {"quantile nanquantile", "linear lower higher midpoint nearest"},
    {"linalg_eigh _linalg_eigh linalg_eigvalsh", "L U"},
    {"linalg_qr", "reduced complete r"},
    {"linalg_svd _linalg_svd linalg_svdvals", "gesvd gesvdj gesvda"},
    {"linalg_lstsq", "gels gelsy gelsd gelss"},
    {"linalg_norm linalg_matrix_norm linalg_cond", "fro nuc"},
    {"fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_rfft "
     "fft_rfft2 fft_rfftn fft_irfft fft_irfft2 fft_irfftn fft_hfft fft_hfft2 "
     "fft_hfftn fft_ihfft fft_ihfft2 fft_ihfftn",
     "backward ortho forward"},
    {"_convolution_pointwise _convolution_pointwise_ _linear_pointwise "
     "_convolution_transpose_pointwise qconv1d_pointwise qconv2d_pointwise "
     "qconv3d_pointwise qconv_pointwise qlinear_pointwise",
     "none relu gelu silu tanh sigmoid swish hardswish hardsigmoid hardtanh "
     "leaky_relu add sum mul"},
};

/* "bij,bjk->bik" */
static bool is_equation(const char *text)
{
    return strlen(text) < 256 &&
           !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ,.-> ")];
}

static bool is_word(const char *operator, const char * text)
{
    if (!strcmp(operator, "einsum"))
        return is_equation(text);
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
        if (is_in(WORDS[i].operators, operator, strlen(operator)))
            return is_in(WORDS[i].words, text, strlen(text));
    return false;
}

/* A device is written as one of a few, whatever its text is. */
static bool has_free_text(const struct msim_trace *t, uint32_t op,
                          const struct msim_schema *s)
{
    const char *operator= strstr(s->name, "::") + 2;
    const struct msim_arg *a;

    for (uint32_t i = 0; (a = msim_args_get(t, t->ops[op].args, i)); i++) {
        uint32_t below = a->kind == MSIM_ARG_LIST ? (uint32_t)a->v.i : 0;

        if (i < s->n_args && s->args[i].kind == MSIM_SCHEMA_DEVICE)
            continue;
        for (uint32_t k = 0; k <= below; k++)
            if (a[k].kind == MSIM_ARG_STR &&
                !is_word(operator, msim_trace_text(t, (uint32_t)a[k].v.i)))
                return true;
    }
    return false;
}

const char *msim_why_not_callable(const struct msim_trace *t, uint32_t op,
                                  const struct msim_schema *s,
                                  const char *further)
{
    size_t space = strcspn(s->name, ":");

    if (!msim_is_known_space(s->name, space) && !is_in(further, s->name, space))
        return "operators of its name space are not called, unless "
               "--namespaces names it";
    if (is_python_own(s->name + space + 2) || is_python_own(s->overload) ||
        !is_said(s))
        return "its name, or that of an argument, is one of Python's own";
    if (is_of_files(s->name + space + 2))
        return "it reads or writes a file";
    if (has_free_text(t, op, s))
        return "a text is passed to it that is none of the words that it "
               "takes: it may be the name of a file";
    return NULL;
}
