/*
 * predict/edit/edit_quantise.c: which messages are sent in another type, what
 * they take then, and the kernels before and behind.
 */
#include "core/work/rules/opmap_rule.h"
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;
static struct msim_platform *platform;
static char text[64];

enum { ELEMS = 1 << 20, MAKER = 3, TRANSFER = 5, TAKER = 6 };

/*
 * host 0 launches kernel 3 of stream 7, host 1 the collective of stream 8
 * (arrival 4, transfer 5), which waits for it, and host 2 kernel 6 of stream 7,
 * which waits for that. The transfer is of operator 0.
 */
static void begin(enum msim_collective what, const char *op)
{
    remake_new(&m, 1);
    m.to.platform = platform;
    (void)build_op(&m.b, 0, op, "", NULL);
    m.b.ops[0].comm = 0;
    m.b.comms[0] = (struct msim_comm){.collective = (uint8_t)what,
                                      .dtype = MSIM_DT_F32,
                                      .in_elems = ELEMS,
                                      .out_elems = ELEMS,
                                      .sequence = -1,
                                      .peer = -1,
                                      .group = 0,
                                      .op = 0};
    m.b.t.n_comms = 1;
    m.b.groups[0] = (struct msim_group){.size = 8};
    m.b.t.n_groups = 1;
    m.b.t.world_size = 8;
    for (int i = 0; i < 3; i++)
        (void)remake_task(&m, MSIM_TASK_HOST, 0, 4000);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 9000);
    (void)remake_task(&m, MSIM_TASK_JOIN, 2, 0);
    m.refs[remake_task(&m, MSIM_TASK_COMM, 2, 1000000)].op = 0;
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 9000);
    remake_edge(&m, 0, MAKER, MSIM_EDGE_LAUNCH, 10);
    remake_edge(&m, 1, 4, MSIM_EDGE_LAUNCH, 10);
    remake_edge(&m, 2, TAKER, MSIM_EDGE_LAUNCH, 10);
    remake_edge(&m, MAKER, 4, MSIM_EDGE_EVENT, 0);
    remake_edge(&m, TRANSFER, TAKER, MSIM_EDGE_EVENT, 0);
    m.edit.forward = MSIM_DT_F16;
    m.edit.backward = MSIM_DT_BF16;
}

static enum msim_status quantise(void)
{
    enum msim_status status = remake_begin(&m);

    CHECK_INT(status, MSIM_OK);
    return status == MSIM_OK ? msim_edit_quantise(&m.d) : status;
}

/* The kernels that were inserted: names up to '<' or their op's functor, and
 * where: "name@at+ " behind a task, "-" before. */
static const char *inserted(void)
{
    static char all[1024];

    all[0] = '\0';
    for (uint32_t i = 0; i < m.d.overlay.n_tasks; i++) {
        const struct msim_overlay_task *t = &m.d.overlay.tasks[i];
        size_t n = strlen(all);

        if (t->kind == MSIM_TASK_KERNEL)
            snprintf(all + n, sizeof(all) - n, "%s%s@%u%c", n ? " | " : "",
                     msim_strtab_text(m.b.strings, t->name), t->at,
                     t->place == MSIM_OVERLAY_BEFORE ? '-' : '+');
    }
    return all;
}

#define CLAMPS    "vectorized_elementwise_kernel<launch_clamp_scalar>"
#define CASTS     "unrolled_elementwise_kernel<direct_copy_kernel_cuda, float>"
#define BACK(t)   "unrolled_elementwise_kernel<direct_copy_kernel_cuda, " t ">"
#define HALF      "c10::Half"
#define BFLOAT    "c10::BFloat16"
#define COMPARES  "vectorized_elementwise_kernel<compare_scalar_kernel<float>>"
#define ANDS      "vectorized_elementwise_kernel<logical_and_kernel_cuda>"
#define FILLS     "vectorized_elementwise_kernel<FillFunctor<float>>"
#define CHOOSES   "elementwise_kernel<where_kernel_impl>"
#define DIVIDES   "vectorized_elementwise_kernel<MulFunctor, " HALF ">"
#define ROWS      "_float_to_fused8bitrowwise_cuda_kernel<float>"
#define ROWS_BACK "_fused8bitrowwise_to_float_cuda_kernel<float>"

