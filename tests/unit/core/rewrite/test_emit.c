/*
 * Operators and messages that a change inserts, a draft that becomes a trace,
 * and the ranks and groups of a job that is spread over others.
 */
#include "core/rewrite/split/split.h"
#include "core/rewrite/weave/draft.h"

#include "tests/unit/core/rewrite/trained_step.h"

static struct msim_job *job;
static struct msim_weave w;
static struct msim_draft *d = &w.d;
static const struct msim_draft_place AT = {MSIM_NONE, 0};
static const struct msim_emit_flat X = {12, 1001, MSIM_DT_F16, MSIM_DEV_GPU};
static const struct msim_emit_flat Y = {34, 1002, MSIM_DT_F32, MSIM_DEV_HOST};

static bool begin(void)
{
    memset(&w, 0, sizeof(w));
    job = made_step(5);
    if (!CHECK(job != NULL))
        return false;
    w.t = job->ranks[0];
    return CHECK(msim_draft_begin(d, w.t, job->strings) == MSIM_OK);
}

static void end(void)
{
    msim_draft_release(d);
    msim_job_free(job);
}

static void spell_tensors(struct spelled *to, uint32_t block, uint32_t ids)
{
    const struct msim_trace *o = d->out;

    for (uint32_t i = 0; block != MSIM_NONE && i < o->blocks[block].count;
         i++) {
        const struct msim_arg *a = &o->args[o->blocks[block].first + i];

        spell(to, " %s/%d", msim_dtype_text((enum msim_dtype)a->dtype),
              a->device);
        for (uint32_t k = 0; k < a->n; k++)
            spell(to, "x%lld", (long long)msim_arg_dims(o, a)[k]);
        spell(to, "@%u", o->tensor_ids[ids++].storage);
    }
}

/* "NAME in its parent: tensors -> tensors" */
static void check_emitted(uint32_t i, const char *want)
{
    const struct msim_op *op = &d->out->ops[i];
    struct spelled got = {"", 0};

    spell(&got, "%s", msim_trace_text(d->out, op->name));
    if (op->parent != MSIM_NONE)
        spell(&got, " in %s",
              msim_trace_text(d->out, d->out->ops[op->parent].name));
    spell(&got, ":");
    spell_tensors(&got, op->args, op->ids);
    spell(&got, " ->");
    spell_tensors(&got, op->outs, op->out_ids);
    CHECK_STR(got.text, want);
}

/* 2: GPU, 3: the host's memory. */
static void test_emit__operators(void)
{
    REQUIRE(begin());
    CHECK_INT(msim_emit_empty(d, AT, &X), MSIM_OK);
    CHECK_INT(msim_emit_copy(d, AT, &Y, &X), MSIM_OK);
    CHECK_INT(msim_emit_op(d, AT, "aten::neg", &Y, &X, NULL), MSIM_OK);
    CHECK_INT(msim_emit_op(d, AT, "aten::add", &X, &Y, &X), MSIM_OK);
    CHECK_INT(d->out->n_ops, 4);
    check_emitted(0, "aten::empty: -> fp16/2x12@1001");
    check_emitted(1, "aten::copy_: fp32/3x34@1002 fp16/2x12@1001 -> "
                     "fp32/3x34@1002");
    check_emitted(2, "aten::neg: fp16/2x12@1001 -> fp32/3x34@1002");
    check_emitted(3,
                  "aten::add: fp32/3x34@1002 fp16/2x12@1001 -> fp16/2x12@1001");
    end();
}

static void check_message(uint32_t i, uint64_t in, uint64_t out,
                          int64_t sequence, uint32_t group,
                          enum msim_collective collective)
{
    const struct msim_comm *c = &d->out->comms[i];

    CHECK_INT(c->in_elems, in);
    CHECK_INT(c->out_elems, out);
    CHECK_INT(c->sequence, sequence);
    CHECK_INT(c->peer, -1);
    CHECK_INT(c->group, group);
    CHECK_INT(c->collective, collective);
    CHECK_STR(msim_trace_text(d->out, d->out->ops[c->op].name),
              "record_param_comms");
    CHECK_INT(d->out->ops[c->op].comm, i);
}

/* A name of NCCL's is a label in what c10d records. */
static void test_emit__messages(void)
{
    struct msim_emit_message m = {.name = "record_param_comms",
                                  .collective = MSIM_COLL_ALL_GATHER,
                                  .sequence = 7,
                                  .in = X,
                                  .out = Y};

    REQUIRE(begin());
    d->out->world_size = 2;
    d->group = 3;
    CHECK_INT(msim_emit_collective(d, AT, &m), MSIM_OK);
    CHECK_INT(d->out->n_ops, 1);
    check_message(0, 12, 34, 7, 3, MSIM_COLL_ALL_GATHER);
    CHECK_INT(d->out->comms[0].dtype, MSIM_DT_F16);
    m.name = "nccl:all_gather";
    m.elems = 5;
    CHECK_INT(msim_emit_collective(d, AT, &m), MSIM_OK);
    CHECK_INT(d->out->n_ops, 3);
    check_emitted(1, "record_param_comms: fp16/2x12@1001 fp32/3x34@1002 ->");
    check_emitted(2, "nccl:all_gather in record_param_comms: ->");
    CHECK_INT(d->out->ops[1].kind, MSIM_OP_OPERATOR);
    CHECK_INT(d->out->ops[2].kind, MSIM_OP_ANNOTATION);
    check_message(1, 5, 5, 7, 3, MSIM_COLL_ALL_GATHER);
    CHECK_INT(d->out->n_comms, 2);
    end();
}

