/*
 * predict/edit/fuse_attention.c: which kernels are attention, forward and
 * backward, and what they take as one.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;
static struct msim_platform *platform;

#define Q "f16[12,512,64] f16[12,64,300]" /* queries by keys */
#define V "f16[12,512,300] f16[12,300,64]"

static void begin(void)
{
    remake_new(&m, 1);
    m.to.platform = platform;
}

/* A kernel of an operator of its own, on a lane, with an autograd node. */
static uint32_t kernel(const char *name, const char *args, uint32_t lane,
                       int32_t seq)
{
    uint32_t t = remake_task(&m, MSIM_TASK_KERNEL, lane, 1000);

    m.refs[t].op = build_op(&m.b, 0, name, args, NULL);
    m.b.ops[m.refs[t].op].seq = seq;
    return t;
}

/* Three kernels. */
static void written_out(uint32_t lane, int32_t seq)
{
    (void)kernel("aten::bmm", Q, lane, seq);
    (void)kernel("aten::_softmax", "f16[12,512,300]", lane, seq + 1);
    (void)kernel("aten::bmm", V, lane, seq + 2);
}

static enum msim_status fuse(void)
{
    enum msim_status status = remake_begin(&m);

    CHECK_INT(status, MSIM_OK);
    return status == MSIM_OK ? msim_fuse_attention(&m.d) : status;
}

/* The kernel of twelve heads of 512 queries and 300 keys of 64. */
static void check_flash(uint32_t task, bool backward)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_F16,
                          .variant = "",
                          .kernels = 1,
                          .u.attention = {.phase = MSIM_ATTENTION_ENCODER,
                                          .backward = backward,
                                          .batch = 1,
                                          .heads = 12,
                                          .kv_heads = 12,
                                          .q_len = 512,
                                          .kv_len = 300,
                                          .head_dim = 64,
                                          .kv_dtype = MSIM_DT_F16}};
    struct msim_cost_added want;

    msim_work_count(&w);
    if (!CHECK_INT(msim_price_work(&m.d, &w, &want), MSIM_OK))
        return;
    CHECK_INT(m.d.costs->mid[task], want.mid);
    CHECK_REL(m.d.costs->flops[task], want.flops, 0);
    CHECK_INT(m.d.costs->made_by[task], MSIM_FAMILY_ATTENTION);
    CHECK_INT(m.d.costs->removed[task], 0);
}

/* The tasks that are gone, bit by bit. */
static uint64_t gone(void)
{
    uint64_t bits = 0;

    for (uint32_t t = 0; t < m.g.n_tasks; t++)
        bits |= (uint64_t)m.d.costs->removed[t] << t;
    return bits;
}

static void test_fuse_attention__takes_what_flash_does(void)
{
    begin();
    (void)kernel("aten::add", "f16[4]", 1, -1);
    written_out(1, -1);
    (void)kernel("aten::add", "f16[4]", 1, -1);
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_UINT(gone(), 0xc);
    check_flash(1, false);
    CHECK_INT(m.d.costs->mid[0] + m.d.costs->mid[4], 2000);
    CHECK_STR(msim_strtab_text(m.b.strings, m.d.overlay.name[1]),
              "fused(bmm, _softmax)");
    remake_done(&m);
}

#define NONE_WRITTEN                                                           \
    "no attention of the job is written out: product, softmax, product"

