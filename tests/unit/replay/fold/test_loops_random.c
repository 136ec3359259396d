/*
 * tests/unit/replay/fold/test_loops_random.c - loops of random programs: what
 * they say of each operand is what it is, and by a second, slow search no other
 * loop would have saved more.
 */
#include "replay/fold/loops.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 64 /* statements, each of which has one result */

struct made {
    struct msim_op op;
    struct msim_trace t;
    struct msim_statement statements[MOST];
    struct msim_program_value values[MOST];
    struct msim_program_input operands[3 * MOST];
    struct msim_program p;
    uint64_t random;
};

static uint32_t below(struct made *m, uint32_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->random >> 33) % n;
}

static void begin(struct made *m, uint64_t seed)
{
    *m = (struct made){.op = {.args = MSIM_NONE}, .random = seed};
    m->t.ops = &m->op;
    m->p.trace = &m->t;
    m->p.statements.data = m->statements;
    m->p.values.data = m->values;
    m->p.operands.data = m->operands;
}

static void add(struct made *m, uint32_t schema)
{
    uint32_t i = m->p.statements.n++;

    m->statements[i] = (struct msim_statement){.schema = schema,
                                               .first_in = m->p.operands.n,
                                               .first_out = i,
                                               .n_out = 1,
                                               .comm = MSIM_NONE};
    m->values[i] = (struct msim_program_value){.statement = i};
    m->p.values.n = i + 1;
}

static void add_operand(struct made *m, uint8_t kind, uint32_t index)
{
    m->operands[m->p.operands.n++] = (struct msim_program_input){kind, index};
    m->statements[m->p.statements.n - 1].n_in++;
}

/* A part of 1 to 3 statements again and again, the operands of which are of a
 * sort each; now and then one is another. */
static void add_part(struct made *m)
{
    uint32_t period = 1 + below(m, 3), runs = 1 + below(m, 6);
    uint32_t first = m->p.statements.n, sorts[3][2], from[3][2];

    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 2; k++) {
            sorts[j][k] = below(m, 7);
            from[j][k] = below(m, first + 3);
        }
    for (uint32_t r = 0; r < runs && m->p.statements.n + 3 < MOST; r++)
        for (uint32_t j = 0; j < period; j++) {
            uint32_t i = m->p.statements.n;

            add(m, j);
            for (int k = 0; k < 2; k++) {
                uint32_t sort = below(m, 24) ? sorts[j][k] : below(m, 7);
                uint32_t back = i > period ? i - period : 0;

                if (sort == 0)
                    add_operand(m, MSIM_INPUT_OUTSIDE, from[j][k]);
                else if (sort == 1)
                    add_operand(m, MSIM_INPUT_OUTSIDE, from[j][k] + 2 * r);
                else if (sort == 2)
                    add_operand(m, MSIM_INPUT_NUMBER, below(m, 2));
                else if (sort == 3 || i == 0)
                    add_operand(m, MSIM_INPUT_GRADIENT, below(m, 3));
                else if (sort == 4)
                    add_operand(m, MSIM_INPUT_VALUE, i - 1);
                else if (sort == 5)
                    add_operand(m, MSIM_INPUT_VALUE, back);
                else
                    add_operand(m, MSIM_INPUT_VALUE,
                                (from[j][k] + r) % (first ? first : 1));
            }
        }
}

/* ---- what operands are --------------------------------------------------- */

static struct msim_program_input operand(const struct msim_program *p,
                                         const struct msim_loop *l, uint32_t r,
                                         uint32_t j, uint32_t k)
{
    const struct msim_statement *s =
        msim_program_statement(p, l->first + r * l->period + j);

    return *msim_program_operand(p, s->first_in + k);
}

/* Is operand `o` of run `r` what the reference says? */
static bool is_so(const struct msim_loops *f, const struct msim_loop *l,
                  struct msim_loop_ref ref, struct msim_program_input o,
                  uint32_t r)
{
    uint32_t run = (o.index - l->first) / l->period;
    uint32_t place = o.index - run * l->period;
    bool own = o.kind == MSIM_INPUT_VALUE && o.index >= l->first &&
               o.index < l->first + l->period * l->count;
    bool same = o.kind == ref.first.kind && o.index == ref.first.index;

    switch (ref.kind) {
    case MSIM_LOOP_SAME:
        return same && !own;
    case MSIM_LOOP_STEP:
        return o.kind == ref.first.kind && o.kind != MSIM_INPUT_VALUE &&
               o.index == ref.first.index + ref.step * r;
    case MSIM_LOOP_LIST:
        return o.kind == ref.first.kind && o.kind != MSIM_INPUT_VALUE;
    case MSIM_LOOP_LOCAL:
        return own && run == r && place == ref.value;
    case MSIM_LOOP_CARRIED:
        return r == 0 ? same && !own
                      : own && run + 1 == r && place == ref.value;
    case MSIM_LOOP_KEPT:
        return o.kind == MSIM_INPUT_VALUE && !own &&
               msim_loops_place(f, o.index, &run, &place) &&
               run == ref.run + ref.step * r && place == ref.value;
    default:
        return false;
    }
}

