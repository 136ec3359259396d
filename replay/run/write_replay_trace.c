/*
 * replay/run/write_replay_trace.c - a replay as the trace events of PyTorch's
 * profiler.
 *
 * An operator around others spans what ran of them. External ids count in the
 * order of the trace's operators, so that of equal times the outer one comes
 * first, and so that what launched a kernel is known.
 */
#include "replay/run/replay_plan.h"

#include "core/trace/trace_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM 7
#define GAP_US 1.0 /* between iterations */

/* From when to when an operator ran, in one iteration; to < from: not at all.
 */
struct span {
    double from, to;
};

struct writing {
    const struct msim_replay *r;
    const struct msim_trace *t;
    struct msim_json *out;
    struct span *spans; /* of the trace's operators */
    uint64_t id;        /* of the iteration's first operator */
    double begin;       /* of the iteration, us */
    bool on_gpu;
};

/* ---- inputs -------------------------------------------------------------- */

/* As PyTorch's profiler names element types. */
static const char *type_word(enum msim_dtype t)
{
    static const char *const WORDS[] = {
        [MSIM_DT_UNKNOWN] = "",
        [MSIM_DT_F64] = "double",
        [MSIM_DT_F32] = "float",
        [MSIM_DT_F16] = "c10::Half",
        [MSIM_DT_BF16] = "c10::BFloat16",
        [MSIM_DT_F8] = "c10::Float8_e4m3fn",
        [MSIM_DT_I64] = "long int",
        [MSIM_DT_I32] = "int",
        [MSIM_DT_I16] = "short",
        [MSIM_DT_I8] = "signed char",
        [MSIM_DT_U8] = "unsigned char",
        [MSIM_DT_BOOL] = "bool",
        [MSIM_DT_C64] = "c10::complex<float>",
        [MSIM_DT_C128] = "c10::complex<double>",
        [MSIM_DT_F4X2] = "c10::Float4_e2m1fn_x2",
        [MSIM_DT_ODD] = "odd",
    };

    return WORDS[t];
}

static bool has_tensors(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_LIST && a->n > 0 && a[1].kind == MSIM_ARG_TENSOR;
}

static void write_sizes(struct writing *w, const struct msim_arg *a)
{
    msim_json_open(w->out, NULL, '[', false);
    if (a->kind == MSIM_ARG_TENSOR) {
        for (uint32_t i = 0; i < a->n; i++)
            msim_json_integer(w->out, NULL, msim_arg_dims(w->t, a)[i]);
    } else if (has_tensors(a)) {
        const struct msim_arg *item = a + 1;

        for (uint32_t i = 0; i < a->n; i++, item = msim_arg_next(item))
            if (item->kind == MSIM_ARG_TENSOR)
                write_sizes(w, item);
    }
    msim_json_close(w->out);
}

static const char *kind_word(const struct msim_arg *a)
{
    switch (a->kind) {
    case MSIM_ARG_TENSOR:
        return type_word((enum msim_dtype)a->dtype);
    case MSIM_ARG_LIST:
        return has_tensors(a) ? "TensorList" : "ScalarList";
    case MSIM_ARG_NONE:
        return "";
    default:
        return "Scalar";
    }
}

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s", more);
}

/* A number or a word behind what is in `text`. */
static void append_value(const struct writing *w, char *text, size_t size,
                         const struct msim_arg *a)
{
    char number[32];

    switch (a->kind) {
    case MSIM_ARG_INT:
        snprintf(number, sizeof(number), "%lld", (long long)a->v.i);
        append(text, size, number);
        break;
    case MSIM_ARG_REAL:
        snprintf(number, sizeof(number), "%.17g", a->v.f);
        append(text, size, number);
        break;
    case MSIM_ARG_BOOL:
        append(text, size, a->v.i ? "True" : "False");
        break;
    case MSIM_ARG_STR:
        append(text, size, msim_trace_text(w->t, (uint32_t)a->v.i));
        break;
    default:
        break;
    }
}

static void write_value(struct writing *w, const struct msim_arg *a)
{
    char text[4096] = "";

    if (a->kind == MSIM_ARG_LIST && !has_tensors(a)) {
        const struct msim_arg *item = a + 1;

        append(text, sizeof(text), "[");
        for (uint32_t i = 0; i < a->n; i++, item = msim_arg_next(item)) {
            append(text, sizeof(text), i ? ", " : "");
            append_value(w, text, sizeof(text), item);
        }
        append(text, sizeof(text), "]");
    } else {
        append_value(w, text, sizeof(text), a);
    }
    msim_json_text(w->out, NULL, text);
}

