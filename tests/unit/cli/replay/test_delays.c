/*
 * How long the collectives of a program take: as another trace measured them,
 * and as a platform would.
 */
#include "cli/replay/cli_replay_internal.h"

#include "core/work/rules/opmap_rule.h"
#include "models/estimate/model.h"
#include "tests/unit/made_ops.h"

/* A program of `t`: collectives at `ops`, and an operator that is none behind
 * the first of them. */
static struct msim_program made(const struct msim_trace *t,
                                struct msim_statement *s, const uint32_t *ops,
                                uint32_t n)
{
    struct msim_program p = {.trace = t, .n_collectives = n};

    s[n > 0] = (struct msim_statement){.kind = MSIM_STATEMENT_CALL};
    for (uint32_t i = 0; i < n; i++)
        s[i ? 1 + i : 0] =
            (struct msim_statement){.kind = MSIM_STATEMENT_COLLECTIVE,
                                    .op = ops[i],
                                    .comm = t->ops[ops[i]].comm};
    p.statements.data = s;
    p.statements.n = n + 1;
    return p;
}

#define MS ((msim_ps)1000 * MSIM_PS_PER_US)

/* A call of node `et_id`, and what runs in it. */
static uint32_t add_call(struct build *b, uint32_t et_id)
{
    uint32_t i = build_op(b, 0, "c10d::allreduce_", "", NULL);

    b->ops[i].et_id = et_id;
    return i;
}

static void add_label(struct build *b, const char *name, msim_ps dur)
{
    b->ops[build_op(b, 1, name, "", NULL)].dur = dur;
}

static void add_kernel(struct build *b, uint32_t op, uint8_t kind, bool known,
                       msim_ps dur)
{
    struct msim_gpu *g = build_kernel(b, op, "ncclDevKernel", 1, 1);

    g->kind = kind;
    g->dur = dur;
    g->comm = MSIM_NONE;
    if (known) {
        b->comms[b->t.n_comms] = (struct msim_comm){.op = op};
        g->comm = b->t.n_comms++;
    }
}

static void test_delays__measured(void)
{
    static struct build b;
    struct msim_statement s[4] = {
        [3] = {.kind = MSIM_STATEMENT_COLLECTIVE, .op = BUILD_MAX - 1}};
    struct msim_program p;
    uint32_t ops[2];
    double *us;

    build_init(&b);
    b.t.has_times = true;
    /* node 5 twice, of 3 ms and 1 ms: the longest of what it runs */
    ops[0] = add_call(&b, 5);
    add_label(&b, "gloo:all_reduce", 1 * MS);
    add_label(&b, "glow", 90 * MS); /* no label of gloo's */
    add_kernel(&b, ops[0] + 1, MSIM_GPU_COMM, true, 2 * MS);
    add_kernel(&b, ops[0] + 2, MSIM_GPU_COMM, true, 3 * MS);
    add_kernel(&b, ops[0] + 1, MSIM_GPU_COMM, false, 70 * MS);
    add_kernel(&b, ops[0] + 1, MSIM_GPU_KERNEL, true, 80 * MS);
    ops[1] = add_call(&b, 6);
    add_label(&b, "gloo:all_reduce", 5 * MS);
    add_kernel(&b, ops[1], MSIM_GPU_COMM, true, 4 * MS);
    add_kernel(&b, add_call(&b, 5), MSIM_GPU_COMM, true, 1 * MS);
    b.ops[build_op(&b, 0, "gloo:later", "", NULL)].dur = 9 * MS;
    /* what stands behind the last of each is none */
    b.ops[b.t.n_ops].et_id = 5;
    b.ops[BUILD_MAX - 1].et_id = 88;
    b.gpu[b.t.n_gpu] = (struct msim_gpu){.kind = MSIM_GPU_COMM, .dur = 60 * MS};
    p = made(&b.t, s, ops, 2);
    CHECK_INT(msim_delays_find(&us, &p, &b.t, NULL, NULL), MSIM_OK);
    REQUIRE(us != NULL);
    CHECK_REL(us[0], 2000, 1e-12);
    CHECK_REL(us[1], 5000, 1e-12);
    free(us);
    /* a label without times says nothing: of node 6 the kernel is left */
    b.t.has_times = false;
    CHECK_INT(msim_delays_find(&us, &p, &b.t, NULL, NULL), MSIM_OK);
    REQUIRE(us != NULL);
    CHECK_REL(us[1], 4000, 1e-12);
    free(us);
    /* and where one time is missing there is none; whichever it is */
    b.gpu[4].kind = MSIM_GPU_MEMCPY;
    us = (double *)&us;
    CHECK_INT(msim_delays_find(&us, &p, &b.t, NULL, NULL), MSIM_OK);
    CHECK(us == NULL);
    b.gpu[4].kind = MSIM_GPU_COMM;
    b.t.n_ops = 0; /* of no call of it */
    CHECK_INT(msim_delays_find(&us, &p, &b.t, NULL, NULL), MSIM_OK);
    CHECK(us == NULL);
    build_release(&b);
}

/* No collective, no times. */
static void test_delays__none(void)
{
    static struct build b;
    struct msim_statement s[1];
    struct msim_program p;
    double *us = (double *)&us;

    build_init(&b);
    p = made(&b.t, s, NULL, 0);
    CHECK_INT(msim_delays_find(&us, &p, &b.t, NULL, NULL), MSIM_OK);
    CHECK(us == NULL);
    build_release(&b);
}

/* What the models say of each; 0 of what nothing is known of. */
static void test_delays__predicted(void)
{
    static struct build b;
    struct msim_platform *h100;
    struct msim_statement s[4];
    struct msim_program p;
    struct msim_error err = {0};
    uint32_t ops[3];
    double *us;

    build_init(&b);
    b.groups[0] = (struct msim_group){.size = 8};
    b.t.n_groups = 1;
    for (uint32_t i = 0; i < 3; i++) {
        ops[i] = add_call(&b, 5 + i);
        b.ops[ops[i]].comm = i == 1 ? MSIM_NONE : b.t.n_comms;
        if (i == 1)
            continue;
        b.comms[b.t.n_comms++] =
            (struct msim_comm){.op = ops[i],
                               .collective = MSIM_COLL_ALL_REDUCE,
                               .dtype = MSIM_DT_F32,
                               .in_elems = (uint64_t)1 << (20 + 4 * i),
                               .out_elems = (uint64_t)1 << (20 + 4 * i)};
    }
    REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", &err) == MSIM_OK);
    p = made(&b.t, s, ops, 3);
    CHECK_INT(msim_delays_find(&us, &p, NULL, h100, &err), MSIM_OK);
    REQUIRE(us != NULL);
    for (uint32_t i = 0; i < 3; i++) {
        struct msim_estimate e = {.us = 0};
        struct msim_work w;

        if (i != 1) {
            w = msim_comm_work(&b.t, i / 2);
            CHECK_INT(msim_model_predict(h100, &w, false, &e, &err), MSIM_OK);
            CHECK(e.us > 0);
        }
        CHECK_REL(us[i], e.us, 1e-12);
    }
    CHECK(us[2] > us[0]);
    free(us);
    msim_platform_free(h100);
    build_release(&b);
}

int main(void)
{
    RUN(test_delays__measured);
    RUN(test_delays__none);
    RUN(test_delays__predicted);
    return check_summary();
}