/* One rank alone moves nothing. */
static void test_emit__one_rank(void)
{
    const struct msim_emit_message m = {.name = "record_param_comms",
                                        .collective = MSIM_COLL_ALL_REDUCE,
                                        .in = X,
                                        .out = X};

    REQUIRE(begin());
    d->out->world_size = 1;
    CHECK_INT(msim_emit_collective(d, AT, &m), MSIM_OK);
    check_message(0, 12, 12, 0, MSIM_NONE, MSIM_COLL_UNKNOWN);
    d->out->world_size = 2;
    CHECK_INT(msim_emit_collective(d, AT, &m), MSIM_OK);
    check_message(1, 12, 12, 0, MSIM_NONE, MSIM_COLL_ALL_REDUCE);
    end();
}

static void test_emit__waits(void)
{
    REQUIRE(begin());
    d->group = 2;
    CHECK_INT(msim_emit_wait(d, AT, 9), MSIM_OK);
    CHECK_INT(d->out->n_ops, 1);
    check_emitted(0, "record_param_comms: ->");
    check_message(0, 0, 0, 9, 2, MSIM_COLL_WAIT);
    CHECK_INT(msim_emit_recorded_wait(d, AT, 8), MSIM_OK);
    CHECK_INT(d->out->n_ops, 3);
    check_emitted(2, "nccl:wait in record_param_comms: ->");
    check_message(1, 0, 0, 8, 2, MSIM_COLL_WAIT);
    end();
}

/* Operators by thread, in their order; parents, ends and messages follow. */
static void test_emit__finished(void)
{
    struct msim_draft_place at = {MSIM_NONE, 1};
    struct msim_trace *t;

    REQUIRE(begin());
    d->out->threads = realloc(d->out->threads, 2 * sizeof(*d->out->threads));
    d->out->threads[1] = (struct msim_thread){.tid = 2};
    d->out->n_threads = 2;
    CHECK_INT(msim_emit_empty(d, at, &X), MSIM_OK);        /* 3 then */
    CHECK_INT(msim_emit_recorded_wait(d, AT, 8), MSIM_OK); /* 0, 1 */
    CHECK_INT(msim_emit_recorded_wait(d, at, 9), MSIM_OK); /* 4, 5 */
    CHECK_INT(msim_emit_empty(d, AT, &Y), MSIM_OK);        /* 2 */
    CHECK_INT(msim_draft_finish(d, &t), MSIM_OK);
    CHECK(!d->out);
    REQUIRE(t->n_ops == 6);
    {
        static const uint32_t PARENT[] = {MSIM_NONE, 0,         MSIM_NONE,
                                          MSIM_NONE, MSIM_NONE, 4};
        static const uint32_t END[] = {2, 2, 3, 4, 6, 6};
        static const uint32_t TOP[] = {0, 0, 2, 3, 4, 4};

        for (uint32_t i = 0; i < 6; i++) {
            CHECK_INT(t->ops[i].parent, PARENT[i]);
            CHECK_INT(t->ops[i].end, END[i]);
            CHECK_INT(t->ops[i].thread, i > 2);
            CHECK_INT(t->topmost[i], TOP[i]);
        }
    }
    CHECK_INT(t->comms[0].op, 0);
    CHECK_INT(t->comms[1].op, 4);
    CHECK_INT(t->threads[0].op_begin, 0);
    CHECK_INT(t->threads[0].op_end, 3);
    CHECK_INT(t->threads[1].op_begin, 3);
    CHECK_INT(t->threads[1].op_end, 6);
    msim_trace_free(t);
    end();
}

/* ---- ranks and groups -----------------------------------------------------
 */

static void check_group(uint32_t g, const char *name, const char *ranks)
{
    const struct msim_group *x = &d->out->groups[g];
    struct spelled got = {"", 0};

    for (uint32_t i = 0; i < x->count; i++)
        spell(&got, "%s%d", i ? " " : "", d->out->group_ranks[x->first + i]);
    CHECK_STR(got.text, ranks);
    CHECK_STR(msim_trace_text(d->out, x->name), name);
}

