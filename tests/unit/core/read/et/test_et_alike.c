/*
 * tests/unit/core/read/et/test_et_alike.c - nodes that are one that was read,
 * but for numbers, become the same rows as where each is read by itself.
 */
#include "core/trace/trace_columns.h"
#include "tests/unit/loaded.h"

#define NODES 40

/* Nodes in the words of a step; where `apart`, no two are alike, since each has
 * a member of its own that nobody reads. */
struct text {
    char text[128 << 10];
    size_t len;
    bool apart;
    unsigned n;
};

static struct text alike, apart;

MSIM_PRINTF(2, 3)
static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->len +=
        (size_t)vsnprintf(t->text + t->len, sizeof(t->text) - t->len, fmt, ap);
    va_end(ap);
    REQUIRE(t->len < sizeof(t->text));
}

static void attrs(struct text *t, unsigned id, int seq, const char *more)
{
    say(t,
        "\"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": "
        "%u}, {\"name\": \"fw_parent\", \"type\": \"uint64\", \"value\": %u}, "
        "{\"name\": \"seq_id\", \"type\": \"int64\", \"value\": %d}, "
        "{\"name\": "
        "\"scope\", \"type\": \"uint64\", \"value\": 0}, {\"name\": \"tid\", "
        "\"type\": \"uint64\", \"value\": %d}, {\"name\": \"fw_tid\", "
        "\"type\": "
        "\"uint64\", \"value\": 0}, {\"name\": \"op_schema\", \"type\": "
        "\"string\", \"value\": \"f()\"}%s]",
        id + 1000, id / 2, seq, 1 + (id % 16 == 7), more);
    if (t->apart)
        say(t, ", \"apart\": \"%u\"", t->n);
    t->n++;
    say(t, "},\n");
}

/* A product of a tensor that it gets, and one that it makes. */
static void linear(struct text *t, unsigned id, const char *more)
{
    say(t,
        "{\"id\": %u, \"name\": \"aten::linear\", \"ctrl_deps\": 2, "
        "\"inputs\": {\"values\": [[%u, %u, %u, 8, 4, \"cuda:0\"], [5, 6, 0, "
        "12, 4, \"cuda:0\"], [35, 0, 0, 0, 0, \"\"], [%u, 2], \"<None>\"], "
        "\"shapes\": [[2, 4], [3, 4], [], [[], []], []], \"types\": "
        "[\"Tensor(float)\", \"Tensor(float)\", \"Tensor(nullptr "
        "(uninitialized))\", \"GenericList[Int,Int]\", \"None\"], "
        "\"strides\": [[4, 1], [4, 1], [], [[], []], []]}, \"outputs\": "
        "{\"values\": [[%u, %u, 0, 6, 4, \"cuda:0\"], %u], \"shapes\": [[2, "
        "3], []], \"types\": [\"Tensor(float)\", \"Int\"], \"strides\": [[3, "
        "1], []]}, ",
        id, id + 1, id + 2, id % 3, id % 4, id + 3, id + 4, id % 5);
    attrs(t, id, (int)id - 20, more);
}

static void collective(struct text *t, unsigned id, unsigned sequence)
{
    say(t,
        "{\"id\": %u, \"name\": \"record_param_comms\", \"ctrl_deps\": 2, "
        "\"inputs\": {\"values\": [[[%u, %u, 0, 8, 4, \"cuda:0\"]], %u, "
        "[\"g\", \"g\"], 0, \"allreduce\", [], [], 0, 1, 2], \"shapes\": "
        "[[[8]], [], [[], []], [], [], [], [], [], [], []], \"types\": "
        "[\"GenericList[Tensor(float)]\", \"Int\", \"Tuple[String,String]\", "
        "\"Int\", \"String\", \"GenericList[]\", \"GenericList[]\", \"Int\", "
        "\"Int\", \"Int\"]}, \"outputs\": {\"values\": [], \"shapes\": [], "
        "\"types\": []}, ",
        id, id + 1, id + 2, sequence);
    attrs(t, id, -1,
          ", {\"name\": \"pg_name\", \"type\": \"string\", \"value\": \"g\"}, "
          "{\"name\": \"pg_size\", \"type\": \"uint64\", \"value\": 2}");
}

static void write_step(struct text *t, bool each_apart)
{
    *t = (struct text){.apart = each_apart};
    say(t, "{\"schema\": \"1.1.1\", \"pid\": 1, \"nodes\": [\n");
    for (unsigned i = 0; i < NODES; i++) {
        linear(t, 10 + 2 * i, i % 4 == 3 ? ", {\"name\": \"x\"}" : "");
        collective(t, 11 + 2 * i, i / 2);
    }
    say(t, "{\"id\": 2, \"name\": \"[pytorch|profiler|execution_trace|thread]"
           "\", \"ctrl_deps\": 1, \"inputs\": {}, \"outputs\": {}, \"attrs\": "
           "[{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]}]}");
}

static struct msim_job *load(const struct text *t, bool details)
{
    struct msim_error err;
    struct msim_job *job = load_text_as(
        t->text, (struct msim_load_options){.details = details}, &err);

    CHECK_STR(job ? "" : err.text, "");
    return job;
}

/* Columns of `n` rows without gaps. */
#define CHECK_COLUMN(a, b, column, n)                                          \
    do {                                                                       \
        CHECK_UINT((a)->n, (b)->n);                                            \
        CHECK((a)->n == (b)->n &&                                              \
              ((a)->n == 0 || !memcmp((a)->column, (b)->column,                \
                                      (a)->n * sizeof(*(a)->column))));        \
    } while (0)

