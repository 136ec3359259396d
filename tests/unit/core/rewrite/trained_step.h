/*
 * tests/unit/core/rewrite/trained_step.h - a training step of two layers, as an
 * execution trace made here, and what tests ask of its changed ones.
 */
#ifndef MSIM_TESTS_UNIT_CORE_REWRITE_TRAINED_STEP_H
#define MSIM_TESTS_UNIT_CORE_REWRITE_TRAINED_STEP_H
#include "core/lives/lives.h"
#include "core/rewrite/rewrite.h"

#include "tests/unit/loaded.h"

/* Nodes: tensors are STORAGE:SIZES ("20:4x16x64"), fp32 on a GPU.
 * Parameters 1 and 2, input 3 and states 4 to 7 are there before. */
static const struct made_node {
    unsigned id, parent;
    const char *name;
    int scope, seq;
    const char *in, *out;
} MADE_STEP[] = {
    {10, 0, "aten::linear", 0, 1, "3:4000 1:4000", "20:4000"},
    {11, 0, "aten::relu", 0, 2, "20:4000", "21:4000"},
    {12, 0, "aten::linear", 0, 3, "21:4000 2:4000", "22:4000"},
    {13, 0, "aten::relu", 0, 4, "22:4000", "23:4000"},
    {14, 0, "aten::mse_loss", 0, 5, "23:4000", "24:1"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LossBackward", 1, 5, "", ""},
    {22, 21, "aten::mse_loss_backward", 0, -1, "24:1 23:4000", "30:4000"},
    {30, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {31, 30, "ReluBackward", 1, 4, "", ""},
    {32, 31, "aten::threshold_backward", 0, -1, "30:4000 23:4000", "31:4000"},
    {40, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {41, 40, "LinearBackward", 1, 3, "", ""},
    {42, 41, "aten::linear_backward", 0, -1, "31:4000 21:4000 2:4000",
     "32:4000 33:4000"},
    {50, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {51, 50, "torch::autograd::AccumulateGrad", 1, -1, "33:4000", ""},
    {52, 51, "aten::detach", 0, -1, "33:4000", "33:4000"},
    {60, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {61, 60, "ReluBackward", 1, 2, "", ""},
    {62, 61, "aten::threshold_backward", 0, -1, "32:4000 21:4000", "34:4000"},
    {70, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {71, 70, "LinearBackward", 1, 1, "", ""},
    {72, 71, "aten::linear_backward", 0, -1, "34:4000 3:4000 1:4000",
     "35:4000"},
    {80, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {81, 80, "torch::autograd::AccumulateGrad", 1, -1, "35:4000", ""},
    {82, 81, "aten::detach", 0, -1, "35:4000", "35:4000"},
    {90, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {91, 90, "aten::addcdiv_", 0, -1, "1:4000 35:4000 4:4000 5:4000", ""},
    {92, 90, "aten::addcdiv_", 0, -1, "2:4000 33:4000 6:4000 7:4000", ""},
};
#define N_MADE (sizeof(MADE_STEP) / sizeof(*MADE_STEP))

/* The type of the list that begins at `at`: as many tensors as it has. */
static inline void spell_list_type(struct spelled *s, const char *at,
                                   const char *between)
{
    spell(s, "%s\"GenericList[", between);
    for (const char *sep = ""; *at != ']'; at++)
        if (*at == ':') {
            spell(s, "%sTensor(float)", sep);
            sep = ",";
        }
    spell(s, "]\"");
}

/* One part of one side of a node; brackets are lists, "7+20:5" is behind 20 of
 * storage 7, and "#3" is a number. */
static inline void spell_part(struct spelled *s, int part, const char *tensors)
{
    const char *between = "";

    for (const char *at = tensors; *at;) {
        char *end, sizes[64] = "";
        unsigned long storage, offset = 0, elems = 1;

        if (*at == '[' || *at == ']' || *at == ' ') {
            if (part == 2 && *at == '[')
                spell_list_type(s, at, between);
            else if (part < 2 && *at != ' ')
                spell(s, "%s%c", *at == '[' ? between : "", *at);
            between = *at == '[' ? "" : *at == ']' ? "," : between;
            if (part == 2 && *at == '[') {
                at = strchr(at, ']');
                between = ",";
            }
            at++;
            continue;
        }
        if (*at == '#') {
            spell(s, "%s", between);
            spell(s,
                  part == 2 ? "\"Int\""
                  : part    ? "[]"
                            : "%ld",
                  strtol(at + 1, &end, 10));
            between = ",";
            at = end;
            continue;
        }
        storage = strtoul(at, &end, 10);
        if (*end == '+')
            offset = strtoul(end + 1, &end, 10);
        do { /* a size, and behind an x the next */
            size_t used = strlen(sizes);
            unsigned long size = strtoul(end + 1, &end, 10);

            snprintf(sizes + used, sizeof(sizes) - used, "%s%lu",
                     used ? "," : "", size);
            elems *= size;
        } while (*end == 'x');
        spell(s, "%s", between);
        if (part == 0)
            spell(s, "[%lu,%lu,%lu,%lu,4,\"cuda:0\"]",
                  100000 + storage + 1000 * offset, storage, offset, elems);
        else if (part == 1)
            spell(s, "[%s]", sizes);
        else
            spell(s, "\"Tensor(float)\"");
        between = ",";
        at = end;
    }
}

static inline void spell_side(struct spelled *s, const char *name,
                              const char *tensors)
{
    static const char *const parts[] = {"values", "shapes", "types"};

    spell(s, ",\"%s\":{", name);
    for (int part = 0; part < 3; part++) {
        spell(s, "%s\"%s\":[", part ? "," : "", parts[part]);
        spell_part(s, part, tensors);
        spell(s, "]");
    }
    spell(s, "}");
}

/* The job of `n` nodes. */
static inline struct msim_job *made_nodes(const struct made_node *nodes,
                                          size_t n)
{
    static char text[131072];
    size_t len = (size_t)snprintf(text, sizeof(text),
                                  "{\"schema\":\"1.1.1\",\"nodes\":[");
    struct msim_error err;

    for (size_t i = 0; i < n; i++) {
        const struct made_node *m = &nodes[i];
        struct spelled in = {"", 0}, out = {"", 0};

        spell_side(&in, "inputs", m->in);
        spell_side(&out, "outputs", m->out);
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "%s{\"id\":%u,\"name\":\"%s\",\"ctrl_deps\":%u%s%s,\"attrs\":["
            "{\"name\":\"tid\",\"value\":1},{\"name\":\"scope\",\"value\":%d},"
            "{\"name\":\"seq_id\",\"value\":%d}]}",
            i ? "," : "", m->id, m->name, m->parent, in.text, out.text,
            m->scope, m->seq);
    }
    snprintf(text + len, sizeof(text) - len, "]}");
    return load_text(text, false, &err);
}

/* The first `n` nodes of the step. */
static inline struct msim_job *made_step(size_t n)
{
    return made_nodes(MADE_STEP, n);
}

static inline uint32_t count_ops(const struct msim_trace *t, const char *name)
{
    uint32_t n = 0;

    while (find_op(t, name, n) != MSIM_NONE)
        n++;
    return n;
}

/* A changed trace, and its lives. */
struct made_changed {
    struct msim_job *job;
    struct msim_trace *t;
    struct msim_lives lives;
};

static inline bool change_nodes(struct made_changed *m,
                                const struct made_node *nodes, size_t n,
                                const struct msim_rewrite *r)
{
    struct msim_error err = {0};

    *m = (struct made_changed){.job = made_nodes(nodes, n)};
    if (!CHECK(m->job != NULL))
        return false;
    CHECK_INT(
        msim_rewritten_new(&m->t, m->job->ranks[0], m->job->strings, r, &err),
        MSIM_OK);
    CHECK_STR(err.text, "");
    return m->t && CHECK(msim_lives_find(&m->lives, m->t) == MSIM_OK);
}

static inline bool change_step(struct made_changed *m,
                               const struct msim_rewrite *r)
{
    return change_nodes(m, MADE_STEP, N_MADE, r);
}

static inline void done_step(struct made_changed *m)
{
    msim_lives_release(&m->lives);
    msim_trace_free(m->t);
    msim_job_free(m->job);
}

/* The life of the k-th input (output) of the n-th operator `name`. */
static inline uint32_t life_in(const struct made_changed *m, const char *name,
                               uint32_t n, uint32_t k)
{
    uint32_t op = find_op(m->t, name, n);

    return op == MSIM_NONE ? MSIM_NONE : m->lives.of[m->t->ops[op].ids + k];
}

static inline uint32_t life_out(const struct made_changed *m, const char *name,
                                uint32_t n, uint32_t k)
{
    uint32_t op = find_op(m->t, name, n);

    return op == MSIM_NONE ? MSIM_NONE : m->lives.of[m->t->ops[op].out_ids + k];
}

#endif