static void write_inputs(struct writing *w, uint32_t block)
{
    uint32_t n = msim_args_count(w->t, block);

    msim_json_open(w->out, "Input Dims", '[', false);
    for (uint32_t i = 0; i < n; i++)
        write_sizes(w, msim_args_get(w->t, block, i));
    msim_json_close(w->out);
    msim_json_open(w->out, "Input type", '[', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_text(w->out, NULL, kind_word(msim_args_get(w->t, block, i)));
    msim_json_close(w->out);
    msim_json_open(w->out, "Concrete Inputs", '[', false);
    for (uint32_t i = 0; i < n; i++)
        write_value(w, msim_args_get(w->t, block, i));
    msim_json_close(w->out);
}

/* ---- events -------------------------------------------------------------- */

/* In whole nanoseconds: a rounded sum may not reach over its neighbour. */
static double nanoseconds(double us)
{
    return floor(us * 1e3 + 0.5) / 1e3;
}

static void open_event(struct writing *w, const char *category,
                       const char *name, int64_t process, int64_t thread,
                       struct span s)
{
    double from = nanoseconds(w->begin + s.from);

    msim_json_open(w->out, NULL, '{', false);
    msim_json_text(w->out, "ph", "X");
    msim_json_text(w->out, "cat", category);
    msim_json_text(w->out, "name", name);
    msim_json_integer(w->out, "pid", process);
    msim_json_integer(w->out, "tid", thread);
    msim_json_number(w->out, "ts", from);
    msim_json_number(w->out, "dur",
                     nanoseconds(nanoseconds(w->begin + s.to) - from));
    msim_json_open(w->out, "args", '{', false);
}

static void close_event(struct writing *w)
{
    msim_json_close(w->out);
    msim_json_close(w->out);
}

static int64_t thread_of(const struct writing *w, uint32_t op)
{
    return (int64_t)w->t->ops[op].thread + 1;
}

static void write_op(struct writing *w, uint32_t op)
{
    const struct msim_op *o = &w->t->ops[op];
    bool label = o->kind != MSIM_OP_OPERATOR;

    open_event(w, label ? "user_annotation" : "cpu_op",
               msim_trace_text(w->t, o->name), 1, thread_of(w, op),
               w->spans[op]);
    msim_json_unsigned(w->out, "External id", w->id + op);
    if (o->seq >= 0)
        msim_json_integer(w->out, "Sequence number", o->seq);
    if (!label)
        write_inputs(w, o->args);
    close_event(w);
}

/* A launch and its kernel. */
static void write_kernel(struct writing *w, const struct msim_plan_op *o,
                         uint32_t element,
                         const struct msim_replay_round *round)
{
    struct span s = {round->at_us[element],
                     round->at_us[element] + round->time_us[element]};
    struct span launch = {s.from, s.from};
    uint64_t correlation = w->id + w->t->n_ops + element;

    open_event(w, "cuda_runtime", "cudaLaunchKernel", 1, thread_of(w, o->op),
               launch);
    msim_json_unsigned(w->out, "External id", w->id + o->op);
    msim_json_unsigned(w->out, "correlation", correlation);
    close_event(w);
    open_event(w, "kernel", msim_family_text((enum msim_family)o->family), 0,
               STREAM, s);
    msim_json_unsigned(w->out, "External id", w->id + o->op);
    msim_json_unsigned(w->out, "correlation", correlation);
    msim_json_integer(w->out, "device", 0);
    msim_json_integer(w->out, "stream", STREAM);
    close_event(w);
}

/* ---- iterations ---------------------------------------------------------- */

static bool is_step(const struct msim_trace *t, uint32_t op)
{
    return strncmp(msim_trace_text(t, t->ops[op].name), "ProfilerStep#", 13) ==
           0;
}

/* An operator and those around it span its elements; the step's own mark is
 * written anew. */
static void widen(struct writing *w, uint32_t op, struct span s)
{
    for (; op != MSIM_NONE; op = w->t->ops[op].parent) {
        struct span *outer = &w->spans[op];

        if (w->t->ops[op].kind == MSIM_OP_ROOT || is_step(w->t, op))
            continue;
        outer->from = fmin(outer->from, s.from);
        outer->to = fmax(outer->to, s.to);
    }
}

static void find_spans(struct writing *w, const struct msim_replay_round *round)
{
    const struct msim_replay_plan *p = w->r->plan;

    for (uint32_t i = 0; i < w->t->n_ops; i++)
        w->spans[i] = (struct span){INFINITY, -INFINITY};
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const struct msim_plan_op *o = msim_plan_op(p, i);
        uint32_t last = o->first + o->n - 1;

        if (o->n > 0)
            widen(w, o->op,
                  (struct span){round->at_us[o->first],
                                round->at_us[last] + round->time_us[last]});
    }
}