static void check_ops(const struct msim_trace *a, const struct msim_trace *b)
{
    REQUIRE(a->n_ops == b->n_ops);
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const struct msim_op *x = &a->ops[i], *y = &b->ops[i];

        CHECK_STR(msim_trace_text(a, x->name), msim_trace_text(b, y->name));
        CHECK_STR(msim_trace_text(a, x->schema), msim_trace_text(b, y->schema));
        CHECK(x->rf_id == y->rf_id && x->et_id == y->et_id);
        CHECK(x->parent == y->parent && x->end == y->end);
        CHECK(x->args == y->args && x->outs == y->outs);
        CHECK(x->ids == y->ids && x->out_ids == y->out_ids);
        CHECK(x->comm == y->comm && x->seq == y->seq);
        CHECK(x->thread == y->thread && x->fw_thread == y->fw_thread);
        CHECK(x->kind == y->kind && x->scope == y->scope);
    }
}

static void check_alike(bool details)
{
    struct msim_job *job[2] = {load(&alike, details), load(&apart, details)};
    const struct msim_trace *a, *b;

    REQUIRE(job[0] && job[1]);
    a = job[0]->ranks[0];
    b = job[1]->ranks[0];
    check_ops(a, b);
    CHECK_COLUMN(a, b, tensor_ids, n_tensor_ids);
    CHECK_COLUMN(a, b, tensor_strides, n_tensor_strides);
    CHECK_COLUMN(a, b, blocks, n_blocks);
    CHECK_COLUMN(a, b, dims, n_dims);
    CHECK_UINT(a->n_args, b->n_args);
    REQUIRE(a->n_comms == b->n_comms);
    for (uint32_t i = 0; i < a->n_comms; i++)
        CHECK(!memcmp(&a->comms[i], &b->comms[i], sizeof(a->comms[i])));
    CHECK_UINT(a->import.read, b->import.read);
    CHECK_UINT(a->import.records, b->import.records);
    msim_job_free(job[0]);
    msim_job_free(job[1]);
}

static void test_et_alike__rows_are_the_same(void)
{
    write_step(&alike, false);
    write_step(&apart, true);
    check_alike(false);
    check_alike(true);
}

static void test_et_alike__numbers_are_their_own(void)
{
    struct msim_job *job;
    const struct msim_trace *t;
    uint32_t op;

    write_step(&alike, false);
    job = load(&alike, false);
    REQUIRE(job);
    t = job->ranks[0];
    op = find_op(t, "aten::linear", 2);
    REQUIRE(op != MSIM_NONE && t->ops[op].et_id == 14);
    CHECK_UINT(t->ops[op].rf_id, 1014);
    CHECK_INT(t->ops[op].seq, -1);
    CHECK_ARGS(t, t->ops[op].args, "fp32[2,4]@gpu fp32[3,4]@gpu - L2:2 2 2 -");
    CHECK_ARGS(t, t->ops[op].outs, "fp32[2,3]@gpu 4");
    CHECK_UINT(t->tensor_ids[t->ops[op].ids].tensor, 15);
    CHECK_UINT(t->tensor_ids[t->ops[op].ids].storage, 16);
    CHECK_INT(t->tensor_ids[t->ops[op].ids].offset, 2);
    CHECK_UINT(t->tensor_ids[t->ops[op].out_ids].tensor, 17);
    op = find_op(t, "aten::linear", 10);
    CHECK_INT(t->ops[op].seq, 10);
    for (op = 0; op < t->n_ops; op++)
        if (t->ops[op].comm != MSIM_NONE)
            CHECK_INT(t->comms[t->ops[op].comm].sequence,
                      (t->ops[op].et_id - 11) / 4);
    msim_job_free(job);
}

/* A node by the text of its id. */
static void relu(struct text *t, const char *id)
{
    say(t,
        "%s{\"id\": %s, \"name\": \"aten::relu\", \"ctrl_deps\": 2, "
        "\"inputs\": {\"values\": [%s], \"shapes\": [[]], \"types\": "
        "[\"Int\"]}, \"outputs\": {}}",
        t->n++ ? ", " : "", id, id);
}

/* A number that no row can have, or that is none, is what it is in any node. */
static void test_et_alike__ids_are_checked(void)
{
    static const struct {
        const char *id;
        enum msim_status status;
    } odd[] = {
        {"12", MSIM_OK},
        {"4294967294", MSIM_OK},
        {"4294967295", MSIM_EFORMAT},
        {"-7", MSIM_EFORMAT},
        {"0000000007", MSIM_ESYNTAX},
        {"1e1", MSIM_EFORMAT}, /* 10 again */
        {"15.5", MSIM_OK},
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        struct msim_error err;
        struct msim_job *job;

        alike = (struct text){0};
        say(&alike, "{\"schema\": \"1.1.1\", \"nodes\": [");
        relu(&alike, "10");
        relu(&alike, "11");
        relu(&alike, odd[i].id);
        say(&alike, "]}");
        job = load_text(alike.text, false, &err);
        CHECK_INT(job ? MSIM_OK : err.status, odd[i].status);
        if (job)
            CHECK_UINT(job->ranks[0]->n_ops, 3);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_et_alike__rows_are_the_same);
    RUN(test_et_alike__numbers_are_their_own);
    RUN(test_et_alike__ids_are_checked);
    return check_summary();
}
