/*
 * tests/unit/replay/fold/test_loops.c - repeated statements as loops, in traces
 * of made-up layers. Storages: 1 the input, 2 what all layers share, 100 on
 * weights, 200 on results; nodes 1000 on.
 */
#include "replay/fold/loops.h"

#include "tests/unit/made_et.h"

static const struct msim_loop *loop_of(const struct made_program *x, uint32_t i)
{
    return (const struct msim_loop *)x->fold.loops.data + i;
}

static struct msim_loop_ref ref_of(const struct made_program *x, uint32_t loop,
                                   uint32_t j, uint32_t k)
{
    return msim_loops_operand(&x->fold, loop_of(x, loop), j, k);
}

#define CHECK_LOOP(x, i, from, statements, runs)                               \
    do {                                                                       \
        REQUIRE((i) < (x)->fold.loops.n);                                      \
        CHECK_UINT(loop_of((x), (i))->first, (from));                          \
        CHECK_UINT(loop_of((x), (i))->period, (statements));                   \
        CHECK_UINT(loop_of((x), (i))->count, (runs));                          \
    } while (0)

static bool fold(struct made_et *m, struct made_program *x)
{
    return CHECK(program_of(m, x, NULL, true));
}

MSIM_PRINTF(5, 6)
static void op(struct made_et *m, unsigned id, const char *schema,
               unsigned result, const char *fmt, ...)
{
    char in[256], out[32];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(in, sizeof(in), fmt, ap);
    va_end(ap);
    snprintf(out, sizeof(out), "%u:4x4", result);
    et_op(m, id, schema, in, out);
}

/* Layer i: x = tanh(relu(x weight_i)). Its weight is the next tensor from
 * outside; x is what the layer before made, of the first X[0]. */
static void layer(struct made_et *m, unsigned i)
{
    op(m, 1000 + 10 * i, ET_MM, 200 + 3 * i, "%u:4x4 %u:4x4",
       i ? 199 + 3 * i : 1, 100 + i);
    op(m, 1001 + 10 * i, ET_RELU, 201 + 3 * i, "%u:4x4", 200 + 3 * i);
    op(m, 1002 + 10 * i, ET_TANH, 202 + 3 * i, "%u:4x4", 201 + 3 * i);
}

static void test_loops__layers(void)
{
    struct made_et m = {0};
    struct made_program x;
    struct msim_loop_ref r;
    uint32_t run, first;

    for (unsigned i = 0; i < 4; i++)
        layer(&m, i);
    op(&m, 2000, ET_ADD, 999, "211:4x4 201:4x4 =1");
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 1);
    CHECK_LOOP(&x, 0, 0, 3, 4);
    r = ref_of(&x, 0, 0, 0);
    CHECK_INT(r.kind, MSIM_LOOP_CARRIED);
    CHECK_INT(r.first.kind, MSIM_INPUT_OUTSIDE);
    CHECK_UINT(r.first.index, 0);
    CHECK_UINT(r.value, 2); /* tanh's */
    r = ref_of(&x, 0, 0, 1);
    CHECK_INT(r.kind, MSIM_LOOP_STEP);
    CHECK_UINT(r.first.index, 1);
    CHECK_INT(r.step, 1);
    r = ref_of(&x, 0, 1, 0);
    CHECK_INT(r.kind, MSIM_LOOP_LOCAL);
    CHECK_UINT(r.value, 0);
    /* Value 11 is the last run's tanh, value 1 the first run's relu. */
    CHECK(msim_loops_place(&x.fold, 11, &run, &first));
    CHECK_UINT(run, 3);
    CHECK_UINT(first, 2);
    CHECK(!msim_loops_place(&x.fold, 12, &run, &first));
    CHECK_UINT(x.fold.loop_of[11], 0);
    CHECK_UINT(x.fold.loop_of[12], MSIM_NONE);
    program_done(&x);
}

static void test_loops__not_wanted(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 4; i++)
        layer(&m, i);
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_UINT(x.fold.loops.n, 0);
    for (uint32_t i = 0; i < x.p->statements.n; i++)
        CHECK_UINT(x.fold.loop_of[i], MSIM_NONE);
    program_done(&x);
}

/* x = relu(x + shared) * weight: shared is the same in all runs, and with it in
 * between the first weights, their numbers are 2, 3, 4, but in the first run
 * the input and shared came before. */
