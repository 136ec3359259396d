/*
 * tests/unit/core/rewrite/test_shares.c - which sizes tensor parallel ranks
 * share, where they meet, and what a trace says of ranks that it is one of.
 */
#include "core/rewrite/split/experts.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* ---- ranks that are recorded --------------------------------------------- */

/* Operator 0 is forward, 1 backward, 2 forward behind it; group 0 of four, 1 of
 * one. */
static void test_shares__recorded(void)
{
    static const struct {
        struct msim_comm comms[2];
        uint32_t ranks, group;
        bool rows;
    } cases[] = {
        {{{.op = 0, .in_elems = 2, .collective = MSIM_COLL_ALL_REDUCE},
          {.op = 1}},
         4,
         0,
         false},
        {{{.op = 0, .in_elems = 2, .collective = MSIM_COLL_REDUCE_SCATTER},
          {.op = 1}},
         4,
         0,
         true},
        {{{.op = 0,
           .in_elems = 2,
           .group = 2,
           .collective = MSIM_COLL_ALL_REDUCE},
          {.op = 0, .in_elems = 2, .collective = MSIM_COLL_REDUCE_SCATTER}},
         2,
         2,
         false},
        /* one number, another kind, nobody to meet, gradients */
        {{{.op = 0, .in_elems = 1, .collective = MSIM_COLL_ALL_REDUCE}},
         0,
         0,
         false},
        {{{.op = 0, .in_elems = 2, .collective = MSIM_COLL_ALL_GATHER}},
         0,
         0,
         false},
        {{{.op = 0,
           .in_elems = 2,
           .group = 1,
           .collective = MSIM_COLL_REDUCE_SCATTER}},
         0,
         0,
         false},
        {{{.op = 0,
           .in_elems = 2,
           .group = MSIM_NONE,
           .collective = MSIM_COLL_ALL_REDUCE}},
         0,
         0,
         false},
        {{{.op = 1, .in_elems = 2, .collective = MSIM_COLL_ALL_REDUCE},
          {.op = 2, .in_elems = 2, .collective = MSIM_COLL_ALL_REDUCE}},
         0,
         0,
         false},
        {{{.op = MSIM_NONE, .in_elems = 2, .collective = MSIM_COLL_ALL_REDUCE}},
         0,
         0,
         false},
    };
    struct msim_job *job = made_step(8);
    struct msim_op ops[3];
    struct msim_group groups[] = {{.size = 4}, {.size = 1}, {.size = 2}};

    REQUIRE(job != NULL);
    ops[0] = ops[2] = job->ranks[0]->ops[0];
    ops[1] = job->ranks[0]->ops[find_op(
        job->ranks[0], "autograd::engine::evaluate_function: L", 0)];
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        size_t k = i % (sizeof(cases) / sizeof(*cases));
        struct msim_comm comms[2];
        const struct msim_trace t = {.strings = job->strings,
                                     .ops = ops,
                                     .n_ops = 3,
                                     .comms = comms,
                                     .n_comms = 2,
                                     .groups = groups};
        bool rows = !cases[k].rows;

        if (i == sizeof(cases) / sizeof(*cases)) {
            ops[1] = ops[0]; /* by its scope instead of its name */
            ops[1].scope = 1;
        }
        memcpy(comms, cases[k].comms, sizeof(comms));
        CHECK_UINT(msim_shares_recorded_ranks(&t, &rows), cases[k].ranks);
        CHECK_INT(rows, cases[k].rows);
        if (cases[k].ranks)
            CHECK_UINT(msim_shares_recorded_group(&t), cases[k].group);
    }
    msim_job_free(job);
}

/* ---- where they meet ----------------------------------------------------- */

#define TENSORS 4
#define DIMS    4

/* Classes: k is kept and d divided; by role: h the width, s the sequence, t
 * tokens, 0 has no role. */
static const char CLASSES[] = "kdhst0";
static struct msim_size_class classes[] = {
    {.size = 8},
    {.size = 16},
    {.size = 8, .role = MSIM_SIZE_HIDDEN},
    {.size = 8, .role = MSIM_SIZE_SEQUENCE},
    {.size = 8, .role = MSIM_SIZE_TOKENS},
    {.size = 8}};
static int64_t to[] = {8, 8, 8, 8, 8, 8};
static uint32_t of_id[TENSORS + 1], places[TENSORS * DIMS];
static struct msim_arg args[TENSORS];
static struct msim_arg_block block;
static struct msim_op op;
static struct msim_trace view = {
    .ops = &op, .n_ops = 1, .args = args, .blocks = &block};
