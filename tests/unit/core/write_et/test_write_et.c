/*
 * tests/unit/core/write_et/test_write_et.c - a trace that is written and read
 * again is the same.
 */
#include "core/write_et/write_et.h"

#include "tests/unit/loaded.h"

#define ATTRS(id, scope, more)                                                 \
    "\"attrs\": [{\"name\": \"rf_id\", \"value\": " #id                        \
    "}, {\"name\": \"seq_id\", \"value\": 5}, {\"name\": \"scope\", "          \
    "\"value\": " #scope "}, {\"name\": \"tid\", \"value\": 1}, {\"name\": "   \
    "\"fw_tid\", \"value\": 1}" more "]"

#define SIDE(name, values, shapes, types, strides)                             \
    "\"" name "\": {\"values\": [" values "], \"shapes\": [" shapes            \
    "], \"types\": [" types "], \"strides\": [" strides "]}, "
#define NO_OUT SIDE("outputs", "", "", "", "")

/* A slice of rows of 24 (gaps), a transpose (turned), plain ones; lists in
 * lists, all kinds of scalars, texts that JSON must quote. */
static const char TRACE[] =
    "{\"schema\": \"1.1.1\", \"nodes\": ["
    "{\"id\": 2, \"name\": \"[pytorch|profiler|execution_trace|thread]\", "
    "\"ctrl_deps\": 1, " SIDE("inputs", "", "", "", "") NO_OUT ATTRS(
        0, 7,
        "") "},"
            "{\"id\": 9, \"name\": \"aten::a\", \"ctrl_deps\": 3, " SIDE(
                "inputs",
                "[5, 6, 0, 32, 4, \"cuda:0\"], [7, 6, 8, 6, 8, \"cpu\"], [[1, "
                "2], "
                "[], [[10, 11, 0, 2, 1, \"cuda:0\"], \"<None>\"]], -3, 2.5, "
                "\"inf\", "
                "\"nan\", true, \"say \\\"so\\\" \\\\ \", \"<None>\"",
                "[4, 8], [2, 3], [[[], []], [], [[2], []]], [], [], [], [], "
                "[], [], "
                "[]",
                "\"Tensor(float)\", \"Tensor(long int)\", "
                "\"GenericList[GenericList[Int,Int],GenericList[],GenericList["
                "Tensor("
                "c10::Half),None]]\", \"Int\", \"Double\", \"Double\", "
                "\"Double\", "
                "\"Bool\", \"String\", \"None\"",
                "[24, 1], [1, 2], [[[], []], [], [[1], []]], [], [], [], [], "
                "[], [], "
                "[]") SIDE("outputs", "[12, 13, 0, 0, 2, \"cuda:0\"]", "[0, 3]",
                           "\"Tensor(c10::BFloat16)\"", "[3, 1]")
                ATTRS(
                    21, 0,
                    ", {\"name\": \"op_schema\", \"value\": \"aten::a(Tensor "
                    "x) -> "
                    "Tensor\"}, {\"name\": \"tensor_range\", \"value\": "
                    "\"{\\\"1\\\":[-2,40]}\"}") "},"
                                                "{\"id\": 3, \"name\": "
                                                "\"ProfilerStep#7\", "
                                                "\"ctrl_deps\": 2, " SIDE(
                                                    "inputs", "", "", "", "")
                                                    NO_OUT ATTRS(
                                                        20, 7,
                                                        "") "},"
                                                            "{\"id\": 20, "
                                                            "\"name\": "
                                                            "\"record_param_"
                                                            "comms\", "
                                                            "\"ctrl_deps\": "
                                                            "2, " SIDE(
                                                                "inputs",
                                                                "[[5, 6, 0, "
                                                                "32, 4, "
                                                                "\"cuda:0\"]], "
                                                                "4, [\"0\", "
                                                                "\"default_"
                                                                "pg\"], 1, "
                                                                "\"allreduce\","
                                                                " [], [], 0, "
                                                                "1, 4",
                                                                "[[4, 8]], [], "
                                                                "[[], []], [], "
                                                                "[], [], [], "
                                                                "[], [], []",
                                                                "\"GenericList["
                                                                "Tensor(float)]"
                                                                "\", \"Int\", "
                                                                "\"Tuple["
                                                                "String,String]"
                                                                "\", "
                                                                "\"Int\", "
                                                                "\"String\", "
                                                                "\"GenericList["
                                                                "]\", "
                                                                "\"GenericList["
                                                                "]\", \"Int\", "
                                                                "\"Int\", "
                                                                "\"Int\"",
                                                                "[[8, 1]], [], "
                                                                "[[], []], [], "
                                                                "[], [], [], "
                                                                "[], [], []")
                                                                NO_OUT ATTRS(
                                                                    22, 0,
                                                                    ", "
                                                                    "{\"name\":"
                                                                    " \"collect"
                                                                    "ive_"
                                                                    "name\", "
                                                                    "\"value\":"
                                                                    " \"allredu"
                                                                    "ce\"}, "
                                                                    "{\"name\":"
                                                                    " \"in_msg_"
                                                                    "nelems\", "
                                                                    "\"value\":"
                                                                    " 32}, "
                                                                    "{\"name\":"
                                                                    " "
                                                                    "\"out_msg_"
                                                                    "nelems\", "
                                                                    "\"value\":"
                                                                    " 32}, "
                                                                    "{\"name\":"
                                                                    " \"pg_"
                                                                    "name\", "
                                                                    "\"value\":"
                                                                    " \"0\"}, "
                                                                    "{\"name\":"
                                                                    " \"pg_"
                                                                    "size\", "
                                                                    "\"value\":"
                                                                    " 4}") "}]"
                                                                           "}";