static void test_loops__same_and_step(void)
{
    struct made_et m = {0};
    struct made_program x;
    struct msim_loop_ref r;

    for (unsigned i = 0; i < 4; i++) {
        op(&m, 1000 + 10 * i, ET_ADD, 200 + 3 * i, "%u:4x4 2:4x4 =1",
           i ? 199 + 3 * i : 1);
        op(&m, 1001 + 10 * i, ET_RELU, 201 + 3 * i, "%u:4x4", 200 + 3 * i);
        op(&m, 1002 + 10 * i, ET_MUL, 202 + 3 * i, "%u:4x4 %u:4x4", 201 + 3 * i,
           100 + i);
    }
    REQUIRE(fold(&m, &x));
    CHECK_LOOP(&x, 0, 0, 3, 4);
    r = ref_of(&x, 0, 0, 1);
    CHECK_INT(r.kind, MSIM_LOOP_SAME);
    CHECK_UINT(r.first.index, 1);
    r = ref_of(&x, 0, 2, 1);
    CHECK_INT(r.kind, MSIM_LOOP_STEP);
    CHECK_UINT(r.first.index, 2);
    program_done(&x);
}

/* The first run also reads what is shared, behind its weight: weights are
 * tensors 1, 3, 4, 5. */
static void test_loops__list(void)
{
    struct made_et m = {0};
    struct made_program x;
    struct msim_loop_ref r;

    for (unsigned i = 0; i < 4; i++) {
        op(&m, 1000 + 10 * i, ET_MM, 200 + 3 * i, "%u:4x4 %u:4x4",
           i ? 199 + 3 * i : 1, 100 + i);
        op(&m, 1001 + 10 * i, ET_RELU, 201 + 3 * i, "%u:4x4", 200 + 3 * i);
        op(&m, 1002 + 10 * i, ET_MUL, 202 + 3 * i, "%u:4x4 2:4x4", 201 + 3 * i);
    }
    REQUIRE(fold(&m, &x));
    CHECK_LOOP(&x, 0, 0, 3, 4);
    r = ref_of(&x, 0, 0, 1);
    CHECK_INT(r.kind, MSIM_LOOP_LIST);
    CHECK_UINT(r.first.index, 1);
    CHECK_INT(ref_of(&x, 0, 2, 1).kind, MSIM_LOOP_SAME);
    program_done(&x);
}

/* A second loop reads what each run of the first made, the last one first. */
static void test_loops__kept_in_reverse(void)
{
    struct made_et m = {0};
    struct made_program x;
    struct msim_loop_ref r;

    for (unsigned i = 0; i < 4; i++)
        layer(&m, i);
    for (unsigned i = 0; i < 4; i++) {
        op(&m, 2000 + 10 * i, ET_MUL, 300 + 2 * i, "%u:4x4 %u:4x4",
           i ? 299 + 2 * i : 211, 210 - 3 * i);
        op(&m, 2001 + 10 * i, ET_RELU, 301 + 2 * i, "%u:4x4", 300 + 2 * i);
    }
    REQUIRE(fold(&m, &x));
    CHECK_LOOP(&x, 0, 0, 3, 4);
    CHECK_LOOP(&x, 1, 12, 2, 4);
    r = ref_of(&x, 1, 0, 1);
    CHECK_INT(r.kind, MSIM_LOOP_KEPT);
    CHECK_UINT(r.value, 1); /* relu of the first run */
    CHECK_INT(r.run, 3);
    CHECK_INT(r.step, -1);
    r = ref_of(&x, 1, 0, 0);
    CHECK_INT(r.kind, MSIM_LOOP_CARRIED);
    CHECK_UINT(r.first.index, 11);
    program_done(&x);
}

/* Runs that read another one's result in no order that can be said. (Of four
 * runs any two pairs are in one.) */
static void test_loops__no_order(void)
{
    static const unsigned from[] = {201, 207, 204};
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 4; i++)
        layer(&m, i);
    for (unsigned i = 0; i < 3; i++) {
        op(&m, 2000 + 10 * i, ET_MUL, 300 + 2 * i, "%u:4x4 %u:4x4",
           i ? 299 + 2 * i : 211, from[i]);
        op(&m, 2001 + 10 * i, ET_RELU, 301 + 2 * i, "%u:4x4", 300 + 2 * i);
    }
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 1);
    program_done(&x);
}

/* Both operands are what the run before made, but the first run gets two
 * tensors: two names are carried. */
static void test_loops__carried_twice(void)
{
    struct made_et m = {0};
    struct made_program x;
    struct msim_loop_ref a, b;

    for (unsigned i = 0; i < 4; i++) {
        op(&m, 1000 + 10 * i, ET_RELU, 200 + 2 * i, "%u:4x4",
           i ? 199 + 2 * i : 1);
        op(&m, 1001 + 10 * i, ET_MUL, 201 + 2 * i, "%u:4x4 %u:4x4", 200 + 2 * i,
           i ? 199 + 2 * i : 2);
    }
    REQUIRE(fold(&m, &x));
    CHECK_LOOP(&x, 0, 0, 2, 4);
    a = ref_of(&x, 0, 0, 0);
    b = ref_of(&x, 0, 1, 1);
    CHECK_INT(a.kind, MSIM_LOOP_CARRIED);
    CHECK_INT(b.kind, MSIM_LOOP_CARRIED);
    CHECK_UINT(a.value, 1);
    CHECK_UINT(b.value, 1);
    CHECK_UINT(a.first.index, 0);
    CHECK_UINT(b.first.index, 1);
    program_done(&x);
}

