/*
 * tests/unit/replay/program/test_collectives.c - collectives as statements, and
 * where the waits for them stand.
 */
#include "replay/program/program.h"

#include "tests/unit/loaded.h"

/* An execution trace in the making. */
struct made {
    char text[16384];
    size_t len;
};

MSIM_PRINTF(2, 3)
static void put(struct made *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    m->len +=
        (size_t)vsnprintf(m->text + m->len, sizeof(m->text) - m->len, fmt, ap);
    va_end(ap);
}

/* Every tensor has 8 floats; its id is its storage's. */
#define T(storage) "[" #storage "," #storage ",0,8,4,\"cpu\"]"
#define ONE        "[[8]]", "[\"Tensor(float)\"]"
#define NONE       "[]", "[]", "[]"

static void side(struct made *m, const char *name, const char *values,
                 const char *shapes, const char *types)
{
    put(m, ",\"%s\":{\"values\":%s,\"shapes\":%s,\"types\":%s}", name, values,
        shapes, types);
}

static void begin(struct made *m, unsigned id, unsigned parent,
                  const char *name)
{
    put(m, "%s{\"id\":%u,\"ctrl_deps\":%u,\"name\":\"%s\"",
        m->len ? "," : "{\"schema\":\"1.1.1\",\"nodes\":[", id, parent, name);
}

static void end(struct made *m, const char *schema)
{
    put(m,
        ",\"attrs\":[{\"name\":\"op_schema\",\"value\":\"%s\"},"
        "{\"name\":\"tid\",\"value\":1}]}",
        schema);
}

/* relu of one tensor makes another. */
static void relu(struct made *m, unsigned id, const char *in, const char *out)
{
    begin(m, id, 0, "aten::relu");
    side(m, "inputs", in, ONE);
    side(m, "outputs", out, ONE);
    end(m, "aten::relu(Tensor self) -> Tensor");
}

/* zero_ writes its tensor. */
static void zero(struct made *m, unsigned id, const char *tensor)
{
    begin(m, id, 0, "aten::zero_");
    side(m, "inputs", tensor, ONE);
    side(m, "outputs", tensor, ONE);
    end(m, "aten::zero_(Tensor(a!) self) -> Tensor(a!)");
}

#define GROUP "__torch__.torch.classes.c10d.ProcessGroup process_group"
#define WORK  "__torch__.torch.classes.c10d.Work"
#define ALL_REDUCE(m, id, tensor, async)                                       \
    all_reduce(m, id,                                                          \
               "[[" tensor "],\"<Object>\",\"<Object>\",\"<None>\"," async     \
               ",-1]",                                                         \
               "[[" tensor "],\"<Object>\"]")

static void all_reduce(struct made *m, unsigned id, const char *in,
                       const char *out)
{
    begin(m, id, 0, "c10d::allreduce_");
    side(m, "inputs", in, "[[[8]],[],[],[],[],[]]",
         "[\"GenericList[Tensor(float)]\",\"Object\",\"Object\",\"None\","
         "\"Bool\",\"Int\"]");
    side(m, "outputs", out, "[[[8]],[]]",
         "[\"GenericList[Tensor(float)]\",\"Object\"]");
    end(m, "c10d::allreduce_(Tensor[] tensors, " GROUP
           ", __torch__.torch.classes.c10d.ReduceOp reduce_op, Tensor? "
           "sparse_indices, bool async_op=True, int timeout=-1) -> "
           "(Tensor[], " WORK ")");
}

/* What NCCL records below a collective, which writes tensor 1, or of a wait. */
static void record(struct made *m, unsigned id, unsigned parent, int sequence,
                   const char *name)
{
    bool wait = !strcmp(name, "wait");
    char values[128];

    snprintf(values, sizeof(values),
             wait ? "[%d,[\"\",\"\"],0,\"%s\",[],[],-1,-1,2]"
                  : "[[" T(9) "],%d,[\"0\",\"pg\"],0,\"%s\",[],[],0,1,2]",
             sequence, name);
    begin(m, id, parent, "record_param_comms");
    side(m, "inputs", values,
         wait ? "[[],[[],[]],[],[],[],[],[],[],[]]"
              : "[[[8]],[],[[],[]],[],[],[],[],[],[],[]]",
         wait ? "[\"Int\",\"Tuple[String,String]\",\"Int\",\"String\","
                "\"GenericList[]\",\"GenericList[]\",\"Int\",\"Int\",\"Int\"]"
              : "[\"GenericList[Tensor(float)]\",\"Int\","
                "\"Tuple[String,String]\",\"Int\",\"String\","
                "\"GenericList[]\",\"GenericList[]\",\"Int\",\"Int\",\"Int\"]");
    if (wait)
        side(m, "outputs", NONE);
    else
        side(m, "outputs", "[[" T(1) "]]", "[[[8]]]",
             "[\"GenericList[Tensor(float)]\"]");
    end(m, "");
}

struct program {
    struct msim_job *job;
    struct msim_program *p;
};

static bool make(struct program *out, struct made *m)
{
    struct msim_program_options options = {.step = MSIM_NONE};
    struct msim_error err;

    put(m, "]}");
    out->p = NULL;
    out->job = load_text_as(m->text,
                            (struct msim_load_options){.details = true}, &err);
    if (!out->job)
        fprintf(stderr, "%s\n", err.text);
    return CHECK(out->job != NULL) &&
           CHECK(msim_program_new(&out->p, out->job->ranks[0], &options,
                                  &err) == MSIM_OK);
}

static void drop(struct program *x)
{
    msim_program_free(x->p);
    msim_job_free(x->job);
}