static enum msim_status put(void *ctx, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, ctx) == n ? MSIM_OK : MSIM_EWRITE;
}

/* The file of `t`; the caller frees it. */
static char *written(const struct msim_trace *t)
{
    struct msim_error err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!CHECK(out != NULL))
        return NULL;
    CHECK_INT(msim_write_et(t, 0, "test", put, out, NULL, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    fclose(out);
    return text;
}

static struct msim_job *load(const char *text)
{
    struct msim_error err;
    struct msim_job *job =
        load_text_as(text, (struct msim_load_options){.details = true}, &err);

    CHECK_STR(err.text, "");
    return job;
}

static void check_side(const struct msim_trace *a, const struct msim_trace *b,
                       const uint32_t block[2], const uint32_t ids[2])
{
    uint32_t x = ids[0], y = ids[1];
    struct spelled want;

    spell_args(a, block[0], &want);
    CHECK_ARGS(b, block[1], want.text);
    for (uint32_t i = 0; block[0] != MSIM_NONE && i < a->blocks[block[0]].count;
         i++) {
        const struct msim_arg *from = &a->args[a->blocks[block[0]].first + i];
        const struct msim_arg *to = &b->args[b->blocks[block[1]].first + i];

        if (from->kind != MSIM_ARG_TENSOR)
            continue;
        CHECK_UINT(to->layout, from->layout);
        CHECK_UINT(b->tensor_ids[y].storage, a->tensor_ids[x].storage);
        CHECK_UINT(b->tensor_ids[y].tensor, a->tensor_ids[x].tensor);
        CHECK_INT(b->tensor_ids[y].offset, a->tensor_ids[x].offset);
        for (uint32_t k = 0; k < from->n; k++)
            CHECK_INT(b->dims[b->tensor_strides[y] + k],
                      a->dims[a->tensor_strides[x] + k]);
        x++;
        y++;
    }
}

static void check_same(const struct msim_trace *a, const struct msim_trace *b)
{
    if (!CHECK(a->n_ops == b->n_ops))
        return;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const struct msim_op *x = &a->ops[i], *y = &b->ops[i];

        CHECK_STR(msim_trace_text(b, y->name), msim_trace_text(a, x->name));
        CHECK_STR(msim_trace_text(b, y->schema), msim_trace_text(a, x->schema));
        CHECK_UINT(y->parent, x->parent);
        CHECK_UINT(y->end, x->end);
        CHECK_UINT(y->et_id, x->et_id);
        CHECK_UINT(y->rf_id, x->rf_id);
        CHECK_INT(y->seq, x->seq);
        CHECK_UINT(y->scope, x->scope);
        CHECK_UINT(y->kind, x->kind);
        CHECK_UINT(y->fw_thread, x->fw_thread);
        check_side(a, b, (uint32_t[]){x->args, y->args},
                   (uint32_t[]){x->ids, y->ids});
        check_side(a, b, (uint32_t[]){x->outs, y->outs},
                   (uint32_t[]){x->out_ids, y->out_ids});
    }
    CHECK_UINT(b->n_steps, a->n_steps);
    CHECK_UINT(b->n_ranges, a->n_ranges);
    for (uint32_t i = 0; i < a->n_ranges && i < b->n_ranges; i++) {
        CHECK_INT(b->ranges[i].low, a->ranges[i].low);
        CHECK_INT(b->ranges[i].high, a->ranges[i].high);
    }
    if (!CHECK(a->n_comms == b->n_comms))
        return;
    for (uint32_t i = 0; i < a->n_comms; i++) {
        CHECK_INT(b->comms[i].collective, a->comms[i].collective);
        CHECK_INT(b->comms[i].sequence, a->comms[i].sequence);
        CHECK_UINT(b->comms[i].in_elems, a->comms[i].in_elems);
        CHECK_UINT(b->comms[i].out_elems, a->comms[i].out_elems);
        CHECK_UINT(b->comms[i].dtype, a->comms[i].dtype);
    }
    CHECK_UINT(b->world_size, a->world_size);
    CHECK_UINT(b->tf32, a->tf32);
}

