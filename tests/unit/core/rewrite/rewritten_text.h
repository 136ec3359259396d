/*
 * tests/unit/core/rewrite/rewritten_text.h - a changed step as text, so that
 * nothing of it changes unseen.
 *
 *     :L { LinearBackward { linear_backward c4x2 a2x2 > d4x2 } }
 *
 * is one statement: what an operator is given and gives, and those below it.
 * Pieces of memory are letters, a to z, A to Z, in the order in which they are
 * met, with the sizes that are looked at; "b" behind is bf16, "h" fp16, "8"
 * fp8, "i" int8, "@" offloaded. A collective has its kind, number and elements
 * in [].
 */
#ifndef MSIM_TESTS_UNIT_CORE_REWRITE_REWRITTEN_TEXT_H
#define MSIM_TESTS_UNIT_CORE_REWRITE_REWRITTEN_TEXT_H
#include "tests/unit/core/rewrite/trained_step.h"

struct rewritten {
    const struct made_changed *m;
    uint32_t letters[128], n; /* lives that were met */
    FILE *out;
};

static inline char rewritten_letter(struct rewritten *w, uint32_t life)
{
    static const char LETTERS[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint32_t i = 0;

    if (life == MSIM_NONE)
        return '-';
    while (i < w->n && w->letters[i] != life)
        i++;
    if (i == w->n && w->n < 128)
        w->letters[w->n++] = life;
    return i < sizeof(LETTERS) - 1 ? LETTERS[i] : '?';
}

static inline const char *rewritten_type(uint8_t dtype)
{
    switch (dtype) {
    case MSIM_DT_F32:
        return "";
    case MSIM_DT_BF16:
        return "b";
    case MSIM_DT_F16:
        return "h";
    case MSIM_DT_F8:
        return "8";
    case MSIM_DT_I8:
    case MSIM_DT_U8:
        return "i";
    default:
        return "?";
    }
}

static inline void rewritten_tensor(struct rewritten *w,
                                    const struct msim_arg *a, uint32_t id)
{
    const int64_t *dims = msim_arg_dims(w->m->t, a);
    uint32_t life = id == MSIM_NONE ? MSIM_NONE : w->m->lives.of[id];

    fprintf(w->out, " %c", rewritten_letter(w, life));
    for (uint32_t i = 0; i < a->n; i++)
        fprintf(w->out, "%s%lld", i ? "x" : "", (long long)dims[i]);
    fprintf(w->out, "%s%s", rewritten_type(a->dtype),
            a->device == MSIM_DEV_HOST ? "@" : "");
}

/* One side of an operator; "(2" begins a list of two. */
static inline void rewritten_args(struct rewritten *w, uint32_t block,
                                  uint32_t id)
{
    const struct msim_trace *t = w->m->t;

    for (uint32_t i = 0; block != MSIM_NONE && i < t->blocks[block].count;
         i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        switch (a->kind) {
        case MSIM_ARG_TENSOR:
            rewritten_tensor(w, a, id);
            id += id != MSIM_NONE;
            break;
        case MSIM_ARG_LIST:
            fprintf(w->out, " (%u", a->n);
            break;
        case MSIM_ARG_INT:
            fprintf(w->out, " =%lld", (long long)a->v.i);
            break;
        case MSIM_ARG_REAL:
            fprintf(w->out, " =%g", a->v.f);
            break;
        default:
            fputs(" -", w->out);
        }
    }
}

static inline void rewritten_comms(struct rewritten *w, uint32_t op)
{
    const struct msim_trace *t = w->m->t;

    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].op == op)
            fprintf(w->out, " [%d #%lld %llu %llu]", t->comms[i].collective,
                    (long long)t->comms[i].sequence,
                    (unsigned long long)t->comms[i].in_elems,
                    (unsigned long long)t->comms[i].out_elems);
}

