/*
 * tests/unit/core/rewrite/test_draft.c - copies of operators in a draft, each
 * way in which one may differ, and operators of one's own.
 */
#include "core/rewrite/weave/draft.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* A list of three and tensors of 10, 1 and 2 x 3; the last is made here, and
 * lists of one and of numbers stand beside. */
static const struct made_node NODES[] = {
    {1, 0, "aten::neg", 0, 4, "9:10", "7:2x3"},
    {2, 0, "aten::foo", 0, 5, "[1:10 2:20 3:30] 4:1 7:2x3 [5:50]",
     "[6:60 8:80 9:90]"},
    {3, 0, "aten::bar", 0, -1, "", ""},
};

static struct msim_job *job;
static struct msim_draft d;

static bool open(void)
{
    job = made_nodes(NODES, 3);
    return CHECK(job != NULL) &&
           CHECK(msim_draft_begin(&d, job->ranks[0], job->strings) == MSIM_OK);
}

static void done(void)
{
    msim_draft_release(&d);
    msim_job_free(job);
}

/* What a storage of the draft is recorded as; "new" for what is fresh. */
static void spell_storage(struct spelled *to, uint32_t storage)
{
    const struct msim_trace *t = job->ranks[0];

    for (uint32_t i = 0; storage && i < t->n_tensor_ids; i++)
        if (d.lives.of[i] != MSIM_NONE && d.storage[d.lives.of[i]] == storage) {
            spell(to, " %u", t->tensor_ids[i].storage);
            return;
        }
    spell(to, storage ? " new" : " none");
}

static void check_side(uint32_t block, uint32_t ids, const char *want)
{
    struct spelled got;

    spell_args(d.out, block, &got);
    spell(&got, ";");
    for (uint32_t i = 0; block != MSIM_NONE && i < d.out->blocks[block].count;
         i++)
        if (d.out->args[d.out->blocks[block].first + i].kind == MSIM_ARG_TENSOR)
            spell_storage(&got, d.out->tensor_ids[ids++].storage);
    CHECK_STR(got.text, want);
}

/* The copy of operator 1 with `how`. */
static void check_copy(const struct msim_draft_how *how, const char *in,
                       const char *out)
{
    const struct msim_op *op;

    CHECK_INT(msim_draft_copy(&d, 1, how), MSIM_OK);
    op = &d.out->ops[d.out->n_ops - 1];
    CHECK_UINT(d.placed[1], d.out->n_ops - 1);
    CHECK_UINT(op->et_id, d.out->n_ops);
    check_side(op->args, op->ids, in);
    check_side(op->outs, op->out_ids, out);
}

static void twice(void *ctx, const struct msim_arg *arg, uint32_t id,
                  int64_t *dims)
{
    uint32_t *calls = ctx;

    (void)id;
    ++*calls;
    if (arg->n == 2)
        dims[1] *= 2;
}

#define F(n)        "fp32[" n "]@gpu"
#define H(n)        "fp16[" n "]@gpu"
#define IN_STORAGES "; 1 2 3 4 7 5"

