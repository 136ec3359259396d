/* plan/parts/parts.c: the operators of a layer with experts, of 128 tokens that
 * each take 4 of 16, spread over two ranks; and what every token takes. */
#include "plan/parts/parts.h"
#include "tests/check.h"

static struct msim_described model;
static struct msim_strategy strategy;
static struct msim_parts parts;

static const struct msim_part *make(int64_t shared, int64_t ep, bool gated)
{
    model = (struct msim_described){
        .layers = 2,
        .hidden = 64,
        .heads = 4,
        .kv_heads = 4,
        .head_dim = 16,
        .vocab = 1000,
        .gated = gated,
        .moe = {.experts = 16, .topk = 4, .ffn = 48, .shared_experts = shared}};
    strategy = (struct msim_strategy){.gpus = 2,
                                      .tp = 1,
                                      .pp = 1,
                                      .vp = 1,
                                      .cp = 1,
                                      .ep = ep,
                                      .dp = 2,
                                      .micro_batch = 1,
                                      .grad_accum = 1,
                                      .sequence = 128,
                                      .precision = MSIM_PRECISION_BF16};
    msim_parts_make(&parts, &model, &strategy);
    return msim_parts_find(&parts, MSIM_PART_EXPERTS);
}

/* The first forward operator of that name; NULL: there is none. */
static const struct msim_work *work_of(const struct msim_part *p,
                                       const char *name)
{
    for (uint32_t i = 0; p && i < p->n_ops; i++)
        if (p->ops[i].pass == MSIM_PASS_FORWARD &&
            strcmp(p->ops[i].name, name) == 0)
            return &p->ops[i].work;
    return NULL;
}

static void check_gemm(const struct msim_part *p, const char *name, int64_t m,
                       int64_t n, int64_t k, int64_t batch)
{
    const struct msim_work *w = work_of(p, name);

    REQUIRE(w != NULL);
    CHECK_INT(w->u.gemm.m, m);
    CHECK_INT(w->u.gemm.n, n);
    CHECK_INT(w->u.gemm.k, k);
    CHECK_INT(w->u.gemm.batch, batch);
}

static void test_parts_experts__operators(void)
{
    for (int gated = 0; gated < 2; gated++) {
        const struct msim_part *p = make(3, 2, gated);
        const struct msim_work *w;
        int64_t up = gated ? 2 : 1;

        check_gemm(p, "router", 128, 16, 64, 1);
        /* 512 rows over the 8 experts of a rank; three others for all. */
        check_gemm(p, "expert_up", 64, up * 48, 64, 8);
        check_gemm(p, "expert_down", 64, 64, 48, 8);
        check_gemm(p, "shared_up", 128, up * 144, 64, 1);
        check_gemm(p, "shared_down", 128, 64, 144, 1);
        w = work_of(p, "permute");
        REQUIRE(w != NULL);
        /* 512 rows and the 128 that they are of, of 64 x 2 bytes. */
        CHECK_INT(w->u.vector.elems, 512 * 64);
        CHECK_REL(w->bytes_read, (512 + 128) * 64 * 2, 1e-12);
        CHECK_REL(w->bytes_written, (512 + 128) * 64 * 2, 1e-12);
    }
    CHECK(work_of(make(0, 2, true), "shared_up") == NULL);
}

/* Tokens go to the ranks of their experts and come back, in both passes. */
static void test_parts_experts__exchanges(void)
{
    const struct msim_part *p = make(0, 2, true);
    uint32_t n = 0;

    REQUIRE(p != NULL);
    for (uint32_t i = 0; i < p->n_comms; i++)
        if (p->comms[i].group == MSIM_PART_GROUP_EP) {
            CHECK_INT(p->comms[i].collective, MSIM_COLL_ALL_TO_ALL);
            CHECK_INT(p->comms[i].pass, n);
            CHECK_REL(p->comms[i].bytes, 512 * 64 * 2, 1e-12);
            CHECK_REL(p->comms[i].count, 2, 0);
            n++;
        }
    CHECK_INT(n, 2);
    p = make(0, 1, true); /* each rank has all of them */
    check_gemm(p, "expert_up", 32, 96, 64, 16);
    for (uint32_t i = 0; i < p->n_comms; i++)
        CHECK(p->comms[i].group != MSIM_PART_GROUP_EP);
}

/* ---- with tensor parallel ranks ------------------------------------------ */

/* Of a job of 8 GPUs with `tp`, with three shared experts. */
static const struct msim_part *split(int64_t tp, int64_t ep, int64_t etp)
{
    (void)make(3, ep, true);
    strategy.gpus = 8;
    strategy.tp = tp;
    strategy.etp = etp;
    strategy.dp = 8 / tp;
    msim_parts_make(&parts, &model, &strategy);
    return msim_parts_find(&parts, MSIM_PART_EXPERTS);
}

