/*
 * One call of an operator: which arguments are left out, since the signature
 * gives them, and how the others are written.
 */
#include "replay/emit/emit_python_internal.h"

#include "tests/unit/made_et.h"
#include "tests/unit/made_ops.h"

#define HEAD "@torch.no_grad()\ndef step():\n    "

struct row {
    const char *in, *call;
};

static void check_calls(const char *schema, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct made_et m = {0};
        struct made_program x = {0};
        char want[256];

        et_op(&m, 100, schema, rows[i].in, "99:2");
        snprintf(want, sizeof(want), HEAD "%s\n", rows[i].call);
        if (CHECK(program_of(&m, &x, NULL, false)) && !CHECK_STR(x.text, want))
            fprintf(stderr, "of %s\n", rows[i].in);
        program_done(&x);
    }
}

#define CHECK_CALLS(schema, rows)                                              \
    check_calls((schema), (rows), sizeof(rows) / sizeof(*(rows)))

#define MANY                                                                   \
    "my::op(Tensor self, int n=3, float f=0.5, bool b=False, int[2] size=1, "  \
    "str? s=None, int[] l=[], *, int k=-7, float? g=1e-05, Generator? "        \
    "generator=None) -> Tensor"
#define THREE " =3 =0.5 =false "

/* All up to the last that differs are given by place, the others by name. */
static void test_call__defaults(void)
{
    static const struct row ROWS[] = {
        {"1:11" THREE "(=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0])"},
        {"1:11" THREE "(=1 =1) - ()", "torch.ops.my.op.default(X[0])"},
        {"1:11 =4 =0.5 =false (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 4)"},
        {"1:11 =3 =0.25 =false (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.25)"},
        {"1:11 =3 =0.5 =true (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, True)"},
        {"1:11" THREE "(=1 =2) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, False, [1, 2])"},
        {"1:11" THREE "(=2 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, False, [2, 1])"},
        {"1:11" THREE "() - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, False, [])"},
        {"1:11" THREE "(=1 =1) - (=5) =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, False, [1, 1], None, [5])"},
        {"1:11" THREE "(=1 =1) - () =7 =1e-05 -",
         "torch.ops.my.op.default(X[0], k=7)"},
        {"1:11" THREE "(=1 =1) - () =-7 =0.5 -",
         "torch.ops.my.op.default(X[0], g=0.5)"},
        {"1:11 =4"
         " =0.5 =false (=1 =1) - () =-8 - -",
         "torch.ops.my.op.default(X[0], 4, k=-8, g=None)"},
        /* a number of another type is another number; so is None */
        {"1:11 =3.0 =0.5 =false (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3.0)"},
        {"1:11 - =0.5 =false (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], None)"},
        {"1:11 =3 =0 =false (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0)"},
        {"1:11 =3 =0.5 =0 (=1 =1) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, 0)"},
        {"1:11" THREE "=1 - () =-7 =1e-05 -", "torch.ops.my.op.default(X[0])"},
        {"1:11" THREE "(=1.0 =1.0) - () =-7 =1e-05 -",
         "torch.ops.my.op.default(X[0], 3, 0.5, False, [1.0, 1.0])"},
        /* fewer than the signature has */
        {"1:11 =3", "torch.ops.my.op.default(X[0])"},
        {"1:11 =5", "torch.ops.my.op.default(X[0], 5)"},
    };
    static const struct row TRUE[] = {
        {"1:11 =true =0.0", "torch.ops.my.op.default(X[0])"},
        {"1:11 =false =0.0", "torch.ops.my.op.default(X[0], False)"},
        {"1:11 =true =0.5", "torch.ops.my.op.default(X[0], True, 0.5)"},
    };

    CHECK_CALLS(MANY, ROWS);
    CHECK_CALLS("my::op(Tensor self, bool b=True, float f=0.) -> Tensor", TRUE);
}

/* Tensors of lists, one by one or as a row; what is no tensor stays. */
static void test_call__lists(void)
{
    static const struct row ROWS[] = {
        {"(1:2 2:2 3:2) =0", "torch.ops.my.cat.default([X[0], X[1], X[2]])"},
        {"(1:2 2:2 3:2 4:2) =1", "torch.ops.my.cat.default(X[0:4], 1)"},
        {"(1:2 - 3:2 4:2 5:2) =0",
         "torch.ops.my.cat.default([X[0], None, X[1], X[2], X[3]])"},
        {"() =2", "torch.ops.my.cat.default([], 2)"},
        {"(1:2 1:2) =0", "torch.ops.my.cat.default([X[0], X[0]])"},
    };
    static const struct row TWO[] = {
        {"(1:2 2:2 3:2 4:2) (5:2 6:2 7:2 8:2) 9:2",
         "torch.ops.my.two.default(X[0:4], X[4:8], X[8])"},
        {"(1:2) () 9:2", "torch.ops.my.two.default([X[0]], [], X[1])"},
    };

    CHECK_CALLS("my::cat(Tensor[] tensors, int dim=0) -> Tensor", ROWS);
    CHECK_CALLS("my::two(Tensor[] a, Tensor[] b, Tensor c) -> Tensor", TWO);
}

/* An argument that is left out in front of tensors that are not. */
static void test_call__left_out_between(void)
{
    static const struct row ROWS[] = {
        {"1:11 =1 2:2", "torch.ops.my.op.default(X[0], w=X[1])"},
        {"1:11 =2 2:2", "torch.ops.my.op.default(X[0], 2, w=X[1])"},
        {"1:11 =1 -", "torch.ops.my.op.default(X[0])"},
    };

    CHECK_CALLS("my::op(Tensor self, int n=1, *, Tensor? w=None) -> Tensor",
                ROWS);
}

