/* models/host/host.c: reading hosts, and what operators and calls cost on them.
 */
#include "models/host/host.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

/* What differs: members of "operators", a factor, more members or NULL. */
struct text {
    const char *operators, *low, *more;
};

static void write_host(FILE *f, const struct text *text)
{
    static const double SELF[] = {4, 3, 5, 6, 20, 7};
    static const double CALLS[] = {2, 1, 0, 0, 9, 0};

    fprintf(f, "{\"name\":\"made\",\"operators\":{%s},\"classes\":{",
            text->operators);
    for (int c = 0; c < MSIM_HOST_NOTHING; c++)
        fprintf(f, "\"%s\":{\"self_us\":%g,\"calls_us\":%g},",
                msim_host_class_text((enum msim_host_class)c), SELF[c],
                CALLS[c]);
    fprintf(f, "\"x\":0},\"calls\":{");
    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++)
        fprintf(f, "\"%s\":{\"us\":%d,\"low_us\":0,\"high_us\":99},",
                msim_host_call_text((enum msim_call_kind)k), k + 1);
    fprintf(f,
            "\"x\":0},\"spread\":{\"low\":%s,\"high\":4},"
            "\"launch_latency\":{\"us\":8,\"low_us\":5,\"high_us\":9},"
            "\"kernel_gap\":{\"us\":1.5,\"low_us\":1,\"high_us\":2},"
            "\"after_topmost\":{"
            "\"operator\":{\"us\":10,\"low_us\":5,\"high_us\":20},"
            "\"autograd\":{\"us\":3,\"low_us\":1,\"high_us\":9}}%s}",
            text->low, text->more ? text->more : "");
}

/* Load a made host, or where `text` is NULL the bytes in `raw`. */
static enum msim_status load(struct msim_host **h, const struct text *text,
                             const char *raw, struct msim_error *err)
{
    char path[] = P_tmpdir "/msim-host-XXXXXX.json";
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    enum msim_status status;

    *h = NULL;
    if (!f)
        return MSIM_EIO;
    if (text)
        write_host(f, text);
    else
        fputs(raw, f);
    fclose(f);
    status = msim_host_load(h, MSIM_DATA, path, err);
    unlink(path);
    return status;
}

static void test_host__generic_loads(void)
{
    struct msim_error err = {0};
    struct msim_host *h;
    struct msim_estimate e;

    REQUIRE(msim_host_load(&h, MSIM_DATA, "generic", &err) == MSIM_OK);
    CHECK_STR(msim_host_name(h), "generic");
    e = msim_host_call(h, MSIM_CALL_LAUNCH);
    CHECK(e.low_us > 1 && e.low_us <= e.us && e.us <= e.high_us);
    CHECK(e.high_us < 60);
    e = msim_host_launch_latency(h);
    CHECK(e.us > 3 && e.us < 20);
    e = msim_host_kernel_gap(h);
    CHECK(e.us > 0.3 && e.us < 3);
    msim_host_free(h);
    REQUIRE(msim_host_load(&h, MSIM_DATA, "Generic", &err) == MSIM_OK);
    msim_host_free(h);
}

static void test_host__unknown_name_lists_the_known(void)
{
    struct msim_error err = {0};
    struct msim_host *h;

    CHECK_INT(msim_host_load(&h, MSIM_DATA, "pdp-11", &err), MSIM_EUNKNOWN);
    CHECK(h == NULL);
    CHECK(strstr(err.text, "'pdp-11'") != NULL);
    CHECK(strstr(err.text, "generic") != NULL);
}

static void test_host__missing_folder_and_file(void)
{
    struct msim_error err = {0}, other = {0};
    struct msim_host *h;

    CHECK_INT(msim_host_load(&h, "/nonexistent", "generic", &err), MSIM_EIO);
    CHECK_INT(msim_host_load(&h, MSIM_DATA, "/nonexistent/x.json", &other),
              MSIM_EIO);
    CHECK(h == NULL);
}

