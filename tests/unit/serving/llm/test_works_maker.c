/* serving/llm/works_maker.c: one work of each kind, number by number. */
#include "serving/llm/llm_internal.h"
#include "tests/check.h"

static struct msim_llm_works w;
static struct msim_llm_rank r;

/* Three layers of a rank of vLLM's on nodes of 8 GPUs. */
static struct msim_llm_maker maker(void)
{
    memset(&w, 0, sizeof(w));
    r = (struct msim_llm_rank){.framework = "vllm", .gpus_a_node = 8};
    return (struct msim_llm_maker){&w, &r, 3};
}

static void test_works_maker__adds_one(void)
{
    struct msim_llm_maker k = maker();
    struct msim_work *of = msim_llm_add(&k, MSIM_LLM_KIND_EXPERT);

    CHECK_INT(w.n, 1);
    CHECK(of == &w.of[0].work);
    CHECK_INT(w.of[0].kind, MSIM_LLM_KIND_EXPERT);
    CHECK_REL(w.of[0].times, 3, 0);
    CHECK_INT(of->dtype, MSIM_DT_BF16);
    CHECK_INT(of->kernels, 1);
    CHECK(of->asked);
    CHECK_STR(of->framework, "vllm");
}

/* A full list keeps its first works; the last one is replaced. */
static void test_works_maker__has_an_end(void)
{
    struct msim_llm_maker k = maker();

    for (int i = 0; i < MSIM_LLM_WORKS; i++)
        (void)msim_llm_add(&k, MSIM_LLM_KIND_VECTOR);
    CHECK_INT(w.n, MSIM_LLM_WORKS);
    CHECK(msim_llm_add(&k, MSIM_LLM_KIND_EXPERT) ==
          &w.of[MSIM_LLM_WORKS - 1].work);
    CHECK_INT(w.n, MSIM_LLM_WORKS);
    CHECK_INT(w.of[MSIM_LLM_WORKS - 1].kind, MSIM_LLM_KIND_EXPERT);
    CHECK_INT(w.of[MSIM_LLM_WORKS - 2].kind, MSIM_LLM_KIND_VECTOR);
}

/* 5 rows of 64 times 64 x 96, twice: FLOPs, operands, weights of 3 layers. */
static void test_works_maker__products(void)
{
    struct msim_llm_maker k = maker();
    const struct msim_work *of = &w.of[0].work;

    msim_llm_add_product(&k, MSIM_QUANT_BF16, 4.5, 64, 96, 2);
    CHECK_INT(w.of[0].kind, MSIM_LLM_KIND_PRODUCT);
    CHECK_INT(w.of[0].type, MSIM_QUANT_BF16);
    CHECK_INT(of->family, MSIM_FAMILY_GEMM);
    CHECK_INT(of->dtype, MSIM_DT_BF16);
    CHECK(!of->variant);
    CHECK_INT(of->u.gemm.m, 5);
    CHECK_INT(of->u.gemm.k, 64);
    CHECK_INT(of->u.gemm.n, 96);
    CHECK_INT(of->u.gemm.batch, 2);
    CHECK_REL(of->flops, 2.0 * 2 * 5 * 64 * 96, 0);
    CHECK_REL(of->bytes_read, 2.0 * 2 * (5 * 64 + 64 * 96), 0);
    CHECK_REL(of->bytes_written, 2.0 * 2 * 5 * 96, 0);
    CHECK_REL(w.weights, 3 * 64 * 96 * 2 * 2, 0);
    k.layers = 1; /* weights add up; of no rows one */
    msim_llm_add_product(&k, MSIM_QUANT_BF16, 0, 64, 96, 1);
    CHECK_REL(w.weights, 3 * 64 * 96 * 2 * 2 + 64 * 96 * 2, 0);
    CHECK_INT(w.of[1].work.u.gemm.m, 1);
}

