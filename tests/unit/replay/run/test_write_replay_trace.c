/*
 * A replay that was made up, as trace events of PyTorch's profiler.
 */
#include "replay/run/replay_plan.h"

#include "tests/unit/made_ops.h"

struct made {
    struct build b;
    struct msim_plan_op planned[8];
    uint32_t order[16];
    struct msim_replay_plan plan;
    double at[2][16], time[2][16];
    struct msim_replay_round rounds[2];
    struct msim_replay_runs runs;
    struct msim_replay_figures figures;
    struct msim_replay r;
};

static void begin(struct made *m, const char *greeting)
{
    memset(m, 0, sizeof(*m));
    build_init(&m->b);
    m->plan.trace = &m->b.t;
    m->plan.ops.data = m->planned;
    m->plan.order.data = m->order;
    for (int i = 0; i < 2; i++)
        m->rounds[i] = (struct msim_replay_round){.at_us = m->at[i],
                                                  .time_us = m->time[i]};
    m->runs = (struct msim_replay_runs){.rounds = m->rounds, .n = 1};
    m->figures.utilization = NAN;
    m->r = (struct msim_replay){.plan = &m->plan,
                                .runs = &m->runs,
                                .figures = &m->figures,
                                .greeting = cJSON_Parse(greeting)};
}

/* The operator `op` runs in elements that begin then, each of 2 us. */
static void plan(struct made *m, uint32_t op, enum msim_family family,
                 uint32_t n, double at)
{
    m->planned[m->plan.ops.n++] = (struct msim_plan_op){
        .op = op, .family = (uint8_t)family, .first = m->plan.order.n, .n = n};
    for (uint32_t i = 0; i < n; i++, m->plan.order.n++)
        for (int round = 0; round < 2; round++) {
            m->at[round][m->plan.order.n] = at + 10 * i;
            m->time[round][m->plan.order.n] = 2;
        }
}

