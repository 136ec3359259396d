/*
 * predict/memory/fit_ways.c: each way is what the changed traces hold, the
 * batch is the largest that fits, and pairs are made where nothing alone is
 * enough.
 */
#include "predict/memory/rank_memory.h"

#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "predict/pipeline.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};

static struct msim_inputs in;
static struct msim_target to;
static struct msim_rank_memory memory;
static struct msim_fit_ways ways;
static int64_t batch;

/* The numbers behind both words, which `text` begins with: does it? */
static bool two_numbers(const char *text, const char *before,
                        const char *between, int64_t *a, int64_t *b)
{
    size_t n = strlen(before);
    char *end;

    if (strncmp(text, before, n) != 0)
        return false;
    *a = strtoll(text + n, &end, 10);
    n = strlen(between);
    if (end == text + strlen(before) || strncmp(end, between, n) != 0)
        return false;
    text = end + n;
    *b = strtoll(text, &end, 10);
    return end != text;
}

/* What the job needs with a change, by itself. */
static double needed_with(const struct msim_fit_change *c)
{
    struct msim_held_rank one = memory.ranks[0];
    struct msim_trace *view = NULL, *made = NULL;
    const struct msim_trace *t = in.job->ranks[0];

    if (!msim_reshape_is_none(&c->reshape)) {
        if (msim_reshaped_new(&view, t, &c->reshape, NULL) != MSIM_OK)
            return -1;
        t = view;
    }
    if (!msim_rewrite_is_none(&c->rewrite)) {
        if (msim_rewritten_new(&made, t, in.job->strings, &c->rewrite, NULL) !=
            MSIM_OK) {
            msim_reshaped_free(view);
            return -1;
        }
        t = made;
    }
    CHECK_INT(msim_trace_memory(&one.peak, t, to.platform), MSIM_OK);
    msim_trace_free(made);
    msim_reshaped_free(view);
    return msim_rank_needs(&one);
}

static double with_batch(int64_t to_batch, uint32_t accumulate)
{
    struct msim_fit_change c = {.rewrite = {.accumulate = accumulate}};

    c.reshape.n_axes = 1;
    c.reshape.axes[0] = (struct msim_axis){.to = to_batch};
    return needed_with(&c);
}

static const struct {
    const char *text;
    struct msim_fit_change change;
} SWITCH[] = {
    {"updates in backward", {.rewrite.in_backward = true}},
    {"zero1", {.rewrite.shard = MSIM_SHARD_ZERO1}},
    {"zero2", {.rewrite.shard = MSIM_SHARD_ZERO2}},
    {"fsdp", {.rewrite.shard = MSIM_SHARD_FULL}},
    {"recompute every second block", {.rewrite.recompute_every = 2}},
    {"recompute all blocks", {.rewrite.recompute_every = 1}},
    {"offload the optimizer", {.rewrite.offload_states = true}},
    {"offload activations", {.rewrite.offload_activations = true}},
    {"8-bit optimizer states", {.rewrite.optimizer_8bit = true}},
    {"autocast to bf16", {.rewrite.autocast = MSIM_DT_BF16}},
    {"bf16 of what is fp32", {.reshape.dtype = MSIM_DT_BF16}},
};
#define SWITCHES (sizeof(SWITCH) / sizeof(*SWITCH))

static const struct msim_fit_way *way_of(const char *text)
{
    for (uint32_t i = 0; i < ways.n; i++)
        if (strcmp(ways.ways[i].change, text) == 0)
            return &ways.ways[i];
    return NULL;
}

/* Where the job may have so much of what it needs. */
static void find(double share)
{
    const struct msim_fit_job job = {.ranks = in.job->ranks,
                                     .origins = in.job->ranks,
                                     .strings = in.job->strings,
                                     .platform = to.platform,
                                     .memory = &memory};

    memory.capacity = share * msim_rank_needs(&memory.ranks[0]);
    CHECK_INT(msim_rank_memory_exceeds(&memory), share < 1);
    CHECK_INT(msim_fit_ways_find(&ways, &job), MSIM_OK);
    for (uint32_t i = 0; i < ways.n; i++)
        CHECK_INT(ways.ways[i].fits, ways.ways[i].needed <= memory.capacity);
}

static void test_fit_ways__of_what_fits(void)
{
    find(1);
    CHECK_INT(ways.n, 0);
    memory.most = MSIM_NONE; /* or of which nothing is known */
    memory.capacity = 0;
    CHECK(!msim_rank_memory_exceeds(&memory));
    memory.most = 0;
}

/* The largest batch below the job's that fits, else 1; and where it fits, as
 * many samples in the largest pieces, of which three tell what any number
 * holds. */