/* What converts by type, pass and kind; before it is behind what made the
 * message, after it before what takes it. */
static void test_edit_quantise__inserts_codecs(void)
{
    static const struct {
        enum msim_collective what;
        const char *op;
        bool backward;
        enum msim_dtype forward, back;
        const char *says;
    } CASE[] = {
        {MSIM_COLL_ALL_TO_ALL, "All2All_Pooled_Req", false, MSIM_DT_F16,
         MSIM_DT_UNKNOWN, CLAMPS "@3+ | " CASTS "@3+ | " BACK(HALF) "@6-"},
        {MSIM_COLL_ALL_TO_ALL, "All2All_Pooled_Req", true, MSIM_DT_F16,
         MSIM_DT_BF16, CLAMPS "@3+ | " CASTS "@3+ | " BACK(BFLOAT) "@6-"},
        {MSIM_COLL_ALL_TO_ALL, "_c10d_functional::all_to_all", true,
         MSIM_DT_F16, MSIM_DT_UNKNOWN,
         CASTS "@3+ | " BACK(HALF) "@6- | " COMPARES "@6- | " COMPARES
                                   "@6- | " ANDS "@6- | " FILLS "@6- | " CHOOSES
                                   "@6-"},
        {MSIM_COLL_ALL_TO_ALL, "_c10d_functional::all_to_all", false,
         MSIM_DT_F16, MSIM_DT_UNKNOWN,
         CLAMPS "@3+ | " CASTS "@3+ | " BACK(HALF) "@6-"},
        {MSIM_COLL_ALL_TO_ALL, "_c10d_functional::all_to_all", true, MSIM_DT_I8,
         MSIM_DT_F16, ROWS "@3+ | " ROWS_BACK "@6-"},
        {MSIM_COLL_ALL_REDUCE, "nccl:all_reduce", false, MSIM_DT_F16,
         MSIM_DT_UNKNOWN, CASTS "@3+ | " DIVIDES "@3+ | " BACK(HALF) "@6-"},
        {MSIM_COLL_ALL_REDUCE, "nccl:all_reduce", false, MSIM_DT_I8,
         MSIM_DT_UNKNOWN, ROWS "@3+ | " ROWS_BACK "@6-"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].what, CASE[i].op);
        m.b.ops[0].scope = CASE[i].backward;
        m.edit.forward = CASE[i].forward;
        m.edit.backward = CASE[i].back;
        if (CASE[i].what != MSIM_COLL_ALL_TO_ALL)
            remake_select(&m, "communication", text);
        CHECK_INT(quantise(), MSIM_OK);
        CHECK_STR(inserted(), CASE[i].says);
        remake_done(&m);
    }
}

/* The transfer waits for the last that encodes, whose launch is the host's as
 * that of others; operators are the transfer's, and take what the models say:
 * clamp and casts of a million numbers. */
