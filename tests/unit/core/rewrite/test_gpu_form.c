/*
 * tests/unit/core/rewrite/test_gpu_form.c - captures of a CPU as a GPU runs
 * them: the sample of BERT, whose attention has dropout.
 */
#include "core/job/job.h"
#include "core/lives/lives.h"
#include "core/memory/life_memory.h"
#include "core/rewrite/rewrite.h"
#include "tests/check.h"

#include <string.h>

static uint32_t count(const struct msim_trace *t, const char *name)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_ops; i++)
        n += strcmp(msim_trace_text(t, t->ops[i].name), name) == 0;
    return n;
}

static uint32_t find(const struct msim_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (strcmp(msim_trace_text(t, t->ops[i].name), name) == 0)
            return i;
    return MSIM_NONE;
}

/* The life of tensor `i` of the inputs (outputs) of `op`. */
static uint32_t life_of(const struct msim_lives *l, const struct msim_trace *t,
                        uint32_t op, bool outputs, uint32_t i)
{
    struct msim_lives_each e =
        outputs ? msim_lives_outputs(l, t, op) : msim_lives_inputs(l, t, op);

    for (uint32_t k = 0; msim_lives_next(&e); k++)
        if (k == i)
            return e.life;
    return MSIM_NONE;
}

static struct msim_job *load(const char *sample)
{
    const struct msim_load_options o = {.threads = 1};
    char path[1024];
    const char *paths[] = {path};
    struct msim_job *job = NULL;

    snprintf(path, sizeof(path), "%s/traces/%s", MSIM_DATA, sample);
    CHECK_INT(msim_job_load(&job, paths, 1, &o, NULL), MSIM_OK);
    return job;
}

static uint64_t peak_of(const struct msim_trace *t)
{
    const struct msim_memory_options o = {0};
    struct msim_memory_picture m;
    struct msim_memory_peak peak = {0};

    CHECK_INT(msim_memory_picture_find(&m, t, &o), MSIM_OK);
    CHECK_INT(msim_memory_peak_find(&peak, &m, &o), MSIM_OK);
    msim_memory_picture_release(&m);
    return peak.allocated;
}

#define FORWARD  "aten::_scaled_dot_product_efficient_attention"
#define BACKWARD "aten::_scaled_dot_product_efficient_attention_backward"

/*
 * One layer, one attention: its parts in forward (12 operators) and backward
 * (20 functions of autograd, two of them products) are one operator each.
 * Backward reads what forward made and keeps; what it makes is read later.
 */
static void test_attention__is_fused(void)
{
    struct msim_job *job = load("bert");
    struct msim_trace *t = NULL;
    struct msim_lives l;
    uint32_t forward, backward;

    REQUIRE(job);
    REQUIRE(msim_gpu_form_new(&t, job->ranks[0], job->strings) == MSIM_OK && t);
    REQUIRE(msim_lives_find(&l, t) == MSIM_OK);
    CHECK_UINT(count(job->ranks[0], "BmmBackward0"), 2);
    CHECK_UINT(count(t, "BmmBackward0"), 0);
    CHECK_UINT(count(t, "SafeSoftmaxBackward0"), 0);
    CHECK_UINT(count(t, "aten::_scaled_dot_product_attention_math"), 0);
    CHECK_UINT(count(t, "aten::scaled_dot_product_attention"), 1);
    forward = find(t, FORWARD);
    backward = find(t, BACKWARD);
    REQUIRE(forward != MSIM_NONE && backward != MSIM_NONE);
    /* gradient, q, k, v, output, sums: as forward has them */
    for (uint32_t i = 0; i < 3; i++)
        CHECK_UINT(life_of(&l, t, backward, false, i + 1),
                   life_of(&l, t, forward, false, i));
    for (uint32_t i = 0; i < 2; i++)
        CHECK_UINT(life_of(&l, t, backward, false, i + 4),
                   life_of(&l, t, forward, true, i));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t life = life_of(&l, t, backward, true, i);

        REQUIRE(life != MSIM_NONE);
        CHECK(l.place[l.rows[life].last] > l.place[t->ops[backward].end - 1]);
        for (uint32_t k = 0; k < i; k++)
            CHECK(life != life_of(&l, t, backward, true, k));
    }
    msim_lives_release(&l);
    msim_trace_free(t);
    msim_job_free(job);
}

/* Masks of dropout are bytes: of 8 x 128 x 768 elements each, three of them. */
static void test_dropout__keeps_bytes(void)
{
    struct msim_job *job = load("bert");
    struct msim_trace *t = NULL;
    struct msim_lives l;
    uint32_t op, masks = 0;

    REQUIRE(job);
    REQUIRE(msim_gpu_form_new(&t, job->ranks[0], job->strings) == MSIM_OK && t);
    REQUIRE(msim_lives_find(&l, t) == MSIM_OK);
    CHECK_UINT(count(t, "aten::dropout"), 3);
    CHECK_UINT(count(t, "aten::native_dropout"), 3);
    CHECK_UINT(count(t, "aten::native_dropout_backward"), 3);
    for (op = 0; op < t->n_ops; op++)
        if (strcmp(msim_trace_text(t, t->ops[op].name),
                   "aten::native_dropout") == 0) {
            uint32_t mask = life_of(&l, t, op, true, 1);

            CHECK_UINT(l.rows[mask].bytes, 8 * 128 * 768);
            masks++;
        }
    CHECK_UINT(masks, 3);
    CHECK(peak_of(t) < peak_of(job->ranks[0]));
    msim_lives_release(&l);
    msim_trace_free(t);
    msim_job_free(job);
}