/* What is two runs old is not carried: such statements stay as they are. */
static void test_loops__two_runs_back(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 6; i++) {
        op(&m, 1000 + 10 * i, ET_RELU, 200 + 2 * i, "%u:4x4",
           i > 1 ? 197 + 2 * i : 1);
        op(&m, 1001 + 10 * i, ET_TANH, 201 + 2 * i, "%u:4x4", 200 + 2 * i);
    }
    REQUIRE(fold(&m, &x));
    for (uint32_t i = 0; i < x.fold.loops.n; i++)
        CHECK(loop_of(&x, i)->period == 4); /* two of them at once */
    program_done(&x);
}

/* The last layer does more after the same beginning: it is not in the loop. */
static void test_loops__last_run_differs(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 4; i++)
        layer(&m, i);
    op(&m, 2000, ET_MM, 300, "211:4x4 150:4x4");
    op(&m, 2001, ET_RELU, 301, "300:4x4");
    op(&m, 2002, ET_TANH, 302, "150:4x4"); /* not of what relu made */
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 1);
    CHECK_LOOP(&x, 0, 0, 3, 4);
    program_done(&x);
}

/* Two runs of two statements: a loop of three lines saves one; it takes three.
 */
static void test_loops__too_short(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 2; i++)
        layer(&m, i);
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 0);
    program_done(&x);
    for (unsigned i = 0; i < 3; i++)
        layer(&m, i);
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 1);
    program_done(&x);
}

/* What only its numbers tell apart is one loop; a number more in an argument
 * is another statement. */
static void test_loops__looks(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 10; i++) {
        char in[64];

        snprintf(in, sizeof(in), i < 5 ? "%u:4x4 (=%u =4)" : "%u:4x4 (=%u)",
                 i ? 199 + i : 1, i % 5 + 1);
        op(&m, 1000 + i,
           "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", 200 + i,
           "%s", in);
    }
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 2);
    CHECK_LOOP(&x, 0, 0, 1, 5);
    CHECK_LOOP(&x, 1, 5, 1, 5);
    program_done(&x);
}

/* Lists of other lengths are another call; of other numbers they are not. */
static void test_loops__lists(void)
{
    static const char *const LISTS[] = {"(=1 =2 =3 =4 =5 =6)", "(=1)",
                                        "(=1 =2 =3 =4 =5)",    "(=1 =2)",
                                        "(=1 =2 =3 =4)",       "(=1 =2 =3)"};

    for (unsigned alike = 0; alike < 2; alike++) {
        struct made_et m = {0};
        struct made_program x;

        for (unsigned i = 0; i < 6; i++)
            op(&m, 1000 + 10 * i, "my::op(Tensor self, int[] n) -> Tensor",
               200 + i, "%u:4x4 %s", i ? 199 + i : 1,
               alike ? (i % 3 ? "(=1 =2)" : "(=3 =1)") : LISTS[i]);
        REQUIRE(fold(&m, &x));
        CHECK_UINT(x.fold.loops.n, alike);
        program_done(&x);
    }
}

/* Eight calls are as long as a loop of them with six lists; of seven, which
 * read the same, it is five lines shorter. */
static void test_loops__without_the_last(void)
{
    struct made_et m = {0};
    struct made_program x;

    for (unsigned i = 0; i < 8; i++)
        op(&m, 1000 + 10 * i,
           "my::six(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor "
           "f) -> Tensor",
           200 + i, "%s",
           i < 7 ? "1:4x4 2:4x4 3:4x4 4:4x4 5:4x4 6:4x4"
                 : "11:4x4 12:4x4 13:4x4 14:4x4 15:4x4 16:4x4");
    REQUIRE(fold(&m, &x));
    CHECK_UINT(x.fold.loops.n, 1);
    CHECK_LOOP(&x, 0, 0, 1, 7);
    program_done(&x);
}

int main(void)
{
    RUN(test_loops__layers);
    RUN(test_loops__not_wanted);
    RUN(test_loops__same_and_step);
    RUN(test_loops__list);
    RUN(test_loops__kept_in_reverse);
    RUN(test_loops__no_order);
    RUN(test_loops__carried_twice);
    RUN(test_loops__two_runs_back);
    RUN(test_loops__last_run_differs);
    RUN(test_loops__too_short);
    RUN(test_loops__looks);
    RUN(test_loops__lists);
    RUN(test_loops__without_the_last);
    return check_summary();
}