static void test_fit_ways__finds_a_batch(void)
{
    static const double SHARE[] = {0.99, 0.9, 0.7, 0.5, 0.01};

    for (size_t i = 0; i < sizeof(SHARE) / sizeof(*SHARE); i++) {
        const struct msim_fit_way *way = &ways.ways[0];
        int64_t got = 0, was = 0, parts = 0, each = 0;

        find(SHARE[i]);
        REQUIRE(ways.n > 0 &&
                two_numbers(way->change, "batch ", " instead of ", &got, &was));
        CHECK_INT(was, batch);
        CHECK_REL(way->needed, with_batch(got, 0), 1e-12);
        CHECK(way->fits || got == 1);
        if (got + 1 < batch)
            CHECK(with_batch(got + 1, 0) > memory.capacity);
        if (!two_numbers(ways.ways[1].change, "accumulate ",
                         " micro batches of ", &parts, &each)) {
            CHECK(!way->fits);
            continue;
        }
        CHECK(way->fits && each <= got);
        CHECK_INT(parts * each, batch);
        CHECK_REL(ways.ways[1].needed,
                  with_batch(each, parts < 3 ? (uint32_t)parts : 3), 1e-12);
        for (long long p = 2; p < parts; p++) /* none larger fits */
            if (batch % p == 0 && batch / p <= got)
                CHECK(with_batch(batch / p, p < 3 ? (uint32_t)p : 3) >
                      memory.capacity);
    }
}

/* Every change alone that the trace allows and that leaves less, in order. */
static void test_fit_ways__tries_switches(void)
{
    uint32_t at = 1;

    find(0.99);
    at += !strncmp(ways.ways[1].change, "accumulate", 10);
    for (size_t i = 0; i < SWITCHES; i++) {
        double needed = needed_with(&SWITCH[i].change);
        bool less = needed >= 0 && needed < msim_rank_needs(&memory.ranks[0]);

        CHECK_INT(way_of(SWITCH[i].text) != NULL, less);
        if (!less)
            continue;
        CHECK_STR(ways.ways[at].change, SWITCH[i].text);
        CHECK_REL(ways.ways[at++].needed, needed, 1e-12);
    }
    CHECK_INT(ways.n, at);
}

/* Two together where none alone is enough: of the five that leave least those
 * pairs that fit, else the one that leaves least; and the best with a smaller
 * batch. */
static void test_fit_ways__tries_two(void)
{
    double best = 1e300;
    const char *best_text = "";
    uint32_t pairs = 0;
    char text[MSIM_FIT_WAY_TEXT];

    find(0.01);
    for (size_t i = 0; i < SWITCHES; i++) {
        const struct msim_fit_way *way = way_of(SWITCH[i].text);

        if (way && way->needed < best) {
            best = way->needed;
            best_text = SWITCH[i].text;
        }
    }
    snprintf(text, sizeof(text), "%.60s and batch 1 instead of %lld", best_text,
             (long long)batch);
    CHECK(way_of(text) == &ways.ways[ways.n - 1]);
    for (uint32_t i = 0; i < ways.n; i++)
        for (size_t a = 0; a < SWITCHES; a++)
            for (size_t b = a + 1; b < SWITCHES; b++) {
                snprintf(text, sizeof(text), "%.40s and %.40s", SWITCH[a].text,
                         SWITCH[b].text);
                if (strcmp(ways.ways[i].change, text) != 0)
                    continue;
                pairs++;
                CHECK(ways.ways[i].needed < best);
                CHECK(!ways.ways[i].fits);
            }
    CHECK_INT(pairs, 1); /* none fits into a hundredth: the least */
    /* a little less than one alone needs */
    memory.capacity = best - 1;
    find(memory.capacity / msim_rank_needs(&memory.ranks[0]));
    pairs = 0;
    for (uint32_t i = 0; i < ways.n; i++)
        pairs += ways.ways[i].fits && strstr(ways.ways[i].change, " and ") &&
                 !strstr(ways.ways[i].change, "batch");
    CHECK(pairs > 0 || ways.ways[0].fits);
}

static void test_fit_ways__are_noted(void)
{
    struct msim_prediction p = {.n_path = 0};

    find(0.7);
    msim_arena_init(&p.arena);
    CHECK_INT(msim_fit_ways_note(&ways, &p), MSIM_OK);
    REQUIRE(p.memory.n_ways == ways.n);
    for (uint32_t i = 0; i < ways.n; i++) {
        CHECK_STR(p.memory.ways[i].change, ways.ways[i].change);
        CHECK_REL(p.memory.ways[i].needed, ways.ways[i].needed, 0);
        CHECK_REL(p.memory.ways[i].peak, (double)ways.ways[i].peak.allocated,
                  0);
        CHECK_INT(p.memory.ways[i].is_enough, ways.ways[i].fits);
    }
    msim_arena_release(&p.arena);
}

int main(void)
{
    const struct msim_predict_settings s = {.data = MSIM_DATA,
                                            .paths = GPT2,
                                            .n_paths = 1,
                                            .load = {.threads = 1},
                                            .platform = "a100",
                                            .peers = MSIM_PEERS_FIXED,
                                            .iteration = MSIM_ITERATION_ALL};

    if (CHECK_INT(msim_predict_load(&in, &to, &s, NULL), MSIM_OK) &&
        CHECK_INT(msim_rank_memory_find(&memory, in.job->ranks, 1, to.platform),
                  MSIM_OK)) {
        batch = msim_axis_batch_of(in.job->ranks[0]);
        RUN(test_fit_ways__of_what_fits);
        RUN(test_fit_ways__finds_a_batch);
        RUN(test_fit_ways__tries_switches);
        RUN(test_fit_ways__tries_two);
        RUN(test_fit_ways__are_noted);
    }
    msim_rank_memory_release(&memory);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return check_summary();
}