static void test_edit_quantise__ties_codecs(void)
{
    struct msim_edit_op clamp = {
        .name = "aten::clamp",
        .tensors = {{.n = 1, .sizes = {ELEMS}, .dtype = MSIM_DT_F32}},
        .n = 1};
    struct msim_edit_op cast = {
        .name = "aten::copy_",
        .tensors = {{.n = 1, .sizes = {ELEMS}, .dtype = MSIM_DT_F16},
                    {.n = 1, .sizes = {ELEMS}, .dtype = MSIM_DT_F32}},
        .n = 2};
    struct msim_cost_added want;

    begin(MSIM_COLL_ALL_TO_ALL, "All2All_Pooled_Req");
    CHECK_INT(quantise(), MSIM_OK);
    REQUIRE(m.d.overlay.n_tasks == 6);
    for (uint32_t i = 0; i < 6; i += 2) {
        CHECK_INT(m.d.overlay.tasks[i].op, 0);
        CHECK_INT(m.d.added[i + 1].mid, 4000);
        CHECK_INT(remake_tied(&m, 7 + i + 1, 7 + i, MSIM_EDGE_LAUNCH), 10);
    }
    CHECK_INT(remake_tied(&m, 9, 4, MSIM_EDGE_INPUT), 0);
    CHECK_INT(m.d.overlay.n_edges, 4);
    CHECK_INT(msim_price_op(&m.d, &clamp, &want), MSIM_OK);
    CHECK_INT(m.d.added[0].mid, want.mid);
    CHECK_INT(msim_price_op(&m.d, &cast, &want), MSIM_OK);
    CHECK_INT(m.d.added[2].mid, want.mid);
    cast.tensors[0].dtype = MSIM_DT_F32;
    cast.tensors[1].dtype = MSIM_DT_F16;
    CHECK_INT(msim_price_op(&m.d, &cast, &want), MSIM_OK);
    CHECK_INT(m.d.added[4].mid, want.mid);
    remake_done(&m);
}

/* A kernel of the trace that does the same lends its name. */
static void test_edit_quantise__names_as_the_trace(void)
{
    static const char *const OWN[] = {
        "elementwise<direct_copy_kernel_cuda>(float)", /* not unrolled */
        "unrolled_elementwise<direct_copy_kernel_cuda>(int)",
        "unrolled_elementwise<direct_copy_kernel_cuda>(float)",
        "mine<launch_clamp_scalar>"};

    begin(MSIM_COLL_ALL_TO_ALL, "All2All_Pooled_Req");
    for (uint32_t i = 0; i < 4; i++)
        m.b.gpu[m.b.t.n_gpu++] = (struct msim_gpu){
            .name = build_text(&m.b, OWN[i]), .comm = MSIM_NONE};
    CHECK_INT(quantise(), MSIM_OK);
    CHECK_STR(inserted(), "mine<launch_clamp_scalar>@3+ | "
                          "unrolled_elementwise<direct_copy_kernel_cuda>(float)"
                          "@3+ | " BACK(HALF) "@6-");
    remake_done(&m);
}

/* ---- which --------------------------------------------------------------- */

/* Is the message sent in another type? */
static bool taken(void)
{
    enum msim_status status = quantise();
    bool is = status == MSIM_OK;

    if (!is) {
        CHECK_STR(m.err.text,
                  m.edit.selects
                      ? "no selected collective of the job sends fp32; want "
                        "another \"select\""
                      : "no all-to-all of the job sends fp32; want another "
                        "\"select\"");
        CHECK_INT(m.d.costs->mid[TRANSFER], 1000000);
    }
    remake_done(&m);
    return is;
}

static void test_edit_quantise__takes_messages_of_fp32(void)
{
    static const struct {
        enum msim_dtype type;
        const char *op;
        bool taken;
    } CASE[] = {{MSIM_DT_F32, "a", true},        {MSIM_DT_F16, "a", false},
                {MSIM_DT_I64, "a", false},       {MSIM_DT_UNKNOWN, "a", true},
                {MSIM_DT_UNKNOWN, "kjt", false}, {MSIM_DT_F32, "kjt", true}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(MSIM_COLL_ALL_TO_ALL, CASE[i].op);
        m.b.comms[0].dtype = CASE[i].type;
        CHECK_INT(taken(), CASE[i].taken);
    }
    for (int below = 0; below < 2; below++) { /* or of an operator around it */
        begin(MSIM_COLL_ALL_TO_ALL, "splits of kjt");
        m.b.comms[0].dtype = MSIM_DT_UNKNOWN;
        m.b.ops[build_op(&m.b, 1, "inner", "", NULL)].comm = 0;
        m.b.comms[0].op = 1;
        if (below)
            m.refs[TRANSFER].op = 1;
        CHECK(!taken());
    }
}