static inline void rewritten_name(struct rewritten *w, uint32_t op)
{
    static const char *const begins[] = {
        "torch::autograd::", "aten::", "FullyShardedDataParallel.",
        "FlatParamHandle."};
    static const char engine[] = "autograd::engine::evaluate_function: ";
    const char *name = msim_trace_text(w->m->t, w->m->t->ops[op].name);

    if (!strncmp(name, engine, strlen(engine))) {
        name += strlen(engine);
        fputc(':', w->out);
    }
    for (int i = 0; i < 4; i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            name += strlen(begins[i]);
    fputs(name, w->out);
}

/* Operator `op` and all below it; behind the last of them. */
static inline uint32_t rewritten_op(struct rewritten *w, uint32_t op)
{
    const struct msim_trace *t = w->m->t;
    uint32_t next = op + 1, end = t->ops[op].end;

    rewritten_name(w, op);
    rewritten_args(w, t->ops[op].args, t->ops[op].ids);
    if (t->ops[op].outs != MSIM_NONE)
        fputs(" >", w->out);
    rewritten_args(w, t->ops[op].outs, t->ops[op].out_ids);
    rewritten_comms(w, op);
    if (next < end)
        fputs(" {", w->out);
    while (next < end) {
        fputc(' ', w->out);
        next = rewritten_op(w, next);
    }
    fputs(end > op + 1 ? " }" : "", w->out);
    return end;
}

/* One line a statement; the caller frees it. */
static inline char *rewritten_text(const struct made_changed *m)
{
    struct rewritten w = {.m = m};
    char *text = NULL;
    size_t size = 0;

    w.out = open_memstream(&text, &size);
    if (!CHECK(w.out != NULL))
        return NULL;
    for (uint32_t i = 0; i < m->t->n_ops;) {
        i = rewritten_op(&w, i);
        fputc('\n', w.out);
    }
    fclose(w.out);
    return text;
}

/* Two layers of odd sizes, the second without a power of two in it; products
 * stand below their operators, and the optimizer has one list of both. */
static const struct made_node REWRITTEN[] = {
    {10, 0, "aten::linear", 0, 1, "3:32x64 1:96x64", "20:32x96"},
    {11, 10, "aten::mm", 0, -1, "3:32x64 1:64x96", "20:32x96"},
    {12, 0, "aten::relu", 0, 2, "20:32x96", "21:32x96"},
    {13, 0, "aten::linear", 0, 3, "21:32x96 2:45x96", "22:32x45"},
    {14, 13, "aten::mm", 0, -1, "21:32x96 2:96x45", "22:32x45"},
    {15, 0, "aten::relu", 0, 4, "22:32x45", "23:32x45"},
    {16, 0, "aten::mse_loss", 0, 5, "23:32x45", "25:1"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LossBackward", 1, 5, "", ""},
    {22, 21, "aten::mse_loss_backward", 0, -1, "25:1 23:32x45", "29:32x45"},
    {25, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {26, 25, "ReluBackward", 1, 4, "", ""},
    {27, 26, "aten::threshold_backward", 0, -1, "29:32x45 23:32x45",
     "30:32x45"},
    {30, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {31, 30, "MmBackward0", 1, 3, "", ""},
    {32, 31, "aten::mm", 0, -1, "30:32x45 2:45x96", "31:32x96"},
    {33, 31, "aten::mm", 0, -1, "30:45x32 21:32x96", "32:45x96"},
    {40, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {41, 40, "torch::autograd::AccumulateGrad", 1, -1, "32:45x96", ""},
    {42, 41, "aten::detach", 0, -1, "32:45x96", "32:45x96"},
    {50, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {51, 50, "ReluBackward", 1, 2, "", ""},
    {52, 51, "aten::threshold_backward", 0, -1, "31:32x96 21:32x96",
     "33:32x96"},
    {60, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {61, 60, "MmBackward0", 1, 1, "", ""},
    {62, 61, "aten::mm", 0, -1, "33:96x32 3:32x64", "34:96x64"},
    {70, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {71, 70, "torch::autograd::AccumulateGrad", 1, -1, "34:96x64", ""},
    {72, 71, "aten::detach", 0, -1, "34:96x64", "34:96x64"},
    {80, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {81, 80, "aten::_foreach_addcdiv_", 0, -1,
     "[1:96x64 2:45x96] [34:96x64 32:45x96] [4:96x64 5:45x96]", ""},
};

/* That step, changed so. */
static inline void check_rewritten(struct msim_rewrite r, const char *want)
{
    struct made_changed m;
    char *text;

    if (!change_nodes(&m, REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN),
                      &r))
        return;
    text = rewritten_text(&m);
    CHECK_STR(text, want);
    free(text);
    done_step(&m);
}

/* What most texts begin with: forward, and the gradient of the loss. */
#define FORWARD_AND_LOSS                                                       \
    "linear a32x64 b96x64 > c32x96 { mm a32x64 b64x96 > c32x96 }\n"            \
    "relu c32x96 > d32x96\n"                                                   \
    "linear d32x96 e45x96 > f32x45 { mm d32x96 e96x45 > f32x45 }\n"            \
    "relu f32x45 > g32x45\n"                                                   \
    "mse_loss g32x45 > h1\n"                                                   \
    ":L > { LossBackward > { mse_loss_backward h1 g32x45 > i32x45 "            \
    "} }\n"

/* Both of two micro batches. */
#define TWO_BATCHES                                                            \
    FORWARD_AND_LOSS                                                           \
    ":R > { ReluBackward > { threshold_backward i32x45 g32x45 > "              \
    "j32x45 } }\n"                                                             \
    ":M > { MmBackward0 > { mm j32x45 e45x96 > k32x96 mm j45x32 "              \
    "d32x96 > l45x96 } }\n"                                                    \
    ":A > { AccumulateGrad l45x96 > { detach l45x96 > l45x96 } }\n"            \
    ":R > { ReluBackward > { threshold_backward k32x96 d32x96 > "              \
    "m32x96 } }\n"                                                             \
    ":M > { MmBackward0 > { mm m96x32 a32x64 > n96x64 } }\n"                   \
    ":A > { AccumulateGrad n96x64 > { detach n96x64 > n96x64 } }\n"            \
    "linear a32x64 b96x64 > o32x96 { mm a32x64 b64x96 > o32x96 }\n"            \
    "relu o32x96 > p32x96\n"                                                   \
    "linear p32x96 e45x96 > q32x45 { mm p32x96 e96x45 > q32x45 }\n"            \
    "relu q32x45 > r32x45\n"                                                   \
    "mse_loss r32x45 > s1\n"                                                   \
    ":L > { LossBackward > { mse_loss_backward s1 r32x45 > t32x45 "            \
    "} }\n"                                                                    \
    ":R > { ReluBackward > { threshold_backward t32x45 r32x45 > "              \
    "u32x45 } }\n"                                                             \
    ":M > { MmBackward0 > { mm u32x45 e45x96 > v32x96 mm u45x32 "              \
    "p32x96 > w45x96 } }\n"                                                    \
    ":A > { AccumulateGrad w45x96 > { add_ l45x96 w45x96 > l45x96 "

/* The first micro batch of a rank that holds a share of the model. */
#define FSDP_BATCH                                                             \
    "_pre_forward\n"                                                           \
    "_use_unsharded_views\n"                                                   \
    "view a878 > a878\n"                                                       \
    "empty > b6144\n"                                                          \
    "c10d::_allgather_base_ a878 b6144 [3 #1 878 6144]\n"                      \
    "record_param_comms [12 #1 0 0]\n"                                         \
    "view c618 > c618\n"                                                       \
    "empty > d4320\n"                                                          \
    "c10d::_allgather_base_ c618 d4320 [3 #2 618 4320]\n"                      \
    "linear e32x64 b96x64 > f32x96 { mm e32x64 b64x96 > f32x96 }\n"            \
    "_post_forward\n"                                                          \
    "relu f32x96 > g32x96\n"                                                   \
    "_pre_forward\n"                                                           \
    "_use_unsharded_views\n"                                                   \
    "record_param_comms [12 #2 0 0]\n"                                         \
    "linear g32x96 d45x96 > h32x45 { mm g32x96 d96x45 > h32x45 }\n"            \
    "_post_forward\n"                                                          \
    "relu h32x45 > i32x45\n"                                                   \
    "mse_loss i32x45 > j1\n"                                                   \
    ":L > { LossBackward > { mse_loss_backward j1 i32x45 > k32x45 "            \
    "} }\n"                                                                    \
    "_pre_backward_hook\n"                                                     \
    "view c618 > c618\n"                                                       \
    "empty > l4320\n"                                                          \
    "c10d::_allgather_base_ c618 l4320 [3 #3 618 4320]\n"                      \
    "record_param_comms [12 #3 0 0]\n"                                         \
    "view a878 > a878\n"                                                       \
    "empty > m6144\n"                                                          \
    "c10d::_allgather_base_ a878 m6144 [3 #4 878 6144]\n"                      \
    ":R > { ReluBackward > { threshold_backward k32x45 i32x45 > "              \
    "n32x45 } }\n"                                                             \
    ":M > { MmBackward0 > { mm n32x45 l45x96 > o32x96 mm n45x32 "              \
    "g32x96 > p45x96 } }\n"                                                    \
    "_post_backward_hook\n"                                                    \
    "_use_sharded_views\n"                                                     \
    ":SplitWithSizesBackward0 { cat p45x96 > q4320 }\n"                        \
    ":AccumulateGrad { div_ q4320 > q4320 empty > r618 "                       \
    "c10d::_reduce_scatter_base_ q4320 r618 [8 #5 4320 618] "                  \
    "AccumulateGrad r618 > r618 }\n"                                           \
    "_pre_backward_hook\n"                                                     \
    "record_param_comms [12 #4 0 0]\n"                                         \
    ":R > { ReluBackward > { threshold_backward o32x96 g32x96 > "              \
    "s32x96 } }\n"                                                             \
    ":M > { MmBackward0 > { mm s96x32 e32x64 > t96x64 } }\n"                   \
    "_post_backward_hook\n"                                                    \
    "_use_sharded_views\n"                                                     \
    ":SplitWithSizesBackward0 { cat t96x64 > u6144 }\n"                        \
    ":AccumulateGrad { div_ u6144 > u6144 empty > v878 "                       \
    "c10d::_reduce_scatter_base_ u6144 v878 [8 #6 6144 878] "                  \
    "AccumulateGrad v878 > v878 }\n"                                           \
    "record_param_comms [12 #6 0 0]\n"

#endif