/* The names of what is between, and how much of it there may be. */
static void test_fuse_attention__knows_names(void)
{
    static const struct {
        const char *first, *args, *softmax, *last;
        int between[2];
        const char *says;
    } CASE[] = {
        {"aten::bmm", Q, "aten::_softmax", "aten::bmm", {6, 6}, ""},
        {"aten::baddbmm",
         "f16[1] " Q,
         "aten::softmax",
         "aten::baddbmm",
         {0, 0},
         ""},
        {"aten::bmm", Q, "aten::_softmax", "aten::bmm", {7, 0}, NONE_WRITTEN},
        {"aten::bmm", Q, "aten::_softmax", "aten::bmm", {0, 7}, NONE_WRITTEN},
        {"aten::mm", Q, "aten::_softmax", "aten::bmm", {0, 0}, NONE_WRITTEN},
        {"aten::bmm", Q, "aten::_softmax", "aten::mm", {0, 0}, NONE_WRITTEN},
        {"aten::bmm",
         Q,
         "aten::_log_softmax",
         "aten::bmm",
         {0, 0},
         NONE_WRITTEN},
        {"aten::bmm",
         Q,
         "aten::_softmax_backward_data",
         "aten::bmm",
         {0, 0},
         NONE_WRITTEN},
        {"aten::bmm",
         "f16[12,64] f16[12,64,300]",
         "aten::_softmax",
         "aten::bmm",
         {0, 0},
         "the trace does not record the sizes of products"},
        {"aten::bmm",
         "f16[12,512,64]",
         "aten::_softmax",
         "aten::bmm",
         {0, 0},
         "the trace does not record the sizes of products"},
        {"aten::bmm",
         "1 2",
         "aten::_softmax",
         "aten::bmm",
         {0, 0},
         "the trace does not record the sizes of products"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin();
        (void)kernel(CASE[i].first, CASE[i].args, 1, -1);
        for (int k = 0; k < CASE[i].between[0]; k++)
            (void)kernel("aten::mul", "f16[4]", 1, -1);
        (void)kernel(CASE[i].softmax, "f16[12,512,300]", 1, -1);
        for (int k = 0; k < CASE[i].between[1]; k++)
            (void)kernel("aten::mul", "f16[4]", 1, -1);
        (void)kernel(CASE[i].last, V, 1, -1);
        CHECK_INT(fuse(), *CASE[i].says ? MSIM_EUSAGE : MSIM_OK);
        CHECK_STR(m.err.text, CASE[i].says);
        if (!*CASE[i].says) {
            check_flash(0, false);
            CHECK_UINT(gone(), (1u << m.g.n_tasks) - 2);
        }
        remake_done(&m);
    }
}

/* In the order of a stream, whatever runs on others meanwhile; what is gone, a
 * copy and what no operator launched do not count. */
static void test_fuse_attention__follows_a_stream(void)
{
    begin();
    (void)kernel("aten::bmm", Q, 1, -1); /* 0 */
    (void)kernel("aten::bmm", Q, 3, -1); /* 1 */
    for (int i = 0; i < 8; i++)          /* 2 .. 9 */
        m.removed[kernel("aten::bmm", V, 1, -1)] = 1;
    m.kind[kernel("aten::bmm", V, 1, -1)] = MSIM_TASK_COPY; /* 10 */
    (void)kernel("aten::_softmax", "f16[4]", 1, -1);        /* 11 */
    (void)kernel("aten::_softmax", "f16[4]", 3, -1);        /* 12 */
    m.refs[kernel("aten::bmm", V, 1, -1)].op = MSIM_NONE;   /* 13 */
    (void)kernel("aten::bmm", V, 1, -1);                    /* 14 */
    (void)kernel("aten::bmm", V, 4, -1);                    /* 15 */
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_UINT(gone(), 0x3fc | 1u << 11 | 1u << 13 | 1u << 14);
    check_flash(0, false);
    CHECK_INT(m.d.costs->mid[1], 1000); /* no product behind it there */
    remake_done(&m);
}

/* A product on another lane, or one behind another softmax, is another's. */
static void test_fuse_attention__stays_with_its_product(void)
{
    for (int i = 0; i < 2; i++) {
        begin();
        (void)kernel("aten::bmm", Q, 1, -1);
        (void)kernel("aten::_softmax", "f16[4]", i ? 1 : 2, -1);
        if (i)
            (void)kernel("aten::_softmax", "f16[4]", 1, -1);
        (void)kernel("aten::bmm", V, i ? 1 : 2, -1);
        CHECK_INT(fuse(), MSIM_EUSAGE);
        CHECK_STR(m.err.text, NONE_WRITTEN);
        remake_done(&m);
    }
}

/* A backward kernel, by the node of an operator around it. */
static uint32_t back(int32_t seq, uint16_t rank)
{
    uint32_t around = build_op(&m.b, 0, "autograd", "", NULL);
    uint32_t t = remake_task(&m, MSIM_TASK_KERNEL, rank ? 2 : 1, 1000);

    m.b.ops[around].fw_thread = 0;
    m.b.ops[around].seq = seq;
    m.refs[t].op = build_op(&m.b, 1, "aten::mul", "f16[4]", NULL);
    m.refs[t].rank = rank;
    return t;
}

/*
 * Attentions of the nodes 10 to 12 and 30 to 32, the later first. Kernels of
 * the nodes between become one, others stay: before, between and behind, and
 * those of another rank.
 */
static void test_fuse_attention__finds_backward(void)
{
    static const struct {
        int32_t seq;
        uint16_t rank;
        bool gone;
    } BACK[] = {{33, 0, false}, {32, 0, false}, /* the first: it stays */
                {31, 0, true},  {30, 0, true},  {29, 0, false},
                {13, 0, false}, {12, 0, false}, {10, 0, true},
                {9, 0, false},  {11, 1, false}, {-1, 0, false}};
    const uint32_t n = sizeof(BACK) / sizeof(*BACK);

    begin();
    m.job.n_ranks = 2;
    m.lanes[2].rank = 1;
    written_out(1, 30);
    written_out(1, 10);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT(back(BACK[i].seq, BACK[i].rank), 6 + i);
    CHECK_INT(fuse(), MSIM_OK);
    check_flash(0, false);
    check_flash(3, false);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT(m.d.costs->removed[6 + i], BACK[i].gone);
    check_flash(7, true);
    check_flash(12, true);
    CHECK_INT(m.d.costs->mid[6], 1000);
    CHECK_INT(m.d.costs->mid[15], 1000);
    remake_done(&m);
}

/* Ranks have their own nodes; what autograd did not record has none. */
static void test_fuse_attention__tells_ranks_apart(void)
{
    begin();
    m.job.n_ranks = 2;
    m.lanes[2].rank = 1;
    written_out(1, 10);
    written_out(2, 10);
    for (uint32_t t = 3; t < 6; t++)
        m.refs[t].rank = 1;
    (void)back(10, 0); /* 6 */
    (void)back(10, 1);
    (void)back(12, 0);
    (void)back(12, 1);
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_UINT(gone(), 0x6 | 0x30 | 0x300);
    check_flash(6, true);
    check_flash(7, true);
    remake_done(&m);
    begin();
    written_out(1, -3); /* none: -3 to -1 */
    (void)back(0, 0);
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_UINT(gone(), 0x6);
    CHECK_INT(m.d.costs->mid[3], 1000);
    remake_done(&m);
}

/* The node of a kernel is that of the nearest operator around it that has
 * one. */
static void test_fuse_attention__finds_nodes_around(void)
{
    uint32_t outer, t;

    begin();
    outer = build_op(&m.b, 0, "outer", "", NULL);
    m.b.ops[outer].seq = 7;
    written_out(1, -9);
    t = m.refs[1].op;
    for (uint32_t k = 0; k < 3; k++)
        m.b.ops[m.refs[k].op].parent = outer;
    m.b.ops[t].seq = 5;
    (void)back(4, 0); /* 3 */
    (void)back(5, 0);
    (void)back(7, 0);
    (void)back(8, 0);
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_UINT(gone(), 0x6 | 0x20);
    check_flash(4, true);
    remake_done(&m);
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_fuse_attention__takes_what_flash_does);
    RUN(test_fuse_attention__knows_names);
    RUN(test_fuse_attention__follows_a_stream);
    RUN(test_fuse_attention__stays_with_its_product);
    RUN(test_fuse_attention__finds_backward);
    RUN(test_fuse_attention__tells_ranks_apart);
    RUN(test_fuse_attention__finds_nodes_around);
    msim_platform_free(platform);
    return check_summary();
}