static void test_host__bad_files_are_refused(void)
{
    static const char *const RAW[] = {"{}", "[]", "{\"name\":\"x\"}"};
    static const struct text MADE[] = {
        {"", "0", NULL},
        {"", "1.5", NULL},
        {"", "0.25", ",\"repeat\":{\"low\":0,\"high\":1.2}"},
        {"", "0.25", ",\"repeat\":{\"low\":0.8,\"high\":0.9}"},
        {"", "0.25", ",\"repeat\":{\"low\":0.8}"},
        {"", "0.25", ",\"repeat\":7"},
        {"\"aten::mm\":{\"self_us\":-1,\"calls_us\":0}", "0.25", NULL},
        {"\"aten::mm\":{\"self_us\":1e99,\"calls_us\":0}", "0.25", NULL},
        {"\"aten::mm\":{\"self_us\":\"x\",\"calls_us\":0}", "0.25", NULL},
        {"\"a\":{\"self_us\":1,\"calls_us\":0},"
         "\"a\":{\"self_us\":1,\"calls_us\":0}",
         "0.25", NULL},
    };
    const size_t n = 3 + sizeof(MADE) / sizeof(*MADE);
    struct msim_host *h;

    for (size_t i = 0; i < n; i++) {
        struct msim_error err = {0};

        CHECK_INT(load(&h, i < 3 ? NULL : &MADE[i - 3], RAW[i % 3], &err),
                  MSIM_EFORMAT);
        CHECK(h == NULL);
        CHECK(strstr(err.text, "want") != NULL);
    }
    CHECK_INT(load(&h, NULL, "{\"name\":", NULL), MSIM_ESYNTAX);
}

static void test_host__repeat_is_the_files_or_the_spread(void)
{
    static const struct text SAYS = {"", "0.25",
                                     ",\"repeat\":{\"low\":0.9,\"high\":1.2}"};
    static const struct text SAYS_NOT = {"", "0.25", NULL};
    struct msim_host *h;
    double low, high;

    REQUIRE(load(&h, &SAYS, NULL, NULL) == MSIM_OK);
    msim_host_repeat(h, &low, &high);
    CHECK_REL(low, 0.9, 1e-12);
    CHECK_REL(high, 1.2, 1e-12);
    msim_host_free(h);
    REQUIRE(load(&h, &SAYS_NOT, NULL, NULL) == MSIM_OK);
    msim_host_repeat(h, &low, &high);
    CHECK_REL(low, 0.25, 1e-12);
    CHECK_REL(high, 4, 1e-12);
    msim_host_free(h);
    /* Nearer than another host, yet not the same again. */
    REQUIRE(msim_host_load(&h, MSIM_DATA, "generic", NULL) == MSIM_OK);
    msim_host_repeat(h, &low, &high);
    CHECK(low > 0.5 && low < 1 && high > 1 && high < 2);
    msim_host_free(h);
}

/* ---- operators of a made trace ----------------------------------------- */

struct made {
    struct msim_strtab *strings;
    struct msim_op ops[16];
    struct msim_trace t;
};

static void made_init(struct made *m, bool gpu_events)
{
    memset(m, 0, sizeof(*m));
    if (msim_strtab_new(&m->strings) != MSIM_OK)
        abort();
    m->t.ops = m->ops;
    m->t.strings = m->strings;
    m->t.has_gpu_events = gpu_events;
}

/* Add an op; the ops that enclose it grow to hold it. */
static uint32_t add(struct made *m, const char *name, enum msim_op_kind kind,
                    uint32_t parent)
{
    uint32_t i = m->t.n_ops++;

    if (msim_strtab_add(m->strings, name, strlen(name), &m->ops[i].name))
        abort();
    m->ops[i].kind = (uint8_t)kind;
    m->ops[i].parent = parent;
    m->ops[i].args = m->ops[i].outs = MSIM_NONE;
    m->ops[i].end = i + 1;
    for (uint32_t p = parent; p != MSIM_NONE; p = m->ops[p].parent)
        m->ops[p].end = i + 1;
    return i;
}

static double us(const struct msim_host *h, const struct made *m, uint32_t op)
{
    return msim_host_dispatch(h, &m->t, op, true).us;
}

static const struct text TYPICAL = {
    "\"aten::mm\":{\"self_us\":11,\"calls_us\":7},"
    "\"MmBackward\":{\"self_us\":8,\"calls_us\":0}",
    "0.25", NULL};