static void test_works_maker__types_of_products(void)
{
    static const struct {
        enum msim_quant type;
        enum msim_dtype dtype;
        const char *variant;
    } TYPES[] = {
        {MSIM_QUANT_FP8, MSIM_DT_F8, NULL},
        {MSIM_QUANT_FP8_BLOCK, MSIM_DT_F8, "fp8_block"},
        {MSIM_QUANT_INT8, MSIM_DT_BF16, "int8_wo"},
        {MSIM_QUANT_INT4, MSIM_DT_BF16, "int4_wo"},
        /* has no rows of its own: 4-bit weights, 16-bit arithmetic */
        {MSIM_QUANT_MXFP4, MSIM_DT_BF16, "int4_wo"},
    };

    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++) {
        struct msim_llm_maker k = maker();

        msim_llm_add_product(&k, TYPES[i].type, 5, 64, 96, 1);
        CHECK_INT(w.of[0].type, TYPES[i].type);
        CHECK_INT(w.of[0].work.dtype, TYPES[i].dtype);
        CHECK_STR(w.of[0].work.variant, TYPES[i].variant);
        CHECK_REL(w.weights,
                  3 * 64 * 96 *
                      msim_quant_bytes(TYPES[i].type == MSIM_QUANT_MXFP4
                                           ? MSIM_QUANT_INT4
                                           : TYPES[i].type),
                  1e-12);
    }
}

static void test_works_maker__vectors(void)
{
    struct msim_llm_maker k = maker();
    const struct msim_work *of = &w.of[0].work;

    msim_llm_add_vector(&k, MSIM_FAMILY_NORM, "rms_norm", 2.5, 7, 10, 20);
    CHECK_INT(w.of[0].kind, MSIM_LLM_KIND_VECTOR);
    CHECK_INT(of->family, MSIM_FAMILY_NORM);
    CHECK_STR(of->variant, "rms_norm");
    CHECK(!of->framework);
    CHECK_INT(of->u.vector.elems, 18); /* 17.5 */
    CHECK_INT(of->u.vector.rows, 3);
    CHECK_INT(of->u.vector.cols, 7);
    CHECK_REL(of->bytes_read, 20, 0);
    CHECK_REL(of->bytes_written, 40, 0);
    CHECK_REL(w.weights, 0, 0);
}

/* An all-reduce is the engine's own up to 8 MiB and in one node. */
static void test_works_maker__collectives(void)
{
    static const char *const OWN[] = {[MSIM_LLM_VLLM] = "vLLM_custom_graph",
                                      [MSIM_LLM_SGLANG] =
                                          "SGLang_CustomAllReduce_graph",
                                      [MSIM_LLM_TRTLLM] = "trtllm"};
    struct msim_llm_maker k = maker();
    const struct msim_work *of = &w.of[0].work;

    msim_llm_add_collective(&k, MSIM_LLM_KIND_ALL_REDUCE, MSIM_COLL_ALL_REDUCE,
                            100, 1);
    CHECK_INT(w.n, 0); /* there is nobody else */
    msim_llm_add_collective(&k, MSIM_LLM_KIND_EXCHANGE, MSIM_COLL_ALL_GATHER,
                            100, 2);
    CHECK_INT(w.n, 1);
    CHECK_INT(w.of[0].kind, MSIM_LLM_KIND_EXCHANGE);
    CHECK_INT(of->family, MSIM_FAMILY_COLLECTIVE);
    CHECK_INT(of->u.coll.collective, MSIM_COLL_ALL_GATHER);
    CHECK_INT(of->u.coll.bytes, 100);
    CHECK_INT(of->u.coll.ranks, 2);
    CHECK_INT(of->u.coll.nodes, 1);
    CHECK(!of->framework && !of->u.coll.algorithm);
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        k = maker();
        r.s.engine = (enum msim_llm_engine)e;
        msim_llm_add_collective(&k, MSIM_LLM_KIND_ALL_REDUCE,
                                MSIM_COLL_ALL_REDUCE, 8 << 20, 8);
        CHECK_STR(of->framework, "vllm");
        CHECK_STR(of->u.coll.algorithm, OWN[e]);
        msim_llm_add_collective(&k, MSIM_LLM_KIND_ALL_REDUCE,
                                MSIM_COLL_ALL_REDUCE, (8 << 20) + 1, 8);
        CHECK(!w.of[1].work.framework && !w.of[1].work.u.coll.algorithm);
        msim_llm_add_collective(&k, MSIM_LLM_KIND_ALL_REDUCE,
                                MSIM_COLL_ALL_REDUCE, 0, 9);
        CHECK_INT(w.of[2].work.u.coll.bytes, 1);
        CHECK_INT(w.of[2].work.u.coll.nodes, 2);
        CHECK(!w.of[2].work.framework && !w.of[2].work.u.coll.algorithm);
    }
}

int main(void)
{
    RUN(test_works_maker__adds_one);
    RUN(test_works_maker__has_an_end);
    RUN(test_works_maker__products);
    RUN(test_works_maker__types_of_products);
    RUN(test_works_maker__vectors);
    RUN(test_works_maker__collectives);
    return check_summary();
}
