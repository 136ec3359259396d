/*
 * tests/unit/serving/engine/made_schedule.h - requests that come to a replica
 * with made-up steps, and when their tokens came.
 */
#ifndef MSIM_TESTS_UNIT_SERVING_ENGINE_MADE_SCHEDULE_H
#define MSIM_TESTS_UNIT_SERVING_ENGINE_MADE_SCHEDULE_H
#include "serving/engine/replica.h"
#include "tests/check.h"
#include "tests/unit/serving/engine/made_up_step.h"

/* A request, when it comes, and what became of it. */
struct asked {
    struct msim_llm_request request;
    double at, first, last;
    uint64_t hashes[2]; /* gone when it has ended */
};

static inline struct asked ask(uint32_t input, uint32_t output, double at)
{
    return (struct asked){
        .request = {.input_tokens = input, .output_tokens = output}, .at = at};
}

static struct msim_replica_figures figures;
static int64_t besides; /* of a sequence, in windows of 8 tokens */

/* Let a replica with `kv_tokens` serve them, which are in order of arrival. */
static inline void serve(const struct msim_replica_rules *rules,
                         int64_t kv_tokens, struct asked *asked, uint32_t n)
{
    struct msim_llm_times times = {NULL, made_up_us, kv_tokens, besides, 8};
    const struct msim_llm_token *tokens;
    struct msim_replica *r;
    uint32_t next = 0, n_tokens;
    double now = 0, us;

    REQUIRE(msim_replica_new(&r, rules, &times) == MSIM_OK);
    for (;;) {
        for (; next < n && asked[next].at <= now; next++) {
            if (asked[next].hashes[0])
                asked[next].request.hashes = asked[next].hashes;
            CHECK(msim_replica_add(r, &asked[next].request, next) == MSIM_OK);
        }
        us = msim_replica_begin(r);
        if (us <= 0 && next == n)
            break;
        if (us <= 0) {
            now = asked[next].at;
            continue;
        }
        now += us;
        tokens = msim_replica_end(r, &n_tokens);
        for (uint32_t i = 0; i < n_tokens; i++) {
            if (tokens[i].first)
                asked[tokens[i].handle].first = now;
            if (tokens[i].last) {
                asked[tokens[i].handle].last = now;
                asked[tokens[i].handle].hashes[0] = 99;
            }
        }
    }
    CHECK_UINT(msim_replica_waiting(r) + msim_replica_running(r), 0);
    msim_replica_figures_of(r, &figures);
    msim_replica_free(r);
}

#define CHECK_TIMES(asked, first_, last_)                                      \
    do {                                                                       \
        CHECK_REL((asked).first, first_, 1e-12);                               \
        CHECK_REL((asked).last, last_, 1e-12);                                 \
    } while (0)

static inline struct msim_replica_rules vllm(void)
{
    return (struct msim_replica_rules){.policy = MSIM_BATCH_MIXED,
                                       .chunked_prefill = true,
                                       .max_num_seqs = 8,
                                       .max_num_batched_tokens = 100,
                                       .block_size = 4,
                                       .ranks = 1};
}

#endif