static char *as_file(const struct made *m)
{
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_replay_write_trace(&m->r, &j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    return text;
}

/* The file, or a member of it, on one line; it lives until the next one. */
static const char *written(const struct made *m, const char *from)
{
    static char line[16384];
    char *text = as_file(m);
    cJSON *tree = cJSON_Parse(text);

    line[0] = '\0';
    CHECK(cJSON_PrintPreallocated(
        from ? cJSON_GetObjectItemCaseSensitive(tree, from) : tree, line,
        sizeof(line), false));
    cJSON_Delete(tree);
    free(text);
    return line;
}

static void end(struct made *m)
{
    cJSON_Delete((cJSON *)m->r.greeting);
    build_release(&m->b);
}

#define EVENT(cat, name, pid, tid, ts, dur, args)                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid    \
    ",\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur                           \
    ",\"args\":{\"External id\":" args "}}"
#define NO_INPUTS ",\"Input Dims\":[],\"Input type\":[],\"Concrete Inputs\":[]"
#define LAUNCH(name, op, nth, ts, dur)                                         \
    EVENT("cuda_runtime", "cudaLaunchKernel", 1, 3, ts, 0,                     \
          #op ",\"correlation\":" #nth)                                        \
    "," EVENT("kernel", name, 0, 7, ts, dur,                                   \
              #op ",\"correlation\":" #nth ",\"device\":0,\"stream\":7")

/* A root around a step's mark around a label around two operators, one of
 * which has one inside, and a fourth that was not run. */
static void add_step(struct made *m)
{
    static const uint8_t KINDS[] = {MSIM_OP_ROOT, MSIM_OP_ANNOTATION,
                                    MSIM_OP_ANNOTATION};
    static const char *const NAMES[] = {"root", "ProfilerStep#9", "forward"};
    struct build *b = &m->b;

    for (uint32_t i = 0; i < 3; i++)
        b->ops[build_op(b, i, NAMES[i], "", NULL)].kind = KINDS[i];
    build_op(b, 3, "a", "", NULL);
    build_op(b, 4, "b", "", NULL);
    build_op(b, 3, "c", "", NULL);
    build_op(b, 3, "d", "", NULL);
    for (uint32_t i = 0; i < b->t.n_ops; i++)
        b->ops[i].thread = 2;
    b->ops[4].seq = 0;
    plan(m, 4, MSIM_FAMILY_GEMM, 2, 1);
    plan(m, 5, MSIM_FAMILY_COPY, 1, 0.25);
    plan(m, 6, MSIM_FAMILY_GEMM, 0, 40);
    plan(m, 6, MSIM_FAMILY_GEMM, 1, 90);
    m->plan.ops.n--; /* what stands behind the last is none */
    m->plan.order.n--;
    m->rounds[0].us = 20;
    m->rounds[1].us = 30;
}

/* Are these the events, and no others? */
static void check_events(const char *text, const char *const *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(want[i]);

        CHECK_INT(*text++, i ? ',' : '[');
        if (!CHECK(strncmp(text, want[i], length) == 0)) {
            fprintf(stderr, "%.400s\n, want %s\n", text, want[i]);
            return;
        }
        text += length;
    }
    CHECK_STR(text, "]");
}

/* Operators span what runs in them, from 1 us on; ids count on. */
static void test_trace__on_a_cpu(void)
{
    static const char *const EVENTS[] = {
        EVENT("user_annotation", "ProfilerStep#0", 1, 3, 1, 20, "1"),
        EVENT("user_annotation", "forward", 1, 3, 1.25, 12.75, "4"),
        EVENT("cpu_op", "a", 1, 3, 2, 12, "5" NO_INPUTS),
        EVENT("cpu_op", "b", 1, 3, 2, 12, "6,\"Sequence number\":0" NO_INPUTS),
        EVENT("cpu_op", "c", 1, 3, 1.25, 2, "7" NO_INPUTS)};
    static const char HEAD[] =
        "{\"schemaVersion\":1,\"generator\":\"mystique-sim/replay/1\","
        "\"mystiqueSystem\":{},\"traceEvents\":[";
    struct made m;

    begin(&m, "{\"device\":{\"kind\":\"cpu\"}}");
    add_step(&m);
    check_events(written(&m, "traceEvents"), EVENTS, 5);
    CHECK(strncmp(written(&m, NULL), HEAD, strlen(HEAD)) == 0);
    end(&m);
}

/* The second iteration begins a microsecond behind the first, and its ids are
 * those of 7 operators, 3 elements and a mark further. */
static void test_trace__kernels_of_two_iterations(void)
{
    static const char *const FIRST = LAUNCH("gemm", 6, 9, 2, 2) "," LAUNCH(
        "gemm", 6, 10, 12, 2) "," LAUNCH("copy", 7, 11, 1.25, 2) ",";
    static const char *const SECOND[] = {
        EVENT("user_annotation", "ProfilerStep#1", 1, 3, 22, 30, "12"),
        EVENT("cpu_op", "a", 1, 3, 23, 12, "16" NO_INPUTS),
        LAUNCH("gemm", 17, 20, 23, 2) ",", LAUNCH("copy", 18, 22, 22.25, 2)};
    struct made m;
    const char *text;

    begin(&m, "{\"device\":{\"kind\":\"gpu\"}}");
    add_step(&m);
    m.runs.n = 2;
    text = strstr(written(&m, "traceEvents"), FIRST);
    for (size_t i = 0; i < sizeof(SECOND) / sizeof(*SECOND); i++) {
        REQUIRE(text != NULL); /* each behind the one before */
        text = strstr(text, SECOND[i]);
    }
    REQUIRE(text != NULL);
    CHECK_STR(text + strlen(SECOND[3]), "]");
    end(&m);
}

/* Sums are rounded, not what is added: 0.0004 from 1.0004 is 0 from 1, and to
 * 1.0008 is to 1.001. */
static void test_trace__nanoseconds(void)
{
    static const char *const EVENTS[] = {
        EVENT("user_annotation", "ProfilerStep#0", 1, 1, 1, 0.002, "1"),
        EVENT("cpu_op", "a", 1, 1, 1, 0.001, "2" NO_INPUTS)};
    struct made m;

    begin(&m, "{}");
    build_op(&m.b, 0, "a", "", NULL);
    plan(&m, 0, MSIM_FAMILY_GEMM, 1, 0.0004);
    m.time[0][0] = 0.0004;
    m.rounds[0].us = 0.0016;
    check_events(written(&m, "traceEvents"), EVENTS, 2);
    end(&m);
}

/* ---- inputs -------------------------------------------------------------- */

static void check_inputs(const char *args, const char *strings,
                         const char *want)
{
    struct made m;

    begin(&m, "{}");
    build_op(&m.b, 0, "a", args, NULL);
    for (uint32_t i = 0; strings && i < m.b.t.n_args; i++)
        if (m.b.args[i].kind == MSIM_ARG_NONE)
            m.b.args[i] = (struct msim_arg){.kind = MSIM_ARG_STR,
                                            .v.i = build_text(&m.b, strings)};
    plan(&m, 0, MSIM_FAMILY_GEMM, 1, 0);
    if (!CHECK(strstr(written(&m, "traceEvents"), want) != NULL))
        fprintf(stderr, "%s\n", written(&m, "traceEvents"));
    end(&m);
}

#define INPUTS(dims, types, values)                                            \
    "\"Input Dims\":[" dims "],\"Input type\":[" types                         \
    "],\"Concrete Inputs\":[" values "]}}"

static void test_inputs__every_kind(void)
{
    check_inputs("f32[2,3] f16[]", NULL,
                 INPUTS("[2,3],[]", "\"float\",\"c10::Half\"", "\"\",\"\""));
    check_inputs("-7 0.5 true false none", NULL,
                 INPUTS("[],[],[],[],[]",
                        "\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\",\"\"",
                        "\"-7\",\"0.5\",\"True\",\"False\",\"\""));
    check_inputs("none", "word", INPUTS("[]", "\"Scalar\"", "\"word\""));
    check_inputs("(1 2 0.1) 3", NULL,
                 INPUTS("[],[]", "\"ScalarList\",\"Scalar\"",
                        "\"[1, 2, 0.10000000000000001]\",\"3\""));
    check_inputs("()", NULL, INPUTS("[]", "\"ScalarList\"", "\"[]\""));
    check_inputs(
        "(f32[2] f32[3,1]) 1", NULL,
        INPUTS("[[2],[3,1]],[]", "\"TensorList\",\"Scalar\"", "\"\",\"1\""));
    check_inputs("(f32[2] none)", NULL,
                 INPUTS("[[2]]", "\"TensorList\"", "\"\""));
    check_inputs("(none f32[2])", NULL,
                 INPUTS("[]", "\"ScalarList\"", "\"[, ]\""));
}

static void test_inputs__every_type(void)
{
    static const char *const WORDS[] = {"",
                                        "double",
                                        "float",
                                        "c10::Half",
                                        "c10::BFloat16",
                                        "c10::Float8_e4m3fn",
                                        "long int",
                                        "int",
                                        "short",
                                        "signed char",
                                        "unsigned char",
                                        "bool",
                                        "c10::complex<float>",
                                        "c10::complex<double>",
                                        "c10::Float4_e2m1fn_x2",
                                        "odd"};
    struct made m;
    char want[80];

    begin(&m, "{}");
    build_op(&m.b, 0, "a", "f32[2]", NULL);
    plan(&m, 0, MSIM_FAMILY_GEMM, 1, 0);
    for (uint8_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        m.b.args[0].dtype = i;
        snprintf(want, sizeof(want), "\"Input type\":[\"%s\"]", WORDS[i]);
        CHECK(strstr(written(&m, NULL), want) != NULL);
    }
    end(&m);
}

/* What is longer than 4095 bytes is cut. */
static void test_inputs__long(void)
{
    struct made m;
    const char *text;

    begin(&m, "{}");
    build_op(&m.b, 0, "a", "()", NULL);
    for (uint32_t i = 1; i <= 1000; i++)
        m.b.args[i] = (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = 12345};
    m.b.args[0].n = 1000;
    m.b.args[0].v.i = 1000;
    plan(&m, 0, MSIM_FAMILY_GEMM, 1, 0);
    text = strstr(written(&m, NULL), "\"[12345, 12345, ");
    REQUIRE(text != NULL);
    CHECK_INT(strcspn(text + 1, "\""), 4095);
    end(&m);
}

/* An event is a line, which other programs look for. */
static void test_trace__lines(void)
{
    struct made m;
    char *text;

    begin(&m, "{\"device\":{\"kind\":\"gpu\",\"name\":\"g\"}}");
    build_op(&m.b, 0, "a", "f32[2] (1 2)", NULL);
    plan(&m, 0, MSIM_FAMILY_GEMM, 1, 0);
    text = as_file(&m);
    CHECK_STR(text,
              "{\n"
              "  \"schemaVersion\": 1,\n"
              "  \"generator\": \"mystique-sim/replay/1\",\n"
              "  \"deviceProperties\": [{\"id\": 0, \"name\": \"g\", "
              "\"totalGlobalMem\": "
              "0, \"numSms\": 0}],\n"
              "  \"mystiqueSystem\": {},\n"
              "  \"traceEvents\": [\n"
              "    {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
              "\"ProfilerStep#0\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": "
              "0, \"args\": {\"External id\": 1}},\n"
              "    {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", "
              "\"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2, \"args\": "
              "{\"External id\": 2, \"Input Dims\": [[2], []], \"Input "
              "type\": [\"float\", \"ScalarList\"], \"Concrete Inputs\": "
              "[\"\", \"[1, 2]\"]}},\n"
              "    {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
              "\"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": 1, "
              "\"dur\": 0, \"args\": {\"External id\": 2, \"correlation\": "
              "3}},\n"
              "    {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", "
              "\"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2, \"args\": "
              "{\"External id\": 2, \"correlation\": 3, \"device\": 0, "
              "\"stream\": 7}}\n"
              "  ]\n"
              "}\n");
    free(text);
    end(&m);
}

/* ---- the device ---------------------------------------------------------- */

/* Its compute capability is said where it is one. */
static void test_device__of_a_gpu(void)
{
    static const char *const ROWS[][2] = {
        {"\"9.0\"", ",\"computeMajor\":9,\"computeMinor\":0"},
        {"\"12.1\"", ",\"computeMajor\":12,\"computeMinor\":1"},
        {"\"1.5\"", ",\"computeMajor\":1,\"computeMinor\":5"},
        {"\"8.9a\"", ",\"computeMajor\":8,\"computeMinor\":9"},
        {"\"9\"", ""},
        {"\"x.1\"", ""},
        {"\"0.1\"", ""},
        {"9.0", ""}};
    char want[256];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        char greeting[256];
        struct made m;

        snprintf(greeting, sizeof(greeting),
                 "{\"device\":{\"kind\":\"gpu\",\"name\":\"g\",\"sms\":132,"
                 "\"memory_bytes\":8e10,\"compute_capability\":%s}}",
                 ROWS[i][0]);
        begin(&m, greeting);
        m.runs.n = 0;
        snprintf(want, sizeof(want),
                 "[{\"id\":0,\"name\":\"g\",\"totalGlobalMem\":80000000000%s,"
                 "\"numSms\":132}]",
                 ROWS[i][1]);
        CHECK_STR(written(&m, "deviceProperties"), want);
        end(&m);
    }
}

int main(void)
{
    RUN(test_trace__on_a_cpu);
    RUN(test_trace__kernels_of_two_iterations);
    RUN(test_trace__nanoseconds);
    RUN(test_inputs__every_kind);
    RUN(test_inputs__every_type);
    RUN(test_inputs__long);
    RUN(test_trace__lines);
    RUN(test_device__of_a_gpu);
    return check_summary();
}