/* Tensors of the first list of `op`. */
static uint32_t listed(const struct msim_trace *t, uint32_t op)
{
    const struct msim_arg *a = msim_args_get(t, t->ops[op].args, 0);

    return a && a->kind == MSIM_ARG_LIST ? a->n : 0;
}

/* AdamW of GPT-2's one layer: some parameters, nine operators and one number of
 * each. Lists hold what the operators of single parameters had, in their order;
 * what is divided is what was made for it, so that no further memory is held.
 */
static void test_step__goes_by_lists(void)
{
    static const char *const LISTS[][2] = {
        {"aten::lerp_", "aten::_foreach_lerp_"},
        {"aten::addcmul_", "aten::_foreach_addcmul_"},
        {"aten::sqrt", "aten::_foreach_sqrt"},
        {"aten::addcdiv_", "aten::_foreach_addcdiv_"},
    };
    struct msim_job *job = load("gpt2");
    struct msim_trace *t = NULL;
    struct msim_lives l, before;
    uint32_t n, div, op = 0, at;

    REQUIRE(job);
    REQUIRE(msim_gpu_form_new(&t, job->ranks[0], job->strings) == MSIM_OK && t);
    REQUIRE(msim_lives_find(&l, t) == MSIM_OK);
    REQUIRE(msim_lives_find(&before, job->ranks[0]) == MSIM_OK);
    n = count(job->ranks[0], "aten::addcdiv_");
    REQUIRE(n > 8);
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(*LISTS); i++) {
        CHECK_UINT(count(job->ranks[0], LISTS[i][0]), n);
        CHECK_UINT(count(t, LISTS[i][0]), 0);
        CHECK_UINT(count(t, LISTS[i][1]), 1);
        CHECK_UINT(listed(t, find(t, LISTS[i][1])), n);
    }
    /* a count of steps each, which lists read twice */
    CHECK_UINT(count(job->ranks[0], "aten::item"), n);
    CHECK_UINT(count(t, "aten::item"), 2 * n);
    div = find(t, "aten::_foreach_div_");
    REQUIRE(div != MSIM_NONE);
    at = find(t, "aten::_foreach_addcdiv_");
    for (uint32_t k = 0; k < n; k++) {
        while (strcmp(msim_trace_text(t, job->ranks[0]->ops[op].name),
                      "aten::addcdiv_") != 0)
            op++;
        /* parameter and first state; the divided is the third */
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t now = life_of(&l, t, at, false, i * n + k);
            uint32_t was = life_of(&before, job->ranks[0], op, false, i);

            CHECK_UINT(l.rows[now].bytes, before.rows[was].bytes);
        }
        op++;
        CHECK_UINT(life_of(&l, t, at, false, 2 * n + k),
                   life_of(&l, t, div, false, k));
    }
    msim_lives_release(&l);
    msim_lives_release(&before);
    msim_trace_free(t);
    msim_job_free(job);
}

/* Of torch.optim alone; others go one by one on a GPU, too. */
static void test_step__of_which_optimizers(void)
{
    CHECK(msim_step_takes_lists("Optimizer.step#AdamW.step"));
    CHECK(msim_step_takes_lists("Optimizer.step#SGD.step"));
    CHECK(!msim_step_takes_lists("Optimizer.step#Adam"));
    CHECK(!msim_step_takes_lists("Optimizer.step#Lion.step"));
    CHECK(!msim_step_takes_lists("Optimizer.step#.step"));
    CHECK(!msim_step_takes_lists("Optimizer.step#SGD.walk"));
    CHECK(!msim_step_takes_lists("Optimizer.step#AdamWide.step"));
    CHECK(!msim_step_takes_lists("Optimizer.zero_grad#SGD.zero_grad"));
}

/* What ran on a GPU is what a GPU runs. */
static void test_form__is_none_where_nothing_differs(void)
{
    struct msim_job *job = load("resnet");
    struct msim_trace *t = NULL;

    REQUIRE(job);
    job->ranks[0]->cpu_only = false;
    CHECK_INT(msim_gpu_form_new(&t, job->ranks[0], job->strings), MSIM_OK);
    CHECK(t == NULL);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_attention__is_fused);
    RUN(test_dropout__keeps_bytes);
    RUN(test_step__goes_by_lists);
    RUN(test_step__of_which_optimizers);
    RUN(test_form__is_none_where_nothing_differs);
    return check_summary();
}
