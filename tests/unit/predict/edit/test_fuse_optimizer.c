/*
 * predict/edit/fuse_optimizer.c: the kernels of an optimizer's step as fused
 * ones: how many elements, how many kernels, and what they take.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;
static struct msim_platform *platform;

/* A step begins under a label; its operators are below. */
static void begin(const char *label)
{
    remake_new(&m, 1);
    m.to.platform = platform;
    (void)build_op(&m.b, 0, label, "", NULL);
}

/* An operator of the step of `kernels` kernels of 50 us. */
static void under(const char *name, const char *args, uint32_t kernels)
{
    uint32_t op = build_op(&m.b, 1, name, args, NULL);

    for (uint32_t k = 0; k < kernels; k++)
        m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 50000000)].op = op;
}

static enum msim_status fuse(void)
{
    enum msim_status status = remake_begin(&m);

    CHECK_INT(status, MSIM_OK);
    return status == MSIM_OK ? msim_fuse_optimizer(&m.d) : status;
}

/* What the models say of all operators, each once, in ps. */
static double modelled(void)
{
    struct msim_works *works = NULL;
    const struct msim_work *w;
    struct msim_cost_added one;
    double sum = 0;
    uint32_t n;

    if (!CHECK_INT(msim_works_new(&works, &m.traces[0], NULL,
                                  msim_opmap_place_of(&m.traces[0], false)),
                   MSIM_OK))
        return 1;
    for (uint32_t op = 0; op < m.b.t.n_ops; op++) {
        (void)msim_works_of(works, op, &w, &n);
        for (uint32_t k = 0; k < n; k++) {
            CHECK_INT(msim_price_work(&m.d, &w[k], &one), MSIM_OK);
            sum += (double)one.mid;
        }
    }
    msim_works_free(works);
    return sum;
}

/* The kernel at `task` is one of `kernels` of a step of so many elements, of
 * each of which it reads and writes tensors; times are `bias` over the
 * models'. */
static void check_fused(uint32_t task, const char *variant, double elems,
                        int reads, int writes, int flops, double kernels,
                        double bias)
{
    const struct msim_costs *c = m.d.costs;
    struct msim_work w = {.family = MSIM_FAMILY_OPTIMIZER,
                          .dtype = MSIM_DT_F32,
                          .variant = variant,
                          .flops = flops * elems,
                          .bytes_read = 4 * elems * reads,
                          .bytes_written = 4 * elems * writes,
                          .kernels = (uint32_t)kernels,
                          .u.vector = {.elems = (int64_t)elems,
                                       .rows = 1,
                                       .cols = (int64_t)elems}};
    struct msim_cost_added want;

    if (!CHECK_INT(msim_price_work(&m.d, &w, &want), MSIM_OK))
        return;
    CHECK_INT(c->removed[task], 0);
    CHECK_REL((double)c->mid[task], (double)want.mid * bias / kernels, 1e-6);
    CHECK_REL((double)c->low[task], (double)want.low * bias / kernels, 1e-6);
    CHECK_REL((double)c->high[task], (double)want.high * bias / kernels, 1e-6);
    CHECK_INT(c->made_by[task], MSIM_FAMILY_OPTIMIZER);
    CHECK_REL(c->flops[task], flops * elems / kernels, 1e-6);
    CHECK_REL(c->limits[task].memory, want.limits.memory / kernels, 1e-6);
    CHECK_REL(c->limits[task].vector, want.limits.vector / kernels, 1e-6);
    CHECK_REL(c->limits[task].latency, want.limits.latency / kernels, 1e-6);
}

/* Each form has its tensors and its flops, whatever else the step is called. A
 * kernel of an operator without a work has the models' time alone. */
