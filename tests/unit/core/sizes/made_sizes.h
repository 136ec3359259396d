/*
 * tests/unit/core/sizes/made_sizes.h - one call of an operator, and in letters
 * what it says of sizes.
 *
 *     made_call(&m, "aten::mm", "f32[2,3] f32[3,4]", "f32[2,4]");
 *
 * Every size but 1 is a class of its own then. made_told() writes a letter for
 * each, of tensors that go in and then of those that come out, the same one for
 * what is united, "-" for a tensor without an id ('@' behind it), and then the
 * ties: "ab=c", "a=b+c+2", "a>b" for a part, "a~bc" for what is rounded.
 * Numbers stand for sizes that no tensor has.
 */
#ifndef MSIM_TESTS_UNIT_CORE_SIZES_MADE_SIZES_H
#define MSIM_TESTS_UNIT_CORE_SIZES_MADE_SIZES_H
#include "core/sizes/sizes_internal.h"
#include "tests/unit/made_ops.h"

#include <stdarg.h>

#define MADE_TENSORS 16

struct made_sizes {
    struct build b;
    struct msim_sizes s;
    struct msim_size_learning l;
    struct msim_size_tensor tensors[MADE_TENSORS];
    struct msim_size_call call;
    uint32_t letters[64], n_letters; /* their classes */
    char text[512];
};

/* Tensors of a block, each with places of its own. */
static inline uint32_t made_tensors(struct made_sizes *m, uint32_t block,
                                    struct msim_size_tensor *to)
{
    const struct msim_arg *args = m->b.args + m->b.blocks[block].first;
    uint32_t n = 0, top = 0, left = 0, of = 0;

    for (uint32_t i = 0; i < m->b.blocks[block].count; i++) {
        const struct msim_arg *a = &args[i];
        bool listed = left > 0;

        if (a->kind == MSIM_ARG_TENSOR) {
            struct msim_size_tensor *x = &to[n++];

            *x = (struct msim_size_tensor){
                &m->b.dims[a->v.i], a->n, MSIM_NONE,
                MSIM_NONE,          top,  listed ? of - left : MSIM_NONE};
            for (uint32_t k = 0; k < a->n && a->device != MSIM_DEV_CPU; k++) {
                uint32_t place;

                if (msim_size_add_place(&m->l, x->dims[k], &place) != MSIM_OK)
                    abort();
                x->at = k ? x->at : place;
            }
            if (!a->n && a->device != MSIM_DEV_CPU)
                x->at = m->s.n_places;
        }
        if (a->kind == MSIM_ARG_LIST)
            left = of = a->n;
        else if (listed)
            left--;
        if (!left)
            top++;
    }
    return n;
}

static inline void made_call(struct made_sizes *m, const char *name,
                             const char *args, const char *outs)
{
    const struct msim_op *op;
    uint32_t i;

    memset(m, 0, sizeof(*m));
    build_init(&m->b);
    m->s.t = &m->b.t;
    m->l.s = &m->s;
    i = build_op(&m->b, 0, name, args, outs);
    op = &m->b.ops[i];
    m->call = (struct msim_size_call){
        .t = &m->b.t, .op = op, .name = name, .in = m->tensors};
    m->call.n_in = made_tensors(m, op->args, m->tensors);
    m->call.out = m->tensors + m->call.n_in;
    m->call.n_out = made_tensors(m, op->outs, m->tensors + m->call.n_in);
}

static inline void made_free(struct made_sizes *m)
{
    free(m->s.places);
    free(m->s.classes);
    free(m->s.ties);
    free(m->s.terms);
    free(m->l.parent);
    build_release(&m->b);
}

static inline void made_say(struct made_sizes *m, const char *format, ...)
{
    size_t used = strlen(m->text);
    va_list args;

    va_start(args, format);
    vsnprintf(m->text + used, sizeof(m->text) - used, format, args);
    va_end(args);
}

static inline void made_class(struct made_sizes *m, uint32_t c, bool known)
{
    uint32_t i = 0;

    if (c == MSIM_NONE) {
        made_say(m, "1");
        return;
    }
    c = msim_size_united(&m->l, c);
    while (i < m->n_letters && m->letters[i] != c)
        i++;
    if (i == m->n_letters && known)
        made_say(m, "%lld", (long long)m->s.classes[c].size);
    else if (i == m->n_letters)
        m->letters[m->n_letters++] = c;
    if (i < m->n_letters)
        made_say(m, "%c", 'a' + (int)i);
}

static inline void made_tie(struct made_sizes *m,
                            const struct msim_size_tie *tie)
{
    const uint32_t *terms = m->s.terms + tie->first;
    bool part = tie->share && tie->n_left == 1 && tie->n_right == 1;

    made_say(m, " ");
    for (uint32_t i = 0; i < tie->n_left + tie->n_right; i++) {
        if (i == tie->n_left)
            made_say(m, part ? ">" : tie->share ? "~" : "=");
        else if (i > tie->n_left && tie->sum)
            made_say(m, "+");
        made_class(m, terms[i], true);
    }
    if (tie->sum && tie->rest)
        made_say(m, "+%lld", (long long)tie->rest);
    if (tie->flat)
        made_say(m, "!");
}

static inline const char *made_told(struct made_sizes *m)
{
    m->text[0] = '\0';
    m->n_letters = 0;
    for (uint32_t i = 0; i < m->call.n_in + m->call.n_out; i++) {
        const struct msim_size_tensor *x = &m->tensors[i];

        made_say(m, "%s", i == m->call.n_in ? "->" : i ? "," : "");
        if (x->at == MSIM_NONE)
            made_say(m, "-");
        for (uint32_t k = 0; k < x->n && x->at != MSIM_NONE; k++)
            made_class(m, m->s.places[x->at + k], false);
    }
    for (uint32_t i = 0; i < m->s.n_ties; i++)
        made_tie(m, &m->s.ties[i]);
    return m->text;
}

#endif
