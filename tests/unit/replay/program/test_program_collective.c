/*
 * How a collective begins: with what is recorded of it, and whether its caller
 * waits at once.
 */
#include "replay/program/program_internal.h"

#include "tests/unit/made_ops.h"

#define ALL_REDUCE                                                             \
    "c10d::allreduce_(Tensor[] tensors, int reduce_op, bool async_op=True) "   \
    "-> Tensor[]"
#define GATHER  "c10d::gather(Tensor[] tensors, bool asyncOp=True) -> Tensor[]"
#define BARRIER "c10d::barrier(Tensor tensor, int timeout) -> Tensor"

struct begun {
    struct msim_statement s;
    uint32_t n_values;
    bool waits; /* the wait for sequence 5 is one for it */
};

struct case_of {
    const char *schema, *args;
    uint32_t below, behind; /* of comms, or NONE */
    uint32_t waited;        /* node that waits for sequence 5; 0: none */
    uint32_t comm;
    bool sync, waits;
};

/* Operator 0 with one below it and one behind it, nodes 10 to 12; comms: a
 * wait, and collectives of sequence 5 and of none. */
static struct begun begin(const struct case_of *c)
{
    static struct build b;
    struct msim_schema schema;
    struct msim_program p = {.schemas = {.data = &schema, .n = 1}};
    struct msim_builder builder = {.p = &p, .t = &b.t};
    struct begun got = {.s = {.schema = 0}};
    struct msim_statement *row;
    uint32_t *slot;

    build_init(&b);
    p.trace = &b.t;
    build_op(&b, 0, "c10d::op", c->args, NULL);
    build_op(&b, 1, "below", "", NULL);
    build_op(&b, 0, "behind", "", NULL);
    b.comms[0] =
        (struct msim_comm){.collective = MSIM_COLL_WAIT, .sequence = 5};
    b.comms[1] =
        (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE, .sequence = 5};
    b.comms[2] =
        (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE, .sequence = -1};
    for (uint32_t i = 0; i < 3; i++)
        b.ops[i].et_id = 10 + i;
    b.ops[1].comm = c->below;
    b.ops[2].comm = c->behind;
    CHECK(msim_schema_read(&schema, c->schema));
    if (c->waited &&
        CHECK_INT(msim_idmap_put(&builder.waits, 5, 0, &slot), MSIM_OK))
        *slot = c->waited;
    CHECK_INT(msim_builder_collective(&builder, &got.s), MSIM_OK);
    CHECK_INT(p.n_collectives, 1);
    got.n_values = p.values.n;
    row = msim_vec_add(&p.statements, sizeof(*row));
    if (CHECK(row != NULL)) {
        *row = got.s;
        b.ops[2].comm = 0;
        CHECK_INT(msim_builder_wait(&builder, 2, &got.waits), MSIM_OK);
    }
    msim_idmap_release(&builder.waits);
    free(builder.pending.data);
    free(p.statements.data);
    free(p.operands.data);
    free(p.values.data);
    build_release(&b);
    return got;
}

static void test_collective__begins(void)
{
    static const uint32_t NONE = MSIM_NONE;
    const struct case_of ROWS[] = {
        /* what is recorded below it, and not behind it; a wait is none */
        {ALL_REDUCE, "", 1, NONE, 0, 1, false, true},
        {ALL_REDUCE, "", 2, NONE, 0, 2, false, false},
        {ALL_REDUCE, "", NONE, 1, 0, NONE, false, false},
        {ALL_REDUCE, "", 0, 1, 0, NONE, false, false},
        /* its caller waits */
        {ALL_REDUCE, "(f32[1]) 0 false", 1, NONE, 0, 1, true, false},
        {ALL_REDUCE, "(f32[1]) 0 true", 1, NONE, 0, 1, false, true},
        {ALL_REDUCE, "(f32[1]) 0 0", 1, NONE, 0, 1, false, true},
        {GATHER, "(f32[1]) false", 1, NONE, 0, 1, true, false},
        {BARRIER, "f32[1] 3", 1, NONE, 0, 1, true, false},
        /* but for one whose wait is recorded, behind it */
        {BARRIER, "f32[1] 3", 1, NONE, 50, 1, false, true},
        {ALL_REDUCE, "(f32[1]) 0 false", 1, NONE, 50, 1, false, true},
        {ALL_REDUCE, "(f32[1]) 0 false", 1, NONE, 10, 1, true, false},
        {ALL_REDUCE, "(f32[1]) 0 false", 1, NONE, 11, 1, false, true},
        {ALL_REDUCE, "(f32[1]) 0 false", 2, NONE, 50, 2, true, false},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct begun got = begin(&ROWS[i]);

        CHECK_INT(got.s.kind, MSIM_STATEMENT_COLLECTIVE);
        CHECK_INT(got.s.comm, ROWS[i].comm);
        CHECK_INT(got.s.sync, ROWS[i].sync);
        CHECK_INT(got.s.n_out, !ROWS[i].sync);
        CHECK_INT(got.n_values, !ROWS[i].sync);
        CHECK_INT(got.waits, ROWS[i].waits);
    }
}

int main(void)
{
    RUN(test_collective__begins);
    return check_summary();
}