/* The thread that most of the step's labels are on: the first operator's. */
static void write_mark(struct writing *w, uint32_t number, double us)
{
    const struct msim_replay_plan *p = w->r->plan;
    char name[48];

    snprintf(name, sizeof(name), "ProfilerStep#%u", number);
    open_event(w, "user_annotation", name, 1,
               thread_of(w, msim_plan_op(p, 0)->op), (struct span){0, us});
    msim_json_unsigned(w->out, "External id", w->id - 1);
    close_event(w);
}

static void write_round(struct writing *w, uint32_t number)
{
    const struct msim_replay_round *round = &w->r->runs->rounds[number];
    const struct msim_replay_plan *p = w->r->plan;

    find_spans(w, round);
    write_mark(w, number, round->us);
    for (uint32_t i = 0; i < w->t->n_ops; i++)
        if (w->spans[i].to >= w->spans[i].from)
            write_op(w, i);
    for (uint32_t i = 0; w->on_gpu && i < p->ops.n; i++) {
        const struct msim_plan_op *o = msim_plan_op(p, i);

        for (uint32_t k = 0; k < o->n; k++)
            write_kernel(w, o, o->first + k, round);
    }
    w->begin += round->us + GAP_US;
    w->id += w->t->n_ops + p->order.n + 1;
}

/* As PyTorch's profiler writes the GPU, so that readers find its platform. */
static void write_device(const cJSON *device, struct msim_json *out)
{
    const char *capability = msim_json_get_text(device, "compute_capability");
    char *minor = NULL;
    long major = capability ? strtol(capability, &minor, 10) : 0;

    msim_json_open(out, "deviceProperties", '[', false);
    msim_json_open(out, NULL, '{', false);
    msim_json_integer(out, "id", 0);
    msim_json_text(out, "name", msim_json_get_text(device, "name"));
    msim_json_number(out, "totalGlobalMem",
                     msim_json_get_number(device, "memory_bytes", 0));
    if (major > 0 && *minor == '.') {
        msim_json_integer(out, "computeMajor", major);
        msim_json_integer(out, "computeMinor", strtol(minor + 1, NULL, 10));
    }
    msim_json_number(out, "numSms", msim_json_get_number(device, "sms", 0));
    msim_json_close(out);
    msim_json_close(out);
}

void msim_replay_write_trace(const struct msim_replay *r, struct msim_json *out)
{
    const cJSON *device =
        cJSON_GetObjectItemCaseSensitive(r->greeting, "device");
    const char *kind = msim_json_get_text(device, "kind");
    struct writing w = {.r = r,
                        .t = r->plan->trace,
                        .out = out,
                        .id = 2,
                        .begin = GAP_US,
                        .on_gpu = kind && strcmp(kind, "gpu") == 0};

    w.spans = calloc((size_t)w.t->n_ops + 1, sizeof(*w.spans));
    msim_json_open(out, NULL, '{', true);
    msim_json_integer(out, "schemaVersion", 1);
    msim_json_text(out, "generator", MSIM_REPLAY_SCHEMA);
    if (w.on_gpu)
        write_device(device, out);
    msim_replay_write_system(r, "mystiqueSystem", out);
    msim_json_open(out, "traceEvents", '[', true);
    for (uint32_t i = 0; w.spans && i < r->runs->n; i++)
        write_round(&w, i);
    msim_json_close(out);
    msim_json_close(out);
    if (!w.spans)
        out->status = MSIM_ENOMEM;
    free(w.spans);
}