static void test_draft__copies(void)
{
    static const uint8_t kept[] = {1, 0, 1}, none[3];
    uint8_t types[16] = {0};
    uint32_t calls = 0;

    REQUIRE(open());
    check_copy(&(struct msim_draft_how){.at = {MSIM_NONE, 0}},
               "L3:3 " F("10") " " F("20") " " F("30") " " F("1") " " F(
                   "2,3") " L1:1 " F("50") IN_STORAGES,
               "L3:3 " F("60") " " F("80") " " F("90") "; 6 8 9");
    /* a quarter, rounded up, flat; one number is whole */
    check_copy(&(struct msim_draft_how){.share = 4},
               "L3:3 " F("3") " " F("5") " " F("8") " " F("1") " " F(
                   "2") " L1:1 " F("13") IN_STORAGES,
               "L3:3 " F("15") " " F("20") " " F("23") "; 6 8 9");
    check_copy(&(struct msim_draft_how){.from = MSIM_DT_F32, .to = MSIM_DT_F16},
               "L3:3 " H("10") " " H("20") " " H("30") " " H("1") " " H(
                   "2,3") " L1:1 " H("50") IN_STORAGES,
               "L3:3 " H("60") " " H("80") " " H("90") "; 6 8 9");
    check_copy(
        &(struct msim_draft_how){
            .from = MSIM_DT_F64, .to = MSIM_DT_F16, .pick = 1},
        "L1:1 " F("10") " " F("1") " " F("2,3") " L1:1 " F("50") "; 1 4 7 5",
        "L1:1 " F("60") "; 6");
    check_copy(
        &(struct msim_draft_how){.pick = 3},
        "L1:1 " F("30") " " F("1") " " F("2,3") " L1:1 " F("50") "; 3 4 7 5",
        "L1:1 " F("90") "; 9");
    /* beyond the list: the first */
    check_copy(
        &(struct msim_draft_how){.pick = 4},
        "L1:1 " F("10") " " F("1") " " F("2,3") " L1:1 " F("50") "; 1 4 7 5",
        "L1:1 " F("60") "; 6");
    check_copy(&(struct msim_draft_how){.kept = kept, .n_kept = 3},
               "L2:2 " F("10") " " F("30") " " F("1") " " F("2,3") " L1:1 " F(
                   "50") "; 1 3 4 7 5",
               "L2:2 " F("60") " " F("90") "; 6 9");
    check_copy(&(struct msim_draft_how){.kept = none, .n_kept = 3},
               "L0:0 " F("1") " " F("2,3") " L1:1 " F("50") "; 4 7 5", "L0:0;");
    check_copy(&(struct msim_draft_how){.kept = kept, .n_kept = 1},
               "L3:3 " F("10") " " F("20") " " F("30") " " F("1") " " F(
                   "2,3") " L1:1 " F("50") IN_STORAGES,
               "L3:3 " F("60") " " F("80") " " F("90") "; 6 8 9");
    check_copy(&(struct msim_draft_how){.resize = twice, .ctx = &calls},
               "L3:3 " F("10") " " F("20") " " F("30") " " F("1") " " F(
                   "2,6") " L1:1 " F("50") IN_STORAGES,
               "L3:3 " F("60") " " F("80") " " F("90") "; 6 8 9");
    CHECK_UINT(calls, 9);
    REQUIRE(d.lives.n <= sizeof(types));
    types[d.lives.of[job->ranks[0]->ops[1].ids + 4]] = MSIM_DT_F16;
    check_copy(&(struct msim_draft_how){.types = types},
               "L3:3 " F("10") " " F("20") " " F("30") " " F("1") " " H(
                   "2,3") " L1:1 " F("50") IN_STORAGES,
               "L3:3 " F("60") " " F("80") " " F("90") "; 6 8 9");
    check_copy(
        &(struct msim_draft_how){.device = MSIM_DEV_HOST, .pick = 2},
        "L1:1 fp32[20]@host fp32[1]@host fp32[2,3]@host L1:1 fp32[50]@host; "
        "2 4 7 5",
        "L1:1 fp32[80]@host; 8");
    done();
}

/* What is changed is another tensor than the recorded one, one a storage; what
 * is not is the same. */
static void test_draft__tensors(void)
{
    const struct msim_trace *t;
    const struct msim_tensor_id *ids;

    REQUIRE(open());
    t = job->ranks[0];
    CHECK_INT(msim_draft_copy(&d, 1, &(struct msim_draft_how){0}), MSIM_OK);
    CHECK_INT(msim_draft_copy(&d, 1, &(struct msim_draft_how){.share = 2}),
              MSIM_OK);
    ids = d.out->tensor_ids;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t k = d.out->ops[0].ids + i, m = d.out->ops[1].ids + i;

        CHECK_UINT(ids[k].tensor, t->tensor_ids[t->ops[1].ids + i].tensor);
        CHECK_UINT(ids[m].tensor, 0x80000000u + ids[m].storage);
        CHECK_UINT(ids[m].storage, ids[k].storage);
    }
    done();
}

/* Where a copy stands, and its number of autograd, if it has one. */
static void test_draft__places(void)
{
    const struct msim_draft_how how = {.at = {7, 3}, .later = 10};

    REQUIRE(open());
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(msim_draft_copy(&d, i, &how), MSIM_OK);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_UINT(d.out->ops[i].parent, 7);
        CHECK_UINT(d.out->ops[i].thread, 3);
        CHECK_INT(d.out->ops[i].seq, i < 2 ? 14 + (int)i : -1);
        CHECK_INT(d.out->ops[i].start, MSIM_TIME_NONE);
    }
    CHECK_UINT(msim_draft_own_place(&d, 1).parent, MSIM_NONE);
    job->ranks[0]->ops[1].parent = 2; /* of it the copy is the third */
    CHECK_UINT(msim_draft_own_place(&d, 1).parent, 2);
    CHECK_UINT(msim_draft_own_place(&d, 1).thread, 0);
    done();
}

static void test_draft__storages(void)
{
    uint32_t last, life;

    REQUIRE(open());
    last = d.last_storage;
    CHECK_UINT(last, d.lives.n);
    CHECK_UINT(msim_draft_fresh(&d), last + 1);
    CHECK_UINT(msim_draft_fresh_run(&d, 3), last + 2);
    CHECK_UINT(msim_draft_fresh(&d), last + 5);
    life = d.lives.of[job->ranks[0]->ops[1].ids];
    msim_draft_renew(&d, life);
    CHECK_UINT(d.storage[life], last + 6);
    done();
}

static void test_draft__given(void)
{
    struct msim_draft_tensor x;
    const struct msim_trace *t;
    uint32_t life;

    REQUIRE(open());
    t = job->ranks[0];
    life = d.lives.of[t->ops[1].ids + 4];
    REQUIRE(msim_draft_given(&d, 1, life, &x));
    CHECK_INT(x.dtype, MSIM_DT_F32);
    CHECK_INT(x.device, MSIM_DEV_GPU);
    CHECK_UINT(x.n, 2);
    CHECK_INT(x.dims[1], 3);
    CHECK_UINT(x.storage, d.storage[life]);
    CHECK(!msim_draft_given(&d, 0, life, &x)); /* it makes it */
    CHECK(!msim_draft_given(&d, 2, life, &x));
    done();
}