static void test_fuse_optimizer__has_forms(void)
{
    static const struct {
        const char *label, *variant;
        int reads, writes, flops;
    } FORM[] = {
        {"Optimizer.step#AdamW.step", "_fused_adamw_", 4, 3, 14},
        {"Optimizer.step#Adam.step", "_fused_adam_", 4, 3, 14},
        {"Optimizer.step#Adagrad.step", "_fused_adagrad_", 3, 2, 8},
        {"Optimizer.step#SGD.step", "_fused_sgd_", 2, 1, 4},
    };

    for (size_t i = 0; i < sizeof(FORM) / sizeof(*FORM); i++) {
        begin(FORM[i].label);
        under("aten::add_", "f32[5000000] f32[5000000]", 1);
        under("aten::view", "f32[5000000]", 1);
        CHECK_INT(fuse(), MSIM_OK);
        check_fused(0, FORM[i].variant, 5e6, FORM[i].reads, FORM[i].writes,
                    FORM[i].flops, 1, 1);
        CHECK_INT(m.d.costs->removed[1], 1);
        remake_done(&m);
    }
}

/* SGD has momentum where a state of all parameters is multiplied; others do
 * not ask. */
static void test_fuse_optimizer__has_momentum(void)
{
    static const struct {
        const char *label, *variant, *mul;
        int reads, writes, flops;
    } CASE[] = {
        {"Optimizer.step#SGD.step", "_fused_sgd_", "f32[5000000]", 3, 2, 4},
        {"Optimizer.step#SGD.step", "_fused_sgd_", "f32[400000]", 2, 1, 4},
        {"Optimizer.step#Adagrad.step", "_fused_adagrad_", "f32[5000000]", 3, 2,
         8},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].label);
        under("aten::mul_", CASE[i].mul, 1);
        under("aten::add_", "f32[5000000] f32[5000000]", 1);
        CHECK_INT(fuse(), MSIM_OK);
        check_fused(0, CASE[i].variant, 5e6, CASE[i].reads, CASE[i].writes,
                    CASE[i].flops, 1, 1e8 / modelled());
        remake_done(&m);
    }
}

/* Sums over operators of one name, of which the least counts that is a tenth of
 * the largest; each operator once, however many kernels it has. */
static void test_fuse_optimizer__finds_sizes(void)
{
    static const struct {
        const char *other;
        double elems;
    } CASE[] = {{"f32[1000000]", 1e6},
                {"f32[999999]", 5e6},
                {"(f32[1000000] f32[500000])", 1.5e6},
                {"3.", 5e6}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin("Optimizer.step#Adam.step");
        under("aten::mul_", "f32[5000000]", 1);
        under("aten::mul_", "f32[5000000]", 2);
        under("aten::add_", "f32[5000000] f32[5000000]", 3);
        under("aten::view", CASE[i].other, 1);
        CHECK_INT(fuse(), MSIM_OK);
        check_fused(0, "_fused_adam_", CASE[i].elems, 4, 3, 14, 1, 1);
        CHECK_INT(m.d.costs->removed[1] + m.d.costs->removed[6], 2);
        remake_done(&m);
    }
}

/* Time of the trace over that of the models for it: 100 us for two kernels of
 * one operator, which the models know once. */
static void test_fuse_optimizer__is_as_slow_as_traced(void)
{
    begin("Optimizer.step#Adam.step");
    under("aten::mul_", "f32[5000000]", 2);
    CHECK_INT(fuse(), MSIM_OK);
    check_fused(0, "_fused_adam_", 5e6, 4, 3, 14, 1, 1e8 / modelled());
    remake_done(&m);
}

/* 100 tensors are 100 / 36, three kernels, of which the step's five make equal
 * shares; as many as it has at most; of 2 * 320 chunks of 65536 elements two.
 */
