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

int main(void)
{
    RUN(test_parts_experts__operators);
    RUN(test_parts_experts__exchanges);
    return check_summary();
}