/* In lists of two, with a number behind; none and one number are no sizes. */
static void test_draft__own(void)
{
    static const int64_t dims[] = {4, 5};
    const struct msim_draft_tensor x[] = {
        {.dtype = MSIM_DT_F16,
         .device = MSIM_DEV_GPU,
         .n = 2,
         .storage = 90,
         .dims = dims},
        {.dtype = MSIM_DT_F32, .device = MSIM_DEV_HOST, .storage = 0},
        {.none = true},
        {.dtype = MSIM_DT_F32,
         .device = MSIM_DEV_GPU,
         .n = 1,
         .storage = 91,
         .dims = dims}};
    const struct msim_arg plain = {.kind = MSIM_ARG_INT, .v.i = 6};
    const struct msim_comm comm = {.peer = 3, .group = 2};
    struct msim_draft_op op = {.name = "own",
                               .at = {5, 1},
                               .in = x,
                               .n_in = 4,
                               .out = x,
                               .n_out = 2,
                               .list = 2,
                               .plain = &plain,
                               .n_plain = 1,
                               .comm = &comm};
    const struct msim_op *made;
    uint32_t index = MSIM_NONE;

    REQUIRE(open());
    CHECK_INT(msim_draft_add(&d, &op, &index), MSIM_OK);
    CHECK_UINT(index, 0);
    made = &d.out->ops[0];
    check_side(made->args, made->ids,
               "L2:2 fp16[4,5]@gpu fp32[]@host L2:2 - fp32[4]@gpu 6; new none "
               "new");
    check_side(made->outs, made->out_ids,
               "L2:2 fp16[4,5]@gpu fp32[]@host; new none");
    CHECK_STR(msim_trace_text(d.out, made->name), "own");
    CHECK_INT(made->kind, MSIM_OP_OPERATOR);
    CHECK_INT(made->scope, 0);
    CHECK_UINT(made->parent, 5);
    CHECK_UINT(made->thread, 1);
    CHECK_UINT(made->comm, 0);
    CHECK_UINT(d.out->comms[0].op, 0);
    CHECK_INT(d.out->comms[0].peer, 3);
    op = (struct msim_draft_op){.name = "mark", .label = true};
    CHECK_INT(msim_draft_add(&d, &op, NULL), MSIM_OK);
    made = &d.out->ops[1];
    CHECK_INT(made->kind, MSIM_OP_ANNOTATION);
    CHECK_INT(made->scope, 7);
    CHECK_UINT(made->args, MSIM_NONE);
    CHECK_UINT(made->ids, MSIM_NONE);
    CHECK_UINT(made->comm, MSIM_NONE);
    /* two that have no storage are two tensors */
    CHECK(d.out->tensor_ids[1].tensor != d.out->tensor_ids[4].tensor);
    done();
}

/* Parts as they are told: others' tensors, a shorter list, another size. */
static void test_draft__parts(void)
{
    const struct msim_trace *t;
    struct msim_draft_part in[3];
    struct msim_draft_parts parts = {.in = in, .n_in = 3};
    const struct msim_draft_how how = {.at = {4, 0}, .later = 2};
    uint32_t first;

    REQUIRE(open());
    t = job->ranks[0];
    first = t->blocks[t->ops[1].args].first;
    in[0] = (struct msim_draft_part){.arg = first, .id = MSIM_NONE, .count = 2};
    in[1] = (struct msim_draft_part){
        .arg = first + 2, .id = t->ops[1].ids + 1, .count = 7};
    in[2] = (struct msim_draft_part){.arg = first + 1,
                                     .id = t->ops[1].ids,
                                     .storage = 777,
                                     .moved = true,
                                     .at = 3};
    CHECK_INT(msim_draft_copy_parts(&d, 1, &how, &parts), MSIM_OK);
    check_side(d.out->ops[0].args, d.out->ops[0].ids,
               "L2:2 " F("7") " " F("10") "; 2 new");
    check_side(d.out->ops[0].outs, d.out->ops[0].out_ids, ";");
    CHECK_UINT(d.out->tensor_ids[1].storage, 777);
    CHECK_INT(d.out->tensor_ids[1].offset, 3);
    CHECK_UINT(d.out->ops[0].parent, 4);
    CHECK_INT(d.out->ops[0].seq, 7);
    CHECK_UINT(d.placed[1], 0);
    done();
}

int main(void)
{
    RUN(test_draft__copies);
    RUN(test_draft__tensors);
    RUN(test_draft__places);
    RUN(test_draft__storages);
    RUN(test_draft__given);
    RUN(test_draft__own);
    RUN(test_draft__parts);
    return check_summary();
}