static void test_fuse_optimizer__has_kernels(void)
{
    char list[100 * 10 + 8] = "(";

    for (int i = 0; i < 100; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list),
                 "f32[1000] ");
    list[strlen(list) - 1] = ')';
    begin("Optimizer.step#Adam.step");
    under("aten::_foreach_thing_", list, 5);
    under("aten::view", "f32[1]", 0);
    CHECK_INT(fuse(), MSIM_OK);
    for (uint32_t t = 0; t < 5; t++)
        CHECK_INT(m.d.costs->removed[t], t == 2 || t == 4);
    CHECK_INT(m.d.costs->mid[0], m.d.costs->mid[1]);
    CHECK_INT(m.d.costs->mid[0], m.d.costs->mid[3]);
    CHECK_REL(m.d.costs->flops[3], 14 * 1e5 / 3, 1e-6);
    remake_done(&m);
    begin("Optimizer.step#Adam.step");
    under("aten::_foreach_thing_", list, 2);
    CHECK_INT(fuse(), MSIM_OK);
    CHECK_REL(m.d.costs->flops[1], 14 * 1e5 / 2, 1e-6);
    remake_done(&m);
    for (int more = 0; more < 2; more++) {
        begin("Optimizer.step#Adam.step");
        under("aten::mul_", more ? "f32[41943041]" : "f32[41943040]", 4);
        CHECK_INT(fuse(), MSIM_OK);
        check_fused(0, "_fused_adam_", 41943040 + more, 4, 3, 14, 2 + more,
                    2e8 / modelled());
        remake_done(&m);
    }
}

/* Steps are told apart by their label, and by ranks; a kernel by itself, one
 * that is gone, a copy and what is in no step stay. */
static void test_fuse_optimizer__tells_steps_apart(void)
{
    static const uint8_t GONE[] = {0, 1, 0, 0, 1, 1, 0, 1, 0};

    begin("Optimizer.step#Adam.step");
    under("aten::mul_", "f32[5000000]", 2); /* 0, 1 */
    (void)build_op(&m.b, 0, "Optimizer.step#SGD.step", "", NULL);
    under("aten::add_", "f32[5000000]", 4); /* 2 .. 5: a copy, and gone */
    m.kind[2] = MSIM_TASK_COPY;
    m.removed[4] = 1;
    under("aten::add_", "f32[5000000]", 2); /* 6, 7 of another rank */
    m.refs[6].rank = m.refs[7].rank = 1;
    m.job.n_ranks = 2;
    (void)build_op(&m.b, 0, "other", "", NULL);
    under("aten::add_", "f32[5000000]", 1); /* 8 */
    CHECK_INT(fuse(), MSIM_OK);
    for (uint32_t t = 0; t < sizeof(GONE); t++)
        CHECK_INT(m.d.costs->removed[t], GONE[t]);
    CHECK_INT(m.d.costs->mid[8], 50000000);
    CHECK_INT(m.d.costs->mid[2], 50000000);
    CHECK_REL(m.d.costs->flops[3], 4 * 5e6, 1e-6);
    CHECK_REL(m.d.costs->flops[6], 4 * 5e6, 1e-6);
    remake_done(&m);
}

static void test_fuse_optimizer__refuses(void)
{
    static const struct {
        const char *label, *args, *says;
        uint32_t kernels;
    } CASE[] = {
        {"Optimizer.step#LBFGS.step", "f32[100]",
         "'Optimizer.step#LBFGS.step' has no fused form in PyTorch: Adam, "
         "AdamW, SGD and Adagrad have",
         2},
        {"Optimizer.step#Adam.step", "",
         "the trace does not record the sizes of the parameters", 2},
        {"Optimizer.step#Adam.step", "f32[100]",
         "no optimizer step of several kernels is marked in the traces "
         "(Optimizer.step#...)",
         1},
        {"Optimizer.zero_grad#Adam.zero_grad", "f32[100]",
         "no optimizer step of several kernels is marked in the traces "
         "(Optimizer.step#...)",
         2},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].label);
        under("aten::mul_", CASE[i].args, CASE[i].kernels);
        CHECK_INT(fuse(), MSIM_EUSAGE);
        CHECK_STR(m.err.text, CASE[i].says);
        remake_done(&m);
    }
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_fuse_optimizer__has_forms);
    RUN(test_fuse_optimizer__has_momentum);
    RUN(test_fuse_optimizer__finds_sizes);
    RUN(test_fuse_optimizer__is_as_slow_as_traced);
    RUN(test_fuse_optimizer__has_kernels);
    RUN(test_fuse_optimizer__tells_steps_apart);
    RUN(test_fuse_optimizer__refuses);
    msim_platform_free(platform);
    return check_summary();
}