static void test_host__dispatch_by_name_then_class(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t top, mm, label, leaf, node, comm, inner;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, true);
    label = add(&m, "aten::mm", MSIM_OP_ANNOTATION, MSIM_NONE);
    top = add(&m, "mine::outer", MSIM_OP_OPERATOR, label);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, top);
    inner = add(&m, "aten::mm", MSIM_OP_ANNOTATION, top);
    leaf = add(&m, "mine::leaf", MSIM_OP_OPERATOR, top);
    node = add(&m, "MmBackward0", MSIM_OP_OPERATOR, top);
    comm = add(&m, "nccl:send", MSIM_OP_ANNOTATION, top);
    CHECK_REL(us(h, &m, label), 0, 0);
    CHECK_REL(us(h, &m, top), 3, 1e-12);
    CHECK_REL(us(h, &m, mm), 11, 1e-12);
    CHECK_REL(us(h, &m, inner), 7, 1e-12);
    CHECK_REL(us(h, &m, leaf), 4, 1e-12);
    CHECK_REL(us(h, &m, node), 8, 1e-12);
    CHECK_REL(us(h, &m, comm), 20, 1e-12);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm, true).low_us, 11 * 0.25, 1e-12);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm, true).high_us, 11 * 4, 1e-12);
    CHECK_REL(msim_host_call(h, MSIM_CALL_LAUNCH).us, 2, 1e-12);
    CHECK_REL(msim_host_launch_latency(h).us, 8, 1e-12);
    CHECK_REL(msim_host_kernel_gap(h).us, 1.5, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* Calls and pauses that such a trace does not have are in the operators. */
static void test_host__without_gpu_events_the_rest_is_added(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t root, label, top, mm, engine;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    root = add(&m, "[root]", MSIM_OP_ROOT, MSIM_NONE);
    label = add(&m, "step", MSIM_OP_ANNOTATION, root);
    top = add(&m, "mine::outer", MSIM_OP_OPERATOR, label);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, top);
    engine = add(&m, "autograd::engine::evaluate_function: X", MSIM_OP_OPERATOR,
                 root);
    CHECK_REL(us(h, &m, root), 0, 0);
    CHECK_REL(us(h, &m, label), 0, 0);
    CHECK_REL(us(h, &m, top), 3 + 1 + 10, 1e-12);
    CHECK_REL(us(h, &m, mm), 11 + 7, 1e-12);
    CHECK_REL(us(h, &m, engine), 5 + 0 + 3, 1e-12);
    CHECK_REL(msim_host_pause(h, &m.t, label).us, 0, 0);
    CHECK_REL(msim_host_pause(h, &m.t, top).us, 10, 1e-12);
    CHECK_REL(msim_host_pause(h, &m.t, mm).us, 0, 0);
    CHECK_REL(msim_host_pause(h, &m.t, engine).us, 3, 1e-12);
    m.t.has_gpu_events = true; /* which has the pauses */
    CHECK_REL(msim_host_pause(h, &m.t, top).us, 0, 0);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* What a list operator calls on a CPU, a GPU does at once. */
static void test_host__lists_are_one_call_on_a_gpu(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t list, each;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    list = add(&m, "aten::_foreach_add_", MSIM_OP_OPERATOR, MSIM_NONE);
    each = add(&m, "aten::mm", MSIM_OP_OPERATOR, list);
    CHECK_REL(us(h, &m, each), 11 + 7, 1e-12); /* from a GPU's own trace */
    m.t.cpu_only = true;
    CHECK(us(h, &m, list) > 0);
    CHECK_REL(us(h, &m, each), 0, 0);
    CHECK_REL(msim_host_dispatch(h, &m.t, each, false).us, 11, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* What a CPU calls inside an operator that has a kernel on a GPU is not called
 * there; another form of the same operator is. */
static void test_host__kernels_are_one_call_on_a_gpu(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t norm, inside, number, out;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    norm = add(&m, "aten::native_group_norm", MSIM_OP_OPERATOR, MSIM_NONE);
    inside = add(&m, "aten::mm", MSIM_OP_OPERATOR, norm);
    number = add(&m, "aten::mul", MSIM_OP_OPERATOR, MSIM_NONE);
    out = add(&m, "aten::mul", MSIM_OP_OPERATOR, number);
    CHECK(us(h, &m, inside) > 0); /* from a GPU's own trace */
    m.t.cpu_only = true;
    CHECK(us(h, &m, norm) > 0);
    CHECK_REL(us(h, &m, inside), 0, 0);
    CHECK(us(h, &m, out) > 0);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/*
 * The class's figures are 4 + 2 us for a leaf and 10 us behind a topmost one; a
 * run that nobody records takes half. A trace with GPU events keeps the figures
 * as recorded.
 */
static void test_host__an_unrecorded_run_takes_its_share(void)
{
    static const struct text HALF = {
        "\"aten::mm\":{\"self_us\":11,\"calls_us\":7}", "0.25",
        ",\"unrecorded\":{\"factor\":0.5,\"low\":0.8,\"high\":3}"};
    static const struct text BAD = {"", "0.25",
                                    ",\"unrecorded\":{\"factor\":0}"};
    struct msim_estimate e;
    struct msim_host *h;
    struct made m;
    uint32_t mm;

    CHECK_INT(load(&h, &BAD, NULL, NULL), MSIM_EFORMAT);
    REQUIRE(load(&h, &HALF, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, MSIM_NONE);
    e = msim_host_dispatch(h, &m.t, mm, true);
    CHECK_REL(e.us, 0.5 * (11 + 7 + 10), 1e-12);
    CHECK_REL(e.low_us, 0.8 * e.us, 1e-12);
    CHECK_REL(e.high_us, 3 * e.us, 1e-12);
    m.t.has_gpu_events = true;
    e = msim_host_dispatch(h, &m.t, mm, true);
    CHECK_REL(e.us, 11, 1e-12);
    CHECK_REL(e.low_us, 0.25 * e.us, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/*
 * Beside GPUs of kind "big" it takes a tenth, beside others half; backward
 * takes 0.8 of that. Figures are 4 + 2 us for a leaf, 5 for a node of the
 * engine, 3 behind it, 10 behind another.
 */
static void test_host__unrecorded_by_gpu_and_pass(void)
{
    static const struct text SAYS = {
        "", "0.25",
        ",\"unrecorded\":{\"factor\":0.5,\"low\":0.8,\"high\":3,"
        "\"backward\":0.8,\"beside\":{\"big\":0.1}}"};
    static const struct text BAD[] = {
        {"", "0.25",
         ",\"unrecorded\":{\"factor\":0.5,\"low\":1,\"high\":1,"
         "\"backward\":0}"},
        {"", "0.25",
         ",\"unrecorded\":{\"factor\":0.5,\"low\":1,\"high\":1,"
         "\"beside\":{\"big\":-1}}"}};
    uint32_t forward, engine, inner;
    struct msim_host *h;
    struct made m;

    for (int i = 0; i < 2; i++)
        CHECK_INT(load(&h, &BAD[i], NULL, NULL), MSIM_EFORMAT);
    REQUIRE(load(&h, &SAYS, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    forward = add(&m, "mine::op", MSIM_OP_OPERATOR, MSIM_NONE);
    engine = add(&m, "autograd::engine::evaluate_function: X", MSIM_OP_OPERATOR,
                 MSIM_NONE);
    inner = add(&m, "mine::op", MSIM_OP_OPERATOR, engine);
    CHECK_REL(us(h, &m, forward), 0.5 * 16, 1e-12);
    CHECK_REL(us(h, &m, engine), 0.5 * 0.8 * 8, 1e-12);
    CHECK_REL(us(h, &m, inner), 0.5 * 0.8 * 6, 1e-12);
    msim_host_set_gpu(h, "small");
    CHECK_REL(us(h, &m, forward), 0.5 * 16, 1e-12);
    msim_host_set_gpu(h, "Big");
    CHECK_REL(us(h, &m, forward), 0.1 * 16, 1e-12);
    CHECK_REL(us(h, &m, inner), 0.1 * 0.8 * 6, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/*
 * Inside cuDNN's batch normalisation are 5 of empty (1 us), empty_like (2) and
 * view (3), beside its own 20 + 8 us; a CPU has its own kernel and something
 * else inside it. Without anything below it, as on the meta device, cuDNN's is
 * the same. Inside relu (7) is clamp_min (9).
 */
static void test_host__kernels_of_a_cpu_are_cudnns(void)
{
    static const struct text CUDNN = {
        "\"aten::cudnn_batch_norm\":{\"self_us\":20,\"calls_us\":8},"
        "\"aten::empty\":{\"self_us\":1,\"calls_us\":0},"
        "\"aten::empty_like\":{\"self_us\":2,\"calls_us\":0},"
        "\"aten::view\":{\"self_us\":3,\"calls_us\":0},"
        "\"aten::relu\":{\"self_us\":7,\"calls_us\":0},"
        "\"aten::clamp_min\":{\"self_us\":9,\"calls_us\":0}",
        "0.25", NULL};
    uint32_t top, cpu, inside, meta, relu;
    struct msim_host *h;
    struct made m;

    REQUIRE(load(&h, &CUDNN, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    m.t.cpu_only = true;
    top = add(&m, "mine::outer", MSIM_OP_OPERATOR, MSIM_NONE);
    cpu = add(&m, "aten::native_batch_norm", MSIM_OP_OPERATOR, top);
    inside = add(&m, "aten::empty", MSIM_OP_OPERATOR, cpu);
    CHECK_REL(us(h, &m, cpu), 28 + 10, 1e-12);
    CHECK_REL(us(h, &m, inside), 0, 0);
    CHECK_REL(msim_host_dispatch(h, &m.t, inside, false).us, 1, 1e-12);
    m.t.cpu_only = false;
    meta = add(&m, "aten::cudnn_batch_norm", MSIM_OP_OPERATOR, top);
    relu = add(&m, "aten::relu", MSIM_OP_OPERATOR, top);
    CHECK_REL(us(h, &m, meta), 28 + 10, 1e-12);
    CHECK_REL(us(h, &m, relu), 7 + 9, 1e-12);
    add(&m, "aten::clamp_min", MSIM_OP_OPERATOR, relu);
    CHECK_REL(us(h, &m, relu), 7, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* The count of steps is read on the CPU: 4 us of a leaf, neither its call nor
 * the pause. Of a loss it takes 4 + 2 + 10. */
static void test_host__numbers_of_an_optimizer_take_no_call(void)
{
    struct msim_host *h;
    struct made m;
    uint32_t step, count, loss;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    m.t.cpu_only = true;
    loss = add(&m, "aten::item", MSIM_OP_OPERATOR, MSIM_NONE);
    step = add(&m, "Optimizer.step#Adam.step", MSIM_OP_ANNOTATION, MSIM_NONE);
    count = add(&m, "aten::item", MSIM_OP_OPERATOR, step);
    CHECK_REL(us(h, &m, loss), 4 + 2 + 10, 1e-12);
    CHECK_REL(us(h, &m, count), 4, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* Where a GPU ran, or would, a tensor says where it is: what lies on the CPU is
 * read there, in a step or not; what lies on the GPU has a call and a pause. */
static void test_host__numbers_on_the_cpu_take_no_call(void)
{
    struct msim_arg args[] = {
        {.kind = MSIM_ARG_TENSOR, .device = MSIM_DEV_CPU},
        {.kind = MSIM_ARG_TENSOR, .device = MSIM_DEV_GPU}};
    struct msim_arg_block blocks[] = {{.first = 0, .count = 1},
                                      {.first = 1, .count = 1},
                                      {.first = 0, .count = 2}};
    const double want[] = {4, 4 + 2 + 10, 4 + 2 + 10};
    struct msim_host *h;
    struct made m;

    REQUIRE(load(&h, &TYPICAL, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    m.t.args = args;
    m.t.blocks = blocks;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t op = add(&m, "aten::item", MSIM_OP_OPERATOR, MSIM_NONE);

        m.ops[op].args = i;
        CHECK_REL(us(h, &m, op), want[i], 1e-12);
    }
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/*
 * A step on the host: what its list operator calls on a CPU is called, without
 * a launch, and 2 x 1,000 numbers of 4 bytes go through memory at 2 GB/s: 4 us.
 * The class's figures are 4 us, for the list operator 3 + 1 + 10.
 */
static void test_host__an_offloaded_step_takes_its_bytes(void)
{
    static const struct text MEMORY = {"", "0.25",
                                       ",\"memory\":{\"gb_per_s\":2}"};
    static const struct text BAD = {"", "0.25", ",\"memory\":{\"gb_per_s\":0}"};
    int64_t dims[] = {1000};
    struct msim_arg args[2] = {{.kind = MSIM_ARG_TENSOR,
                                .dtype = MSIM_DT_F32,
                                .device = MSIM_DEV_HOST,
                                .n = 1}};
    struct msim_arg_block block = {.first = 0, .count = 2};
    struct msim_host *h;
    struct made m;
    uint32_t step, list, each;

    CHECK_INT(load(&h, &BAD, NULL, NULL), MSIM_EFORMAT);
    REQUIRE(load(&h, &MEMORY, NULL, NULL) == MSIM_OK);
    made_init(&m, false);
    args[1] = args[0];
    m.t.cpu_only = true;
    m.t.args = args;
    m.t.blocks = &block;
    m.t.dims = dims;
    step = add(&m, "Optimizer.step#Adam.step", MSIM_OP_ANNOTATION, MSIM_NONE);
    list = add(&m, "aten::_foreach_add_", MSIM_OP_OPERATOR, step);
    each = add(&m, "aten::add_", MSIM_OP_OPERATOR, list);
    m.ops[list].args = m.ops[each].args = 0; /* the block */
    CHECK_REL(us(h, &m, list), 3 + 1 + 10, 1e-12);
    CHECK_REL(us(h, &m, each), 4 + 8000 / 2e3, 1e-12);
    args[0].device = args[1].device = MSIM_DEV_CPU; /* as on the GPU */
    CHECK_REL(us(h, &m, each), 0, 0);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

/* An entry's own factor counts before that of the file. */
static void test_host__an_entry_has_an_interval_of_its_own(void)
{
    static const struct text OWN = {
        "\"aten::mm\":{\"self_us\":11,\"calls_us\":7,\"within\":2}", "0.25",
        NULL};
    static const struct text BAD = {
        "\"aten::mm\":{\"self_us\":11,\"calls_us\":7,\"within\":0.5}", "0.25",
        NULL};
    struct msim_host *h;
    struct made m;
    uint32_t mm;

    CHECK_INT(load(&h, &BAD, NULL, NULL), MSIM_EFORMAT);
    REQUIRE(load(&h, &OWN, NULL, NULL) == MSIM_OK);
    made_init(&m, true);
    mm = add(&m, "aten::mm", MSIM_OP_OPERATOR, MSIM_NONE);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm, true).low_us, 5.5, 1e-12);
    CHECK_REL(msim_host_dispatch(h, &m.t, mm, true).high_us, 22, 1e-12);
    msim_strtab_free(m.strings);
    msim_host_free(h);
}

static void test_host__names_end_before_an_overload_number(void)
{
    CHECK_UINT(msim_host_name_length("MmBackward0"), 10);
    CHECK_UINT(msim_host_name_length("MmBackward"), 10);
    CHECK_UINT(msim_host_name_length("aten::conv2d"), 12);
    CHECK_UINT(msim_host_name_length("aten::relu6"), 11);
    CHECK_UINT(msim_host_name_length("Backward12"), 8);
    CHECK_UINT(msim_host_name_length("0"), 1);
    CHECK_UINT(msim_host_name_length(""), 0);
}

static void test_host__recording_shows_in_operators_that_do_nothing(void)
{
    struct made m;

    made_init(&m, true);
    m.t.has_times = true;
    for (int i = 0; i < 11; i++) {
        uint32_t view = add(&m, "aten::view", MSIM_OP_OPERATOR, MSIM_NONE);

        CHECK(isnan(msim_host_recording_us(&m.t)) == (i < 9));
        m.ops[view].dur = (10 + i) * (msim_ps)MSIM_PS_PER_US;
    }
    m.ops[add(&m, "aten::mm", MSIM_OP_OPERATOR, MSIM_NONE)].dur = 1;
    CHECK_REL(msim_host_recording_us(&m.t), 15, 1e-12);
    m.t.has_times = false;
    CHECK(isnan(msim_host_recording_us(&m.t)));
    msim_strtab_free(m.strings);
}

int main(void)
{
    RUN(test_host__generic_loads);
    RUN(test_host__unknown_name_lists_the_known);
    RUN(test_host__missing_folder_and_file);
    RUN(test_host__bad_files_are_refused);
    RUN(test_host__repeat_is_the_files_or_the_spread);
    RUN(test_host__dispatch_by_name_then_class);
    RUN(test_host__without_gpu_events_the_rest_is_added);
    RUN(test_host__lists_are_one_call_on_a_gpu);
    RUN(test_host__kernels_are_one_call_on_a_gpu);
    RUN(test_host__an_unrecorded_run_takes_its_share);
    RUN(test_host__unrecorded_by_gpu_and_pass);
    RUN(test_host__kernels_of_a_cpu_are_cudnns);
    RUN(test_host__numbers_of_an_optimizer_take_no_call);
    RUN(test_host__numbers_on_the_cpu_take_no_call);
    RUN(test_host__an_offloaded_step_takes_its_bytes);
    RUN(test_host__an_entry_has_an_interval_of_its_own);
    RUN(test_host__names_end_before_an_overload_number);
    RUN(test_host__recording_shows_in_operators_that_do_nothing);
    return check_summary();
}