static bool are_so(const struct msim_loops *f, const struct msim_loop *l)
{
    for (uint32_t j = 0; j < l->period; j++)
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t r = 0; r < l->count; r++)
                if (!is_so(f, l, msim_loops_operand(f, l, j, k),
                           operand(f->program, l, r, j, k), r))
                    return false;
    return true;
}

/* ---- the second search --------------------------------------------------- */

/* Lines that a loop saves: one a statement and one more remain, and one for
 * each list; 0 where an operand cannot be said. */
static uint32_t saves(const struct msim_loops *f, const struct msim_loop *l)
{
    uint32_t lines = l->period * l->count, cost = l->period + 1;

    for (uint32_t j = 0; j < l->period; j++)
        for (uint32_t k = 0; k < 2; k++) {
            struct msim_loop_ref ref = msim_loops_operand(f, l, j, k);

            if (ref.kind == MSIM_LOOP_NONE)
                return 0;
            cost += ref.kind == MSIM_LOOP_LIST;
        }
    return lines > cost ? lines - cost : 0;
}

static uint32_t runs_of(const struct made *m, uint32_t first, uint32_t period)
{
    uint32_t n = 1;

    for (;; n++)
        for (uint32_t j = 0; j < period; j++) {
            uint32_t i = first + n * period + j;

            if (i >= m->p.statements.n ||
                m->statements[i].schema != m->statements[first + j].schema)
                return n;
        }
}

/* The loop from `first` on that saves most, and 3 lines at least; of a period
 * all runs, or all but the last where that is more. No run: there is none. */
static struct msim_loop best(const struct made *m, const struct msim_loops *f,
                             uint32_t first)
{
    struct msim_loop found = {first, 1, 0};
    uint32_t most = 2, n = m->p.statements.n;

    for (uint32_t period = 1, tried = 0; first + period < n && tried < 24;
         period++) {
        uint32_t runs = runs_of(m, first, period);

        if (m->statements[first].schema != m->statements[first + period].schema)
            continue;
        tried++;
        for (uint32_t less = 0; less < 2 && runs >= 2 + less; less++) {
            struct msim_loop l = {first, period, runs - less};
            uint32_t saved = saves(f, &l);

            if (saved > most) {
                most = saved;
                found = l;
            }
            if (saved)
                break;
        }
    }
    return found;
}

/* Loops from left to right, as the second search has them. */
static void check_loops(const struct made *m, const struct msim_loops *f)
{
    struct msim_loops before = *f; /* what is known of the ones before */
    const struct msim_loop *loops = f->loops.data;
    uint32_t i = 0, n = 0;

    before.loop_of = malloc((MOST + 1) * sizeof(*before.loop_of));
    REQUIRE(before.loop_of != NULL);
    for (uint32_t s = 0; s <= MOST; s++)
        before.loop_of[s] = MSIM_NONE;
    while (i < m->p.statements.n) {
        struct msim_loop want = best(m, &before, i);

        if (want.count == 0) {
            CHECK(n == f->loops.n || loops[n].first != i);
            i++;
            continue;
        }
        if (!CHECK(n < f->loops.n) || !CHECK_INT(loops[n].first, i) ||
            !CHECK_INT(loops[n].period, want.period) ||
            !CHECK_INT(loops[n].count, want.count))
            break;
        CHECK(are_so(&before, &want));
        for (uint32_t end = i + want.period * want.count; i < end; i++) {
            before.loop_of[i] = n;
            CHECK_INT(f->loop_of[i], n);
        }
        n++;
    }
    CHECK_INT(n, f->loops.n);
    free(before.loop_of);
}

static void test_loops__of_random_programs(void)
{
    static struct made m;
    unsigned loops = 0, kinds[MSIM_LOOP_NONE + 8] = {0};

    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct msim_loops f;

        begin(&m, seed);
        for (uint32_t parts = 1 + below(&m, 4); parts; parts--)
            add_part(&m);
        REQUIRE(msim_loops_find(&f, &m.p, true) == MSIM_OK);
        check_loops(&m, &f);
        for (uint32_t l = 0; l < f.loops.n; l++, loops++)
            for (uint32_t j = 0;
                 j < ((struct msim_loop *)f.loops.data)[l].period; j++)
                kinds[msim_loops_operand(
                          &f, (struct msim_loop *)f.loops.data + l, j, 0)
                          .kind]++;
        msim_loops_release(&f);
    }
    CHECK(loops > 200);
    CHECK(kinds[MSIM_LOOP_SAME] && kinds[MSIM_LOOP_STEP] &&
          kinds[MSIM_LOOP_LIST] && kinds[MSIM_LOOP_LOCAL] &&
          kinds[MSIM_LOOP_CARRIED] && kinds[MSIM_LOOP_KEPT]);
}

int main(void)
{
    RUN(test_loops__of_random_programs);
    return check_summary();
}