static uint8_t experts[1];
static struct msim_shares shares = {
    .view = &view,
    .experts = {.product = experts},
    .to = to,
    .sizes = {
        .of_id = of_id, .places = places, .classes = classes, .n_classes = 6}};

/* "kd dk": two tensors of two dimensions; "i" is a number, "-" a tensor without
 * dimensions, "1" a size of 1. The first id is 1. */
static void make(const char *text)
{
    uint32_t id = 1, at = 0;

    op = msim_op_empty();
    block = (struct msim_arg_block){0, 0};
    of_id[0] = MSIM_NONE;
    for (const char *s = text; *s; s += *s == ' ') {
        struct msim_arg *a = &args[block.count++];

        *a = (struct msim_arg){.kind =
                                   *s == 'i' ? MSIM_ARG_INT : MSIM_ARG_TENSOR};
        if (*s == 'i') {
            s++;
            continue;
        }
        of_id[id++] = at;
        for (; *s && *s != ' '; s++)
            if (*s != '-') {
                places[at++] = *s == '1'
                                   ? MSIM_NONE
                                   : (uint32_t)(strchr(CLASSES, *s) - CLASSES);
                a->n++;
            }
    }
    if (!block.count)
        return;
    op.args = 0;
    op.ids = 1;
}

static void test_shares__meet(void)
{
    static const struct {
        const char *name, *tensors;
        enum msim_shares_meet want;
    } cases[] = {
        {"aten::mm", "kd dk", MSIM_SHARES_SUM},
        {"aten::mm", "kk kd", MSIM_SHARES_WHOLE},
        {"aten::mm", "dk kk", MSIM_SHARES_WHOLE},
        {"aten::mm", "kk kk", MSIM_SHARES_NOT},
        {"aten::mm", "i kd dk", MSIM_SHARES_SUM},
        {"aten::mm", "k1 1d", MSIM_SHARES_WHOLE},
        {"aten::mm", "- dk", MSIM_SHARES_WHOLE},
        {"aten::mm", "", MSIM_SHARES_NOT},
        {"aten::bmm", "kkd kdk", MSIM_SHARES_SUM},
        {"aten::bmm", "dkk dkk", MSIM_SHARES_WHOLE},
        {"aten::_scaled_mm", "kd dk k", MSIM_SHARES_SUM},
        {"aten::addmm", "k kd dk", MSIM_SHARES_SUM},
        {"aten::addmm", "d kk kd", MSIM_SHARES_WHOLE},
        {"aten::addmm", "kd kk kk", MSIM_SHARES_WHOLE},
        {"aten::addmm", "k kk kk", MSIM_SHARES_NOT},
        {"aten::baddbmm", "k kd dk", MSIM_SHARES_SUM},
        {"aten::embedding", "dk kk", MSIM_SHARES_SUM},
        {"aten::embedding", "kd kk", MSIM_SHARES_NOT},
        {"aten::embedding_dense_backward", "kk", MSIM_SHARES_WHOLE},
        {"aten::_log_softmax", "kd i", MSIM_SHARES_MAX},
        {"aten::_log_softmax", "dk i", MSIM_SHARES_NOT},
        {"aten::nll_loss_forward", "kd k", MSIM_SHARES_ROWS},
        {"aten::nll_loss_forward", "kk k", MSIM_SHARES_NOT},
        {"aten::nll_loss2d_forward", "kd k", MSIM_SHARES_ROWS},
        {"aten::relu", "kd dk", MSIM_SHARES_NOT},
    };
    struct msim_strtab *strings;

    REQUIRE(msim_strtab_new(&strings) == MSIM_OK);
    view.strings = strings;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        make(cases[i].tensors);
        CHECK_INT(msim_strtab_add(strings, cases[i].name, strlen(cases[i].name),
                                  &op.name),
                  MSIM_OK);
        if (!CHECK_INT(msim_shares_meet_at(&shares, 0), cases[i].want))
            fprintf(stderr, "%s %s\n", cases[i].name, cases[i].tensors);
        if (i == 0) { /* a tensor without ids is none */
            op.ids = MSIM_NONE;
            CHECK_INT(msim_shares_meet_at(&shares, 0), MSIM_SHARES_NOT);
        }
        if (!strcmp(cases[i].name, "aten::bmm")) { /* all have all experts */
            experts[0] = 1;
            CHECK_INT(msim_shares_meet_at(&shares, 0), MSIM_SHARES_NOT);
            experts[0] = 0;
        }
    }
    msim_strtab_free(strings);
}