/* Words of Python's own are no members. */
static void test_call__odd_names(void)
{
    static const struct row FROM[] = {
        {"1:11 =0 =5 -", "getattr(aten.random_, 'from')(X[0], 0, 5)"}};
    static const struct row IS[] = {
        {"1:11", "getattr(torch.ops.my, 'is').default(X[0])"}};
    static const struct row BOTH[] = {
        {"1:11", "getattr(getattr(torch.ops.my, 'is'), 'not')(X[0])"}};
    static const struct row PLAIN[] = {{"1:11", "torch.ops.my.a.not_(X[0])"}};

    CHECK_CALLS("aten::random_.from(Tensor(a!) self, int from, int? to, *, "
                "Generator? generator=None) -> Tensor(a!)",
                FROM);
    CHECK_CALLS("my::is(Tensor a) -> Tensor", IS);
    CHECK_CALLS("my::is.not(Tensor a) -> Tensor", BOTH);
    CHECK_CALLS("my::a.not_(Tensor a) -> Tensor", PLAIN);
}

/* ---- loops --------------------------------------------------------------- */

/* What differs from run to run is picked from a list; what does not is said
 * once, or not at all. */
static void test_call__by_run(void)
{
    static const struct {
        const char *arguments[6], *loop;
    } ROWS[] = {
        {{"=1 =2", "=1 =2", "=1 =2", "=1 =2", "=1 =2", "=1 =2"},
         "torch.ops.my.op.default(x0, 1, 2)"},
        {{"=1 =3", "=1 =3", "=1 =3", "=1 =3", "=1 =3", "=1 =3"},
         "torch.ops.my.op.default(x0, 1)"},
        {{"=1 =3", "=2 =3", "=1 =3", "=1 =3", "=1 =3", "=4 =3"},
         "torch.ops.my.op.default(x0, (1, 2, 1, 1, 1, 4)[i])"},
        {{"=1 =3", "=1 =3", "=1 =3", "=1 =3", "=1 =3", "=1 =4"},
         "torch.ops.my.op.default(x0, 1, (3, 3, 3, 3, 3, 4)[i])"},
        {{"(=1 =2) =3", "(=1 =3) =3", "(=1 =2) =3", "(=1 =2) =3", "(=1 =2) =3",
          "(=1 =2) =3"},
         "torch.ops.my.op.default(x0, ([1, 2], [1, 3], [1, 2], [1, 2], [1, 2], "
         "[1, "
         "2])[i])"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_et m = {0};
        struct made_program x = {0};
        char in[64], out[32];

        et_op(&m, 100, ET_RELU, "1:2x3", "20:2x3");
        for (unsigned k = 0; k < 6; k++) {
            snprintf(in, sizeof(in), "%u:2x3 %s", 20 + k, ROWS[i].arguments[k]);
            snprintf(out, sizeof(out), "%u:2x3", 21 + k);
            et_op(&m, 110 + 10 * k,
                  "my::op(Tensor self, Scalar a, int b=3) -> Tensor", in, out);
        }
        if (CHECK(program_of(&m, &x, NULL, true)) &&
            !CHECK(strstr(x.text, ROWS[i].loop) != NULL))
            fprintf(stderr, "%s\n, want %s\n", x.text, ROWS[i].loop);
        program_done(&x);
    }
}

/* ---- collectives --------------------------------------------------------- */

/* By its name, without what the benchmark fills in and what is None; in a group
 * of some ranks, and waited for at once, where that is so. */
static void test_collective__arguments(void)
{
    static const struct {
        uint32_t size; /* of its group; the job has 4 ranks */
        bool sync;
        const char *call;
    } ROWS[] = {
        {4, false, "collective('gather', [X[0], X[1]], 3, 5)"},
        {2, false, "collective('gather', [X[0], X[1]], 3, 5, group=0)"},
        {4, true, "collective('gather', [X[0], X[1]], 3, 5, sync=True)"},
        {2, true,
         "collective('gather', [X[0], X[1]], 3, 5, group=0, sync=True)"},
    };
    static struct build b;
    struct msim_schema schema = {0};
    struct msim_statement s = {.kind = MSIM_STATEMENT_COLLECTIVE, .n_in = 2};
    struct msim_program_input operands[] = {{MSIM_INPUT_OUTSIDE, 0},
                                            {MSIM_INPUT_OUTSIDE, 1}};
    struct msim_program p = {.trace = &b.t,
                             .schemas = {.data = &schema, .n = 1},
                             .statements = {.data = &s, .n = 1},
                             .operands = {.data = operands, .n = 2}};
    struct msim_loops fold = {.program = &p};

    build_init(&b);
    build_op(&b, 0, "c10d::gather", "(f32[1] f32[1]) 9 3 none true 7 5 8",
             NULL);
    b.t.world_size = 4;
    b.t.n_groups = 1;
    CHECK(msim_schema_read(
        &schema, "c10d::gather(Tensor[] tensors, "
                 "__torch__.torch.classes.c10d.ProcessGroup process_group, int "
                 "op, Tensor? sparse, bool async_op=True, int timeout=-1, int "
                 "root=0) -> Tensor[]"));
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_body body = {.p = &p, .fold = &fold};
        struct msim_text out = {0};

        b.groups[0].size = ROWS[i].size;
        s.sync = ROWS[i].sync;
        msim_body_collective(&body, &out,
                             (struct msim_body_place){0, MSIM_NONE});
        CHECK_STR(msim_text_get(&out), ROWS[i].call);
        free(out.bytes.data);
    }
    build_release(&b);
}

int main(void)
{
    RUN(test_call__defaults);
    RUN(test_call__lists);
    RUN(test_call__left_out_between);
    RUN(test_call__odd_names);
    RUN(test_call__by_run);
    RUN(test_collective__arguments);
    return check_summary();
}