/* Statements as letters: Call, cOllective, Wait. */
static void expect(const struct program *x, const char *want)
{
    char got[32] = "";

    for (uint32_t i = 0; i < x->p->statements.n && i < 31; i++)
        got[i] = "CBOW"[msim_program_statement(x->p, i)->kind];
    CHECK_STR(got, want);
}

/* A wait stands in front of whoever needs what the collective writes. */
static void test_collectives__needed(void)
{
    struct made m = {.len = 0};
    struct program x;
    const struct msim_statement *wait;

    relu(&m, 2, "[" T(9) "]", "[" T(1) "]");
    ALL_REDUCE(&m, 3, T(1), "true");
    relu(&m, 4, "[" T(9) "]", "[" T(2) "]");
    relu(&m, 5, "[" T(1) "]", "[" T(3) "]");
    if (make(&x, &m)) {
        expect(&x, "COCWC");
        wait = msim_program_statement(x.p, 3);
        CHECK_INT(msim_program_operand(x.p, wait->first_in)->index,
                  msim_program_statement(x.p, 1)->first_out);
        CHECK_INT(msim_program_statement(x.p, 1)->n_out, 1);
        CHECK_INT(x.p->n_waits, 1);
        CHECK_INT(x.p->n_collectives, 1);
    }
    drop(&x);
}

/* Nobody needs it: it is waited for at the end. */
static void test_collectives__end(void)
{
    struct made m = {.len = 0};
    struct program x;

    relu(&m, 2, "[" T(9) "]", "[" T(1) "]");
    ALL_REDUCE(&m, 3, T(1), "true");
    relu(&m, 4, "[" T(9) "]", "[" T(2) "]");
    if (make(&x, &m))
        expect(&x, "COCW");
    drop(&x);
}

/* `async_op=False` waits at once, and has no work. */
static void test_collectives__sync(void)
{
    struct made m = {.len = 0};
    struct program x;

    relu(&m, 2, "[" T(9) "]", "[" T(1) "]");
    ALL_REDUCE(&m, 3, T(1), "false");
    relu(&m, 5, "[" T(1) "]", "[" T(3) "]");
    if (make(&x, &m)) {
        expect(&x, "COC");
        CHECK(msim_program_statement(x.p, 1)->sync);
        CHECK_INT(msim_program_statement(x.p, 1)->n_out, 0);
    }
    drop(&x);
}

/* What a collective only reads may be read, and not written. */
static void test_collectives__inputs(void)
{
    struct made m = {.len = 0};
    struct program x;

    relu(&m, 2, "[" T(9) "]", "[" T(1) "]");
    relu(&m, 3, "[" T(9) "]", "[" T(2) "]");
    begin(&m, 4, 0, "c10d::alltoall_base_");
    side(&m, "inputs", "[" T(1) "," T(2) ",\"<Object>\",[],[],true,-1]",
         "[[8],[8],[],[],[],[],[]]",
         "[\"Tensor(float)\",\"Tensor(float)\",\"Object\",\"GenericList[]\","
         "\"GenericList[]\",\"Bool\",\"Int\"]");
    side(&m, "outputs", "[\"<Object>\"]", "[[]]", "[\"Object\"]");
    end(&m, "c10d::alltoall_base_(Tensor output, Tensor input, " GROUP
            ", int[] output_split_sizes, int[] input_split_sizes, bool "
            "async_op=True, int timeout=-1) -> " WORK);
    relu(&m, 5, "[" T(2) "]", "[" T(3) "]");
    zero(&m, 6, "[" T(2) "]");
    if (make(&x, &m))
        expect(&x, "CCOCWC");
    drop(&x);
}

/* NCCL says where the program waited; of another's wait there is no work. */
static void test_collectives__recorded(void)
{
    struct made m = {.len = 0};
    struct program x;

    record(&m, 2, 0, 6, "wait");
    relu(&m, 3, "[" T(9) "]", "[" T(1) "]");
    ALL_REDUCE(&m, 4, T(1), "true");
    record(&m, 5, 4, 7, "allreduce");
    relu(&m, 6, "[" T(1) "]", "[" T(2) "]");
    relu(&m, 7, "[" T(9) "]", "[" T(3) "]");
    record(&m, 8, 0, 7, "wait");
    relu(&m, 10, "[" T(1) "]", "[" T(4) "]");
    if (make(&x, &m)) {
        expect(&x, "COCCWC");
        CHECK_INT(x.p->n_waits, 0);
        CHECK_INT(x.p->left_out.n, 1);
        CHECK_STR(msim_program_left_out(x.p, 0)->reason,
                  "a wait for a collective that began before");
        /* It writes the tensor that its caller made. */
        CHECK_INT(x.p->lives.n, 5);
    }
    drop(&x);
}

/* An operator that returns a tensor with a number above that of a node has seen
 * the node: it ran inside, wherever the trace put it. */
static void test_collectives__ended_early(void)
{
    struct made m = {.len = 0};
    struct program x;

    relu(&m, 2, "[" T(9) "]", "[" T(20) "]");
    relu(&m, 5, "[" T(9) "]", "[" T(20) "]");
    relu(&m, 21, "[" T(20) "]", "[" T(22) "]");
    if (make(&x, &m))
        expect(&x, "CC");
    drop(&x);
}

int main(void)
{
    RUN(test_collectives__needed);
    RUN(test_collectives__end);
    RUN(test_collectives__sync);
    RUN(test_collectives__inputs);
    RUN(test_collectives__recorded);
    RUN(test_collectives__ended_early);
    return check_summary();
}