/* Of a selection any kind of collective but a barrier; else all-to-alls. */
static void test_edit_quantise__takes_kinds(void)
{
    for (int c = MSIM_COLL_ALL_REDUCE; c < MSIM_COLL_WAIT; c++) {
        begin((enum msim_collective)c, "a");
        CHECK_INT(taken(), c == MSIM_COLL_ALL_TO_ALL);
        begin((enum msim_collective)c, "a");
        remake_select(&m, "communication", text);
        CHECK_INT(taken(), c != MSIM_COLL_BARRIER);
    }
    begin(MSIM_COLL_ALL_TO_ALL, "a");
    remake_select(&m, "kernels", text);
    CHECK(!taken());
}

/* What has no type stays: forward, or backward where the collective is a
 * function of its own to autograd. */
static void test_edit_quantise__tells_passes(void)
{
    static const struct {
        const char *op, *outer;
        bool thread, backward;
    } CASE[] = {
        {"a", "b", false, false},
        {"a", "autograd::engine::evaluate", false, true},
        {"a", "b", true, true},
        {"_c10d_functional::a", "autograd::engine::evaluate", true, false}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++)
        for (int asked = 0; asked < 2; asked++) {
            begin(MSIM_COLL_ALL_TO_ALL, CASE[i].outer);
            m.b.ops[0].fw_thread = CASE[i].thread ? 0 : MSIM_NONE;
            m.refs[TRANSFER].op = build_op(&m.b, 1, CASE[i].op, "", NULL);
            m.b.ops[m.refs[TRANSFER].op].comm = 0;
            m.edit.forward = asked ? MSIM_DT_UNKNOWN : MSIM_DT_F16;
            m.edit.backward = asked ? MSIM_DT_F16 : MSIM_DT_UNKNOWN;
            CHECK_INT(taken(), CASE[i].backward == asked);
        }
}

/* By its event's record or its operator's; without one, gone, or no transfer,
 * there is no message. */
static void test_edit_quantise__finds_records(void)
{
    for (int i = 0; i < 6; i++) {
        begin(MSIM_COLL_ALL_TO_ALL, "a");
        if (i == 0)
            m.removed[TRANSFER] = 1;
        else if (i == 1)
            m.kind[TRANSFER] = MSIM_TASK_COPY;
        else if (i == 2)
            m.b.ops[0].comm = MSIM_NONE;
        else if (i == 3)
            m.refs[TRANSFER].op = MSIM_NONE;
        else
            m.refs[TRANSFER].index = 0;
        m.b.gpu[0].comm = i == 4 ? MSIM_NONE : 0;
        m.b.t.n_gpu = 1;
        CHECK_INT(taken(), i == 5);
    }
}

/* ---- how long ------------------------------------------------------------ */

/* By the models of both sizes, of which rows of 8-bit numbers have 8 bytes more
 * a 128; by the bytes where nothing says the size. */
static void test_edit_quantise__shrinks(void)
{
    static const struct {
        enum msim_dtype type;
        double share;
    } CASE[] = {
        {MSIM_DT_F16, 0.5}, {MSIM_DT_BF16, 0.5}, {MSIM_DT_I8, 0.265625}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++)
        for (int known = 0; known < 2; known++) {
            struct msim_cost_added was, is;
            double ratio = CASE[i].share;
            struct msim_work w;

            begin(MSIM_COLL_ALL_TO_ALL, "a");
            m.edit.forward = CASE[i].type;
            if (!known)
                m.b.comms[0].in_elems = m.b.comms[0].out_elems = 0;
            CHECK_INT(quantise(), MSIM_OK);
            if (known) {
                w = msim_comm_work(&m.traces[0], 0);
                CHECK_INT(msim_price_work(&m.d, &w, &was), MSIM_OK);
                w.dtype = CASE[i].type;
                w.u.coll.bytes =
                    (uint64_t)((double)w.u.coll.bytes * CASE[i].share);
                CHECK_INT(msim_price_work(&m.d, &w, &is), MSIM_OK);
                ratio = (double)is.mid / (double)was.mid;
                CHECK(ratio > CASE[i].share && ratio < 1);
            }
            CHECK_INT(m.d.costs->mid[TRANSFER], (msim_ps)(1e6 * ratio + 0.5));
            CHECK_INT(m.d.costs->low[TRANSFER], (msim_ps)(5e5 * ratio + 0.5));
            CHECK_INT(m.d.costs->high[TRANSFER],
                      (msim_ps)(1.5e6 * ratio + 0.5));
            remake_done(&m);
        }
}