/* Bytes of messages of a group, each as often as it is sent. */
static double sent(const struct msim_part *p, enum msim_part_group g,
                   enum msim_collective c, enum msim_pass pass)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n_comms; i++)
        if (p->comms[i].group == g && p->comms[i].collective == c &&
            p->comms[i].pass == pass)
            sum += p->comms[i].bytes * p->comms[i].count;
    return sum;
}

/* Split experts have the rows of all ranks that share them: of 128 tokens, or
 * of the four ranks that sent theirs. */
static void test_parts_experts__split(void)
{
    const struct msim_part *p = split(4, 1, 4);

    check_gemm(p, "router", 32, 16, 64, 1);
    check_gemm(p, "expert_up", 32, 2 * 12, 64, 16);
    check_gemm(p, "expert_down", 32, 64, 12, 16);
    check_gemm(p, "shared_up", 128, 2 * 36, 64, 1);
    check_gemm(p, "shared_down", 128, 64, 36, 1);
    CHECK_INT(work_of(p, "permute")->u.vector.elems, 512 * 64);
    p = split(4, 2, 4);
    check_gemm(p, "expert_up", 64, 2 * 12, 64, 8);
    CHECK_INT(work_of(p, "permute")->u.vector.elems, 128 * 64);
    p = split(4, 2, 1); /* whole: a rank's own tokens */
    check_gemm(p, "expert_up", 16, 2 * 48, 64, 8);
    check_gemm(p, "shared_up", 128, 2 * 36, 64, 1);
}

/*
 * Bytes of a pass, by hand. Attention and the MLP of shared experts: 128 tokens
 * of 64 x 2 bytes come together, and back; what was given is gathered once more
 * in backward. Experts: the same of tokens, or with ep 2 of 4 x 32 x 4 rows,
 * once in each pass; and 32 x 4 rows of a rank go to others and back.
 */
static void test_parts_experts__messages(void)
{
    static const struct {
        int64_t ep, etp;
        double tokens, exchanged; /* in tensor parallel messages of experts */
    } CASES[] = {
        {1, 4, 128, 0}, {2, 4, 512, 128}, {1, 1, 0, 0}, {2, 1, 0, 128}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const struct msim_part *p = split(4, CASES[i].ep, CASES[i].etp);
        double row = 64 * 2, own = CASES[i].tokens;

        CHECK(p->n_comms < MSIM_PART_COMMS);
        for (int pass = 0; pass < 2; pass++) {
            CHECK_REL(sent(p, MSIM_PART_GROUP_TP, MSIM_COLL_ALL_GATHER,
                           (enum msim_pass)pass),
                      row * (128 * 2 * (1 + pass) + own), 1e-12);
            CHECK_REL(sent(p, MSIM_PART_GROUP_TP, MSIM_COLL_REDUCE_SCATTER,
                           (enum msim_pass)pass),
                      row * (128 * 2 + own), 1e-12);
            CHECK_REL(sent(p, MSIM_PART_GROUP_EP, MSIM_COLL_ALL_TO_ALL,
                           (enum msim_pass)pass),
                      row * 2 * CASES[i].exchanged, 1e-12);
        }
    }
}

/* Parameters of the ranks of a stage are those of the model, each as often as
 * there are copies. */
static void test_parts_experts__parameters(void)
{
    double experts = 16 * (64 * 2 * 48 + 48 * 64), shared = 3 * experts / 16;

    for (int64_t tp = 1; tp <= 8; tp *= 2)
        for (int64_t ep = 1; ep <= 8; ep *= 2)
            for (int64_t etp = 1; etp <= tp; etp *= tp > 1 ? tp : 2) {
                const struct msim_part *p;
                double mlp;

                if (8 % (ep * etp))
                    continue;
                p = split(tp, ep, etp);
                CHECK_REL(p->expert_parameters * 8,
                          experts * (double)msim_expert_copies(&strategy),
                          1e-12);
                CHECK_INT(msim_expert_copies(&strategy) * ep * etp, 8);
                mlp = (double)(work_of(p, "shared_up")->u.gemm.n +
                               work_of(p, "shared_down")->u.gemm.k) *
                      64;
                CHECK_REL(mlp * (double)tp, shared, 1e-12);
            }
}

/* The router's input was never gathered; the shared experts' was. */
static void test_parts_experts__gathered(void)
{
    double own = split(4, 1, 1)->gathered;

    model.moe.shared_experts = 0;
    msim_parts_make(&parts, &model, &strategy);
    CHECK_REL(own - msim_parts_find(&parts, MSIM_PART_EXPERTS)->gathered,
              (128 - 32) * 64 * 2, 1e-12);
    CHECK_REL(msim_parts_find(&parts, MSIM_PART_EXPERTS)->gathered,
              (128 - 32) * 64 * 2, 1e-12); /* of attention */
}

int main(void)
{
    RUN(test_parts_experts__split);
    RUN(test_parts_experts__messages);
    RUN(test_parts_experts__parameters);
    RUN(test_parts_experts__gathered);
    RUN(test_parts_experts__operators);
    RUN(test_parts_experts__exchanges);
    return check_summary();
}