static void test_shares__dimensions(void)
{
    static const struct {
        const char *tensor;
        uint32_t tokens, unnamed; /* where no operator names tokens */
        bool divided;
    } cases[] = {
        {"hs", 1, 1, false},
        {"th", 0, 0, false},
        {"ksh", 1, 1, false},
        {"st", 0, 0, false},
        {"00h", MSIM_NONE, 1, false},
        {"1h", MSIM_NONE, 0, false},
        {"0hh", MSIM_NONE, MSIM_NONE, false},
        {"0", MSIM_NONE, MSIM_NONE, false},
        {"-", MSIM_NONE, MSIM_NONE, false},
        {"kd", MSIM_NONE, 0, true},
        {"d1h", MSIM_NONE, 1, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t n =
            *cases[i].tensor == '-' ? 0 : (uint32_t)strlen(cases[i].tensor);

        make(cases[i].tensor);
        shares.named = true;
        CHECK_UINT(msim_shares_tokens(&shares, 1, n), cases[i].tokens);
        shares.named = false;
        CHECK_UINT(msim_shares_tokens(&shares, 1, n), cases[i].unnamed);
        CHECK_INT(msim_shares_is_divided(&shares, 1, n), cases[i].divided);
    }
    CHECK(!msim_shares_is_divided(&shares, 0, 2));
    CHECK(!msim_shares_is_divided(&shares, MSIM_NONE, 2));
}

/* ---- rows ---------------------------------------------------------------- */

#define OPS 9

/* What each operator makes, in letters; of which role it is, and whether the
 * first is a gradient; what of it has a share of the tokens. */
static const struct {
    const char *makes;
    uint8_t role;
    bool gradient;
    const char *rows;
} ROWS[OPS] = {
    {"sh", MSIM_ANATOMY_FORWARD, false, "1"},
    {"hs", MSIM_ANATOMY_BACKWARD, false, "1"},
    {"sk", MSIM_ANATOMY_FORWARD, false, "0"},  /* not as wide */
    {"kh", MSIM_ANATOMY_FORWARD, false, "0"},  /* no tokens */
    {"sdh", MSIM_ANATOMY_FORWARD, false, "0"}, /* divided */
    {"sh s0", MSIM_ANATOMY_FORWARD, false, "11"},
    {"s0 k", MSIM_ANATOMY_FORWARD, false, "00"},
    {"sh", MSIM_ANATOMY_BACKWARD, true, "0"},
    {"sh", MSIM_ANATOMY_OPTIMIZER, false, "0"},
};

static void check_rows(uint32_t n_ranks, int64_t tokens, const char *why)
{
    struct msim_op ops[OPS];
    struct msim_arg_block blocks[OPS];
    struct msim_arg all[2 * OPS];
    struct msim_life lives[2 * OPS];
    struct msim_anatomy_statement rows[OPS];
    uint8_t kind[2 * OPS] = {0};
    uint32_t of[2 * OPS], ids[2 * OPS], at[8 * OPS], statement[OPS], n = 0,
                                                                     dim = 0;
    int64_t dims[8 * OPS];
    struct msim_error err = {0};
    struct msim_trace t = {.ops = ops,
                           .n_ops = OPS,
                           .blocks = blocks,
                           .args = all,
                           .dims = dims,
                           .topmost = statement};
    struct msim_weave w = {.t = &t,
                           .err = &err,
                           .kind = kind,
                           .a = {.rows = rows, .statement = statement},
                           .d = {.lives = {.of = of, .rows = lives}}};
    struct msim_shares s = {
        .view = &t,
        .to = to,
        .ranks = n_ranks,
        .sizes = {
            .of_id = ids, .places = at, .classes = classes, .n_classes = 6}};

    memset(all, 0, sizeof(all));
    memset(lives, 0, sizeof(lives));
    for (uint32_t i = 0; i < OPS; i++) {
        ops[i] = msim_op_empty();
        ops[i].outs = statement[i] = i;
        ops[i].out_ids = blocks[i].first = n;
        rows[i] =
            (struct msim_anatomy_statement){.op = i, .role = ROWS[i].role};
        kind[n] = ROWS[i].gradient ? MSIM_LIFE_GRADIENT : MSIM_LIFE_OTHER;
        for (const char *x = ROWS[i].makes; *x; x += *x == ' ') {
            all[n].kind = MSIM_ARG_TENSOR;
            all[n].v.i = ids[n] = dim;
            of[n] = n;
            lives[n].born = i;
            for (; *x && *x != ' '; x++, all[n].n++, dim++) {
                at[dim] = (uint32_t)(strchr(CLASSES, *x) - CLASSES);
                dims[dim] = *x == 's' ? tokens : 7;
            }
            n++;
        }
        blocks[i].count = n - blocks[i].first;
    }
    w.d.lives.n = n;
    CHECK_INT(msim_shares_rows(&s, &w), *why ? MSIM_EUSAGE : MSIM_OK);
    CHECK_STR(err.text, why);
    CHECK(s.named);
    for (uint32_t i = 0; i < OPS; i++)
        for (uint32_t k = 0; k < blocks[i].count; k++)
            if (!CHECK_INT(s.rows[ops[i].out_ids + k], ROWS[i].rows[k] - '0'))
                fprintf(stderr, "%u of operator %u\n", k, i);
    free(s.rows);
}

/* One token is on every rank. */
static void test_shares__rows(void)
{
    check_rows(4, 8, "");
    check_rows(4, 1, "");
    check_rows(4, 6,
               "parallel.tp is 4, which does not divide the 6 tokens of the "
               "trace; want so many that it does, or \"sequence_parallel\": "
               "false");
}

/* ---- sizes --------------------------------------------------------------- */

/* 6 heads, 2 of keys and values; 100 words; then experts. */
static const struct made_node MODEL[] = {
    {1, 0, "aten::_flash_attention_forward", 0, -1,
     "10:2x5x6x4 11:2x5x2x4 12:2x5x2x4", "13:2x5x6x4"},
    {2, 0, "aten::embedding", 0, -1, "21:100x24 20:2x5", "26:2x5x24"},
    {3, 0, "aten::relu", 0, -1, "26:2x5x24", "27:2x5x24"},
    {4, 0, "aten::bmm", 0, -1, "30:3x8x7 31:3x7x9", "32:3x8x9"},
};

/* Sizes of what attention is given, and words; or why not. */
static void check_sizes(size_t nodes, uint32_t ranks, const char *want)
{
    struct msim_job *job = made_nodes(MODEL + (nodes == 1), nodes);
    struct msim_error err = {0};
    struct msim_shares s;
    struct spelled got = {"", 0};

    REQUIRE(job != NULL);
    if (msim_shares_find(&s, job->ranks[0], ranks, true, false, &err) !=
        MSIM_OK)
        spell(&got, "%s", err.text);
    else
        for (uint32_t i = 0; i < 2; i++) {
            struct spelled op_args;

            spell_args(s.view, s.view->ops[i].args, &op_args);
            spell(&got, "%s%s", i ? " | " : "", op_args.text);
        }
    CHECK_STR(got.text, want);
    msim_shares_release(&s);
    msim_job_free(job);
}

/* Fewer heads of keys and values than ranks are held by several ranks; a
 * vocabulary is padded. */
static void test_shares__sizes(void)
{
    check_sizes(3, 2,
                "fp32[2,5,3,4]@gpu fp32[2,5,1,4]@gpu fp32[2,5,1,4]@gpu | "
                "fp32[50,24]@gpu fp32[2,5]@gpu");
    check_sizes(3, 6,
                "fp32[2,5,1,4]@gpu fp32[2,5,1,4]@gpu fp32[2,5,1,4]@gpu | "
                "fp32[17,24]@gpu fp32[2,5]@gpu");
    check_sizes(3, 3,
                "parallel.tp is 3: kv_heads of 2 times 1 / 3 is no whole "
                "number");
    check_sizes(3, 4,
                "parallel.tp is 4: heads of 6 times 1 / 4 is no whole number");
    check_sizes(1, 2,
                "parallel.tp is 2: no operator of the trace says which of its "
                "sizes are heads or the inside of an MLP, want attention or an "
                "MLP of two linear layers");
    check_sizes(4, 2,
                "parallel.tp is 2: operator 3, aten::bmm, multiplies by "
                "weights of [3, 7, 9], as experts have them, of which no size "
                "is shared out; want a step that updates them, or a model that "
                "is described");
}

int main(void)
{
    RUN(test_shares__recorded);
    RUN(test_shares__meet);
    RUN(test_shares__dimensions);
    RUN(test_shares__rows);
    RUN(test_shares__sizes);
    return check_summary();
}