/* ---- where --------------------------------------------------------------- */

/* What the collective waits for made the message: on the main stream of the
 * rank. Else what the same thread launched there last, else nothing is known
 * and it is before the transfer; behind it, what was launched first takes it.
 */
static void test_edit_quantise__finds_neighbours(void)
{
    static const struct {
        int i;
        const char *first, *last;
    } CASE[] = {{0, "@3+", "@6-"}, {1, "@3+", "@6-"}, {2, "@4-", "@6-"},
                {3, "@3+", "@7-"}, {4, "@3+", "@5+"}, {5, "@4-", "@6-"}};

    for (size_t k = 0; k < sizeof(CASE) / sizeof(*CASE); k++) {
        const char *said;
        uint32_t t;

        begin(MSIM_COLL_ALL_TO_ALL, "a");
        t = remake_task(&m, MSIM_TASK_KERNEL, 1, 9000); /* 7, of stream 7 */
        switch (CASE[k].i) {
        case 0: /* others that it waits for made nothing */
            m.lane[remake_task(&m, MSIM_TASK_KERNEL, 3, 9000)] = 3;
            remake_edge(&m, 8, 4, MSIM_EDGE_EVENT, 0);
            break;
        case 1: /* it waits for nothing: by launches of the thread */
        case 2: /* of which there is none before */
            m.given[3].to = TAKER;
            if (CASE[k].i == 2)
                m.lane[0] = 6;
            break;
        case 3: /* another takes it, launched earlier */
            remake_edge(&m, TRANSFER, t, MSIM_EDGE_EVENT, 0);
            remake_edge(&m, 0, t, MSIM_EDGE_LAUNCH, 0);
            break;
        case 4: /* a collective, the host and its own stream take nothing */
            m.kind[TAKER] = MSIM_TASK_COMM;
            m.lane[t] = 2;
            remake_edge(&m, TRANSFER, t, MSIM_EDGE_STREAM, 0);
            remake_edge(&m, TRANSFER, 2, MSIM_EDGE_STREAM_SYNC, 0);
            break;
        default: /* nobody launched it */
            m.given[3].to = TAKER;
            m.given[1].to = TAKER;
            break;
        }
        CHECK_INT(quantise(), MSIM_OK);
        said = inserted();
        CHECK(!strncmp(strchr(said, '@'), CASE[k].first, 3));
        CHECK_STR(said + strlen(said) - 3, CASE[k].last);
        CHECK_INT(remake_tied(&m, m.g.n_tasks + 2, 4, MSIM_EDGE_INPUT),
                  CASE[k].first[1] == '3' ? 0 : -1);
        remake_done(&m);
    }
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_edit_quantise__inserts_codecs);
    RUN(test_edit_quantise__ties_codecs);
    RUN(test_edit_quantise__names_as_the_trace);
    RUN(test_edit_quantise__takes_messages_of_fp32);
    RUN(test_edit_quantise__takes_kinds);
    RUN(test_edit_quantise__tells_passes);
    RUN(test_edit_quantise__finds_records);
    RUN(test_edit_quantise__shrinks);
    RUN(test_edit_quantise__finds_neighbours);
    msim_platform_free(platform);
    return check_summary();
}