static void test_write_et__is_read_again(void)
{
    struct msim_job *a = load(TRACE), *b;
    char *text = a ? written(a->ranks[0]) : NULL;

    b = text ? load(text) : NULL;
    if (CHECK(b != NULL)) {
        CHECK_UINT(a->ranks[0]->n_comms, 1);
        CHECK_UINT(a->ranks[0]->world_size, 4);
        check_same(a->ranks[0], b->ranks[0]);
    }
    free(text);
    msim_job_free(a);
    msim_job_free(b);
}

/* What a label in front says: how fp32 is multiplied. It has a number behind
 * all others, and is no operator of a step. */
static void test_write_et__says_tf32(void)
{
    struct msim_job *a = load(TRACE), *b;
    char *text;

    if (!CHECK(a != NULL))
        return;
    a->ranks[0]->tf32 = true;
    text = written(a->ranks[0]);
    b = text ? load(text) : NULL;
    if (CHECK(b != NULL)) {
        CHECK(b->ranks[0]->tf32);
        CHECK_UINT(b->ranks[0]->n_ops, a->ranks[0]->n_ops + 1);
    }
    free(text);
    msim_job_free(a);
    msim_job_free(b);
}

/* No ids, no results of operators: no execution trace. */
static void test_write_et__refuses(void)
{
    struct msim_job *a = load(TRACE);
    struct msim_error err = {0};
    struct msim_trace *t;

    if (!CHECK(a != NULL))
        return;
    t = a->ranks[0];
    t->has_et = false;
    CHECK_INT(msim_write_et_check(t, &err), MSIM_EUSAGE);
    CHECK(strstr(err.text, "no execution trace") != NULL);
    t->has_et = true;
    t->gpus = 2;
    err = (struct msim_error){0};
    CHECK_INT(msim_write_et_check(t, &err), MSIM_EUSAGE);
    CHECK(strstr(err.text, "several GPUs") != NULL);
    t->gpus = 1;
    CHECK_INT(msim_write_et_check(t, &err), MSIM_OK);
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR)
            t->args[i].device = MSIM_DEV_HOST;
    err = (struct msim_error){0};
    CHECK_INT(msim_write_et_check(t, &err), MSIM_EUSAGE);
    CHECK(strstr(err.text, "off to the host") != NULL);
    msim_job_free(a);
}

int main(void)
{
    RUN(test_write_et__is_read_again);
    RUN(test_write_et__says_tf32);
    RUN(test_write_et__refuses);
    return check_summary();
}
