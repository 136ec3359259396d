/* Training programs: how layers go to stages, and when gradients are exchanged.
 */
#include "plan/describe/strategy.h"
#include "tests/check.h"

static struct msim_strategy staged(const char *framework, int64_t pp)
{
    struct msim_strategy s = {.pp = pp, .vp = 1, .grad_accum = 4};

    msim_framework_default(&s, framework);
    return s;
}

static int64_t sum_of(const struct msim_described *m,
                      const struct msim_strategy *s, int64_t *most)
{
    int64_t sum = 0;

    *most = 0;
    for (int64_t i = 0; i < s->pp; i++) {
        int64_t n = msim_stage_layers(m, s, i), chunks = 0;

        for (int64_t c = 0; c < s->vp; c++)
            chunks += msim_chunk_layers(m, s, i, c);
        CHECK_INT(chunks, n);
        sum += n;
        *most = n > *most ? n : *most;
    }
    return sum;
}

/* Whatever the numbers, stages have all layers, and none more than it must. */
static void test_framework__stages_have_all_layers(void)
{
    for (int64_t layers = 1; layers < 70; layers++)
        for (int64_t pp = 1; pp <= layers + 2; pp++)
            for (int64_t vp = 1; vp < 4; vp++) {
                struct msim_described m = {.layers = layers, .hidden = 8};
                struct msim_strategy s = staged("megatron", pp);
                int64_t most;

                s.vp = vp;
                CHECK_INT(sum_of(&m, &s, &most), layers);
                CHECK_INT(most, (layers + pp - 1) / pp);
                CHECK(msim_stage_layers(&m, &s, pp - 1) <=
                      msim_stage_layers(&m, &s, 0));
            }
}

/* MT-NLG's 105 layers on 35 stages, the 1T model's 128 on 64: as published.
 * nanotron counts the head as the layers that its table is as large as. */
static void test_framework__stages_by_program(void)
{
    struct msim_described m = {.layers = 128,
                               .hidden = 25600,
                               .heads = 160,
                               .kv_heads = 160,
                               .head_dim = 160,
                               .ffn = 102400,
                               .vocab = 51200};
    struct msim_strategy s = staged("common", 64);

    CHECK_INT(msim_stage_layers(&m, &s, 0), 2);
    CHECK_INT(msim_stage_layers(&m, &s, 63), 2);
    s = staged("nanotron", 64);
    CHECK_INT(msim_stage_layers(&m, &s, 0), 3);
    m.layers = 105;
    s = staged("common", 35);
    CHECK_INT(msim_stage_layers(&m, &s, 17), 3);
}

static void test_framework__exchanges(void)
{
    static const struct {
        const char *framework;
        int64_t zero, pp;
        bool each;
    } CASES[] = {{"common", 0, 1, false},    {"common", 1, 1, false},
                 {"common", 2, 1, true},     {"common", 3, 1, true},
                 {"common", 0, 4, false},    {"megatron", 1, 4, false},
                 {"deepspeed", 2, 4, false}, {"common", 3, 4, true},
                 {"nanotron", 0, 4, true},   {"nanotron", 0, 1, false},
                 {"nanotron", 1, 4, false}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_strategy s = staged(CASES[i].framework, CASES[i].pp);

        s.zero = CASES[i].zero;
        CHECK_INT(msim_exchanges_each_micro_batch(&s), CASES[i].each);
    }
}

/* Words of strategies and rows of the table are the same ones. */
static void test_framework__names(void)
{
    struct msim_strategy s = {0};
    char reason[128];

    CHECK_STR(msim_framework_of(&s)->name, "common");
    for (const char *const *n =
             (const char *const[]){"common", "deepspeed", "megatron",
                                   "nanotron", "pytorch", NULL};
         *n; n++) {
        CHECK(msim_framework_is(*n));
        CHECK(!msim_technique_set(&s.technique, MSIM_TECHNIQUE_framework, *n,
                                  reason, sizeof(reason)));
        CHECK_STR(msim_framework_of(&s)->name, *n);
        s.technique.framework = 0;
        msim_framework_default(&s, *n);
        CHECK_STR(msim_framework_of(&s)->name, *n);
        msim_framework_default(&s, "common"); /* it is named already */
        CHECK_STR(msim_framework_of(&s)->name, *n);
    }
    CHECK(!msim_framework_is("PyTorch 1.3"));
    CHECK(msim_technique_set(&s.technique, MSIM_TECHNIQUE_framework, "jax",
                             reason, sizeof(reason)) != NULL);
}

int main(void)
{
    RUN(test_framework__stages_have_all_layers);
    RUN(test_framework__stages_by_program);
    RUN(test_framework__exchanges);
    RUN(test_framework__names);
    return check_summary();
}
