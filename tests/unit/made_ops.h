/*
 * tests/unit/made_ops.h - traces made by hand, from text.
 *
 *     build_op(&b, 1, "aten::mm", "f16[8,4] f16[4,2]", "f16[8,2]");
 *
 * adds an operator at depth 1 (below the last one at depth 0). Arguments are
 * tensors (dtype[sizes], on the GPU; with '@' behind them on the CPU, with
 * '?' on an unknown device), integers, reals, true, false, none, and lists
 * of them in parentheses.
 */
#ifndef MSIM_TESTS_UNIT_MADE_OPS_H
#define MSIM_TESTS_UNIT_MADE_OPS_H
#include "core/trace/trace.h"
#include "tests/check.h"

#include <stdlib.h>

#define BUILD_MAX 256

struct build {
    struct msim_trace t;
    struct msim_strtab *strings;
    struct msim_op ops[BUILD_MAX];
    struct msim_arg_block blocks[2 * BUILD_MAX];
    struct msim_arg args[8 * BUILD_MAX];
    int64_t dims[16 * BUILD_MAX];
    struct msim_call calls[BUILD_MAX];
    struct msim_gpu gpu[BUILD_MAX];
    struct msim_launch_config configs[BUILD_MAX];
    struct msim_thread threads[1];
    struct msim_comm comms[BUILD_MAX];
    struct msim_group groups[1];
    uint32_t open[BUILD_MAX]; /* last op of each depth */
};

static inline void build_init(struct build *b)
{
    memset(b, 0, sizeof(*b));
    if (msim_strtab_new(&b->strings) != MSIM_OK)
        abort();
    b->t.strings = b->strings;
    b->t.ops = b->ops;
    b->t.blocks = b->blocks;
    b->t.args = b->args;
    b->t.dims = b->dims;
    b->t.calls = b->calls;
    b->t.gpu = b->gpu;
    b->t.configs = b->configs;
    b->t.threads = b->threads;
    b->t.n_threads = 1;
    b->t.comms = b->comms;
    b->t.groups = b->groups;
    b->t.has_et = true;
}

static inline void build_release(struct build *b)
{
    msim_strtab_free(b->strings);
}

static inline uint32_t build_text(struct build *b, const char *s)
{
    uint32_t id;

    if (msim_strtab_add(b->strings, s, strlen(s), &id) != MSIM_OK)
        abort();
    return id;
}

static inline uint8_t build_dtype(const char *s, size_t len)
{
    static const struct {
        const char *text;
        uint8_t dtype;
    } known[] = {{"f64", MSIM_DT_F64},   {"f32", MSIM_DT_F32},
                 {"f16", MSIM_DT_F16},   {"bf16", MSIM_DT_BF16},
                 {"i64", MSIM_DT_I64},   {"i32", MSIM_DT_I32},
                 {"bool", MSIM_DT_BOOL}, {"any", MSIM_DT_UNKNOWN},
                 {"i8", MSIM_DT_I8},     {"u8", MSIM_DT_U8},
                 {"f8", MSIM_DT_F8},     {"f4x2", MSIM_DT_F4X2},
                 {"c64", MSIM_DT_C64},   {"c128", MSIM_DT_C128}};

    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (strlen(known[k].text) == len && !memcmp(s, known[k].text, len))
            return known[k].dtype;
    abort();
}

static inline const char *build_tensor(struct build *b, const char *s,
                                       struct msim_arg *a)
{
    const char *open = strchr(s, '[');
    char *end;

    a->kind = MSIM_ARG_TENSOR;
    a->dtype = build_dtype(s, (size_t)(open - s));
    a->device = MSIM_DEV_GPU;
    a->v.i = b->t.n_dims;
    for (s = open + 1; *s != ']'; s += *s == ',') {
        b->dims[b->t.n_dims++] = strtoll(s, &end, 10);
        s = end;
        a->n++;
    }
    s++;
    if (*s == '@' || *s == '?')
        a->device = *s++ == '@' ? MSIM_DEV_CPU : MSIM_DEV_UNKNOWN;
    return s;
}

static inline const char *build_scalar(const char *s, struct msim_arg *a)
{
    char *end;

    if (!strncmp(s, "none", 4))
        return s + 4;
    if (!strncmp(s, "true", 4) || !strncmp(s, "false", 5)) {
        a->kind = MSIM_ARG_BOOL;
        a->v.i = *s == 't';
        return s + (*s == 't' ? 4 : 5);
    }
    a->kind = MSIM_ARG_INT;
    a->v.i = strtoll(s, &end, 10);
    if (*end == '.') {
        a->kind = MSIM_ARG_REAL;
        a->v.f = strtod(s, &end);
    }
    return end;
}

/* One block of arguments; lists do not nest here. */
static inline uint32_t build_block(struct build *b, const char *s)
{
    struct msim_arg_block *block = &b->blocks[b->t.n_blocks];
    struct msim_arg *list = NULL;

    block->first = b->t.n_args;
    for (; *s; s += *s == ' ') {
        struct msim_arg *a = &b->args[b->t.n_args];

        if (*s == ')') {
            list = NULL;
            s++;
            continue;
        }
        b->t.n_args++;
        if (*s == '(') {
            a->kind = MSIM_ARG_LIST;
            list = a;
            s++;
            continue;
        }
        if (list) {
            list->n++;
            list->v.i++;
        }
        s = strchr("fibcua", *s) && strchr(s, '[') && strncmp(s, "false", 5)
                ? build_tensor(b, s, a)
                : build_scalar(s, a);
    }
    block->count = b->t.n_args - block->first;
    return b->t.n_blocks++;
}

static inline uint32_t build_op(struct build *b, uint32_t depth,
                                const char *name, const char *args,
                                const char *outs)
{
    uint32_t i = b->t.n_ops++;
    struct msim_op *op = &b->ops[i];

    memset(op, 0, sizeof(*op));
    op->start = 1000 * (msim_ps)i;
    op->dur = 999;
    op->name = build_text(b, name);
    op->parent = depth ? b->open[depth - 1] : MSIM_NONE;
    op->args = build_block(b, args);
    op->outs = outs ? build_block(b, outs) : MSIM_NONE;
    op->ids = op->out_ids = op->comm = op->fw_thread = MSIM_NONE;
    op->seq = -1;
    op->end = i + 1;
    b->open[depth] = i;
    for (uint32_t p = op->parent; p != MSIM_NONE; p = b->ops[p].parent)
        b->ops[p].end = i + 1;
    b->threads[0].op_end = b->t.n_ops;
    return i;
}

/* A kernel that op `i` launched, of `grid` x `block` threads. */
static inline struct msim_gpu *build_kernel(struct build *b, uint32_t i,
                                            const char *name, uint32_t grid,
                                            uint32_t block)
{
    uint32_t k = b->t.n_gpu++;

    b->calls[k] = (struct msim_call){.start = b->ops[i].start + 1,
                                     .op = i,
                                     .gpu = k,
                                     .kind = MSIM_CALL_LAUNCH};
    b->t.n_calls = b->threads[0].call_end = k + 1;
    b->configs[k] = (struct msim_launch_config){.grid = {grid, 1, 1},
                                                .block = {block, 1, 1}};
    b->t.n_configs = k + 1;
    b->gpu[k] = (struct msim_gpu){.name = build_text(b, name),
                                  .call = k,
                                  .op = i,
                                  .comm = MSIM_NONE,
                                  .config = k,
                                  .kind = MSIM_GPU_KERNEL};
    return &b->gpu[k];
}

#endif
