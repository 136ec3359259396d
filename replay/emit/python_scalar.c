/*
 * replay/emit/python_scalar.c - numbers, words and devices as Python text.
 */
#include "replay/emit/emit_python_internal.h"

#include "core/base/json.h"

#include <math.h>
#include <string.h>

static void add_real(struct msim_text *out, double v)
{
    char text[32];

    if (!isfinite(v)) {
        msim_text_add(out, "float(%s)",
                      isnan(v) ? "nan"
                      : v > 0  ? "inf"
                               : "-inf");
        return;
    }
    msim_number_text(text, v);
    msim_text_put(out, text);
    msim_text_put(out, strpbrk(text, ".e") ? "" : ".0");
}

/* c10's ScalarType, in its order. */
static const char *const dtypes[] = {
    "uint8",   "int8",    "int16",     "int32",     "int64",      "float16",
    "float32", "float64", "complex32", "complex64", "complex128", "bool",
    "qint8",   "quint8",  "qint32",    "bfloat16"};
static const char *const formats[] = {"contiguous_format", "preserve_format",
                                      "channels_last", "channels_last_3d"};

static bool add_word(struct msim_text *out, const char *const *words, size_t n,
                     const struct msim_arg *a)
{
    if (a->kind != MSIM_ARG_INT || a->v.i < 0 || (size_t)a->v.i >= n)
        return false;
    msim_text_put(out, "torch.");
    msim_text_word(out, words[a->v.i], strlen(words[a->v.i]));
    return true;
}

/* A device of the trace: that of the run, but for what lay on the CPU of a run
 * with a GPU. */
static void add_device(const struct msim_body *b, struct msim_text *out,
                       const struct msim_arg *a)
{
    const char *name = msim_trace_text(b->p->trace, (uint32_t)a->v.i);
    bool cpu = !strncmp(name, "cpu", 3), meta = !strncmp(name, "meta", 4);

    if ((cpu || meta) && !b->p->trace->cpu_only)
        msim_text_put(out, cpu ? "'cpu'" : "'meta'");
    else
        msim_text_put(out, "DEV");
}

void msim_body_scalar(const struct msim_body *b, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a)
{
    if (type->kind == MSIM_SCHEMA_DTYPE &&
        add_word(out, dtypes, sizeof(dtypes) / sizeof(*dtypes), a))
        return;
    if (type->kind == MSIM_SCHEMA_MEMORY_FORMAT &&
        add_word(out, formats, sizeof(formats) / sizeof(*formats), a))
        return;
    if (type->kind == MSIM_SCHEMA_LAYOUT && a->kind == MSIM_ARG_INT &&
        a->v.i == 0) {
        msim_text_add(out, "torch.strided");
        return;
    }
    if (type->kind == MSIM_SCHEMA_DEVICE && a->kind == MSIM_ARG_STR) {
        add_device(b, out, a);
        return;
    }
    switch (a->kind) {
    case MSIM_ARG_INT:
        msim_text_add(out, "%lld", (long long)a->v.i);
        break;
    case MSIM_ARG_REAL:
        /* Six decimals are all that a trace keeps: 1e-8 reads 0. */
        add_real(out,
                 a->v.f == 0 && msim_schema_is(type, "eps") ? 1e-8 : a->v.f);
        break;
    case MSIM_ARG_BOOL:
        msim_text_add(out, a->v.i ? "True" : "False");
        break;
    case MSIM_ARG_STR:
        msim_text_add(out, "%s",
                      msim_trace_text(b->p->trace, (uint32_t)a->v.i));
        break;
    default:
        msim_text_add(out, "None");
    }
}