/* 2 recorded, dp 2, pp 2: 0 1 | 2 3, and 4 5 | 6 7. Rank 1 of them. */
static void test_rank_groups__stages(void)
{
    const struct msim_rank_layout first = {2, 2, 2, 0}, second = {2, 2, 2, 1};
    uint32_t listed, group;
    int32_t place = 9;

    REQUIRE(begin());
    CHECK_INT(msim_draft_add_group(d, "pair", 2, 0, 1, &listed), MSIM_OK);
    job->ranks[0]->rank = 1;
    CHECK_INT(msim_rank_groups_begin(&w, &second), MSIM_OK);
    CHECK_INT(d->out->rank, 5);
    CHECK_INT(d->out->world_size, 8);
    check_group(listed, "pair", "4 5");
    check_group(listed + 1, MSIM_WEAVE_DATA_GROUP " 5", "5 7");
    CHECK_INT(msim_rank_groups_pair(&w, &second, "tied", 0, &group, &place),
              MSIM_OK);
    check_group(group, "tied 1", "1 5");
    CHECK_INT(place, 0);
    d->out->rank = 1;
    CHECK_INT(msim_rank_groups_pair(&w, &first, "tied", 1, &group, &place),
              MSIM_OK);
    check_group(group, "tied 1", "1 5");
    CHECK_INT(place, 1);
    end();
}

/* Groups that list no ranks: all recorded ones, or of another name. Without
 * copies there is no group of them. */
static void test_rank_groups__without_lists(void)
{
    const struct msim_rank_layout l = {4, 1, 2, 1};
    uint32_t all, some, n;

    REQUIRE(begin());
    CHECK_INT(msim_draft_add_group(d, "all", 0, 0, 1, &all), MSIM_OK);
    CHECK_INT(msim_draft_add_group(d, "some", 0, 0, 1, &some), MSIM_OK);
    d->out->groups[all].size = 4;
    d->out->groups[some].size = 2;
    n = d->out->n_groups;
    CHECK_INT(msim_rank_groups_begin(&w, &l), MSIM_OK);
    CHECK_INT(d->out->n_groups, n);
    check_group(all, "all", "4 5 6 7");
    check_group(some, "some of stage 1", "");
    CHECK_INT(d->out->n_group_ranks, d->out->groups[all].first + 4);
    end();
    /* a rank that says no number is the first */
    REQUIRE(begin());
    job->ranks[0]->rank = -1;
    CHECK_INT(msim_rank_groups_begin(&w, &l), MSIM_OK);
    CHECK_INT(d->out->rank, 4);
    end();
}

/* So many ranks are listed, no more. */
static void test_rank_groups__many(void)
{
    for (uint32_t more = 0; more < 2; more++) {
        const struct msim_rank_layout l = {MSIM_DRAFT_LISTED + more, 1, 2, 1};
        uint32_t all;

        REQUIRE(begin());
        CHECK_INT(msim_draft_add_group(d, "all", 0, 0, 1, &all), MSIM_OK);
        d->out->groups[all].size = l.recorded;
        CHECK_INT(msim_rank_groups_begin(&w, &l), MSIM_OK);
        CHECK_INT(d->out->groups[all].count, more ? 0 : MSIM_DRAFT_LISTED);
        end();
    }
}

/* Messages of all recorded ranks, and to one of them, are a stage further on;
 * messages by place, waits and what has a group are not. */
static void test_rank_groups__messages(void)
{
    const struct msim_rank_layout l = {2, 1, 2, 1};
    static const struct msim_comm COMMS[] = {
        {.group = MSIM_NONE, .peer = -1, .collective = MSIM_COLL_ALL_REDUCE},
        {.group = MSIM_NONE, .peer = 1, .collective = MSIM_COLL_BROADCAST},
        {.group = 0, .peer = -1, .collective = MSIM_COLL_ALL_REDUCE},
        {.group = MSIM_NONE, .peer = -1, .collective = MSIM_COLL_WAIT},
        {.group = MSIM_NONE, .peer = 0, .collective = MSIM_COLL_SEND},
        {.group = MSIM_NONE,
         .peer = 1,
         .collective = MSIM_COLL_RECV,
         .by_place = true},
    };
    static const int32_t PEERS[] = {-1, 3, -1, -1, 2, 1};
    uint32_t n;

    REQUIRE(begin());
    d->out->comms = malloc(sizeof(COMMS));
    memcpy(d->out->comms, COMMS, sizeof(COMMS));
    d->out->n_comms = d->out->cap_comms = 6;
    n = d->out->n_groups;
    CHECK_INT(msim_rank_groups_end(&w, &l), MSIM_OK);
    CHECK_INT(d->out->n_groups, n + 1);
    check_group(n, "recorded ranks of stage 1", "2 3");
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_INT(d->out->comms[i].peer, PEERS[i]);
        CHECK_INT(d->out->comms[i].group, i < 2 ? n : i == 2 ? 0 : MSIM_NONE);
    }
    end();
}

int main(void)
{
    RUN(test_emit__operators);
    RUN(test_emit__messages);
    RUN(test_emit__one_rank);
    RUN(test_emit__waits);
    RUN(test_emit__finished);
    RUN(test_rank_groups__stages);
    RUN(test_rank_groups__without_lists);
    RUN(test_rank_groups__many);
    RUN(test_rank_groups__messages);
    return check_summary();
}
