/*
 * tests/unit/serving/engine/test_schedules.c - policies of engines a second
 * time, as their pages say it: lists instead of heaps, blocks that are counted
 * by walking over what runs, no cache of prefixes. Step by step, both have the
 * same chunks, decode the same sequences and give the same tokens.
 */
#include "serving/engine/replica.h"
#include "tests/check.h"

#define MOST 400

struct seq {
    uint32_t input, output, made, computed, now, blocks, priority, handle;
    uint64_t order;
    bool prefilling, prefilled;
};

/* What runs and what waits: indices, in order. */
static struct {
    struct msim_replica_rules rules;
    uint32_t total, besides, window; /* blocks; blocks of a sequence, tokens */
    struct seq seqs[MOST];
    uint32_t running[MOST], n_running, waiting[MOST], n_waiting, waited;
    uint64_t next_order, preemptions;
    double ratio;
} e;

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t left_of(const struct seq *q)
{
    return q->input + q->made - q->computed;
}

static uint32_t free_blocks(void)
{
    uint32_t n = e.total;

    for (uint32_t i = 0; i < MOST; i++)
        n -= e.seqs[i].blocks;
    return n;
}

/* Blocks for so many tokens and what a sequence has besides, which grows with
 * its window; what it has stays its own. */
static bool reserve(struct seq *q, uint32_t tokens)
{
    uint32_t besides = e.besides, want;

    if (tokens < e.window)
        besides = (e.besides * tokens + e.window - 1) / e.window;
    want = (tokens + e.rules.block_size - 1) / e.rules.block_size + besides;
    if (want <= q->blocks)
        return true;
    if (want - q->blocks > free_blocks())
        return false;
    q->blocks = want;
    return true;
}

static void take_out(uint32_t *list, uint32_t *n, uint32_t i)
{
    for (--*n; i < *n; i++)
        list[i] = list[i + 1];
}

/* The place in `waiting` of the next: by priority, if told to, and order. */
static uint32_t next_of_waiting(void)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < e.n_waiting; i++) {
        const struct seq *a = &e.seqs[e.waiting[i]];
        const struct seq *b = &e.seqs[e.waiting[best]];
        bool alike = !e.rules.by_priority || a->priority == b->priority;

        if (alike ? a->order < b->order : a->priority < b->priority)
            best = i;
    }
    return best;
}

static void begin_next(void)
{
    struct seq *q = &e.seqs[e.waiting[next_of_waiting()]];

    q->computed = q->prefilled ? q->input : 0;
}

static void admit(uint32_t now)
{
    uint32_t place = next_of_waiting(), i = e.waiting[place];

    take_out(e.waiting, &e.n_waiting, place);
    e.running[e.n_running++] = i;
    e.seqs[i].prefilling = !e.seqs[i].prefilled;
    e.seqs[i].now = now;
}

static void preempt(uint32_t place)
{
    uint32_t i = e.running[place];

    take_out(e.running, &e.n_running, place);
    e.seqs[i].now = e.seqs[i].computed = e.seqs[i].blocks = 0;
    e.seqs[i].prefilled = false;
    e.waiting[e.n_waiting++] = i;
    e.preemptions++;
}

/* ---- one budget for all -------------------------------------------------- */

/* The last admitted; by priority the least important, the last to arrive. */
static uint32_t victim(void)
{
    uint32_t worst = e.n_running - 1;

    for (uint32_t i = 0; e.rules.by_priority && i < e.n_running; i++) {
        const struct seq *a = &e.seqs[e.running[i]];
        const struct seq *b = &e.seqs[e.running[worst]];

        if (a->priority > b->priority ||
            (a->priority == b->priority && a->order > b->order))
            worst = i;
    }
    return worst;
}

static uint32_t mixed_running(uint32_t budget)
{
    for (uint32_t i = 0; i < e.n_running && budget; i++) {
        struct seq *q = &e.seqs[e.running[i]];
        uint32_t now = least(left_of(q), budget);

        while (!reserve(q, q->computed + now)) {
            uint32_t k = victim();

            budget += e.seqs[e.running[k]].now;
            preempt(k);
            if (k == i)
                return budget;
            if (k < i)
                i--;
        }
        q->now = now;
        budget -= now;
    }
    return budget;
}

static bool waits_for_more(uint32_t budget)
{
    uint32_t used = e.rules.max_num_batched_tokens - budget, tokens = used;

    if (!used || !e.n_waiting || !e.rules.wait_steps)
        return false;
    for (uint32_t i = 0; i < e.n_waiting; i++)
        tokens += e.seqs[e.waiting[i]].input + e.seqs[e.waiting[i]].made;
    if (tokens < e.rules.wait_tokens && e.waited < e.rules.wait_steps) {
        e.waited++;
        return true;
    }
    e.waited = 0;
    return false;
}

static void mixed(void)
{
    uint64_t before = e.preemptions;
    uint32_t budget = mixed_running(e.rules.max_num_batched_tokens);
    bool first = true;

    if (e.preemptions != before || waits_for_more(budget))
        return;
    for (; e.n_waiting && budget && e.n_running < e.rules.max_num_seqs;
         first = false) {
        struct seq *q = &e.seqs[e.waiting[next_of_waiting()]];
        uint32_t now;

        begin_next();
        now = left_of(q);
        if (now > budget && e.rules.chunked_prefill)
            now = budget;
        /* a whole prompt above any budget has no other beside it */
        if (now > budget && !(first && now > e.rules.max_num_batched_tokens))
            return;
        if (!reserve(q, e.rules.reserve_output ? q->input + q->output - 1
                                               : q->computed + now))
            return;
        admit(now);
        budget -= least(now, budget);
    }
}

/* ---- prompts first ------------------------------------------------------- */

static uint32_t wanted(const struct seq *q)
{
    return least(q->output - q->made, 4096);
}

static bool prompts(void)
{
    uint32_t whole = e.rules.max_num_batched_tokens, budget = whole;
    double spare = 0;

    for (uint32_t i = e.n_running; i > 0; i--) {
        struct seq *q = &e.seqs[e.running[i - 1]];

        if (q->prefilling) {
            q->now = least(left_of(q), budget);
            budget -= q->now;
        }
        spare += wanted(q);
    }
    spare *= -e.ratio;
    while (e.n_waiting && budget && e.n_running < e.rules.max_num_seqs) {
        struct seq *q = &e.seqs[e.waiting[next_of_waiting()]];
        uint32_t now;

        begin_next();
        now = left_of(q);
        if (now > budget && e.rules.chunked_prefill)
            now = budget;
        else if (now > budget && budget < whole)
            break;
        if (e.n_running &&
            left_of(q) + wanted(q) >
                spare + (double)free_blocks() * e.rules.block_size)
            break;
        if (!reserve(q, q->input + q->made))
            break;
        spare -= wanted(q);
        budget -= least(now, budget);
        admit(now);
    }
    return budget < whole;
}

/* The fewest tokens made, the longest prompt, the last. */
static uint32_t to_retract(void)
{
    uint32_t worst = 0;

    for (uint32_t i = 1; i < e.n_running; i++) {
        const struct seq *a = &e.seqs[e.running[i]];
        const struct seq *b = &e.seqs[e.running[worst]];

        if (a->made != b->made ? a->made < b->made : a->input >= b->input)
            worst = i;
    }
    return worst;
}

static void prompts_first(void)
{
    double made = 0, whole = 0;
    bool retracted = false;

    if (prompts())
        return;
    e.ratio -= (0.7 - 0.7 * 0.14) / 600;
    for (uint32_t i = 0; i < e.n_running;) {
        struct seq *q = &e.seqs[e.running[i]];
        uint32_t k;

        if (reserve(q, q->computed + 1)) {
            q->now = 1;
            i++;
            continue;
        }
        k = to_retract();
        e.seqs[e.running[k]].order = e.next_order++;
        preempt(k);
        retracted = true;
        if (k < i)
            i--;
    }
    for (uint32_t i = 0; i < e.n_running; i++) {
        made += e.seqs[e.running[i]].made + 20;
        whole += e.seqs[e.running[i]].output;
    }
    if (retracted)
        e.ratio = whole > made ? made / whole : 1;
    if (e.ratio < 0.7 * 0.14)
        e.ratio = 0.7 * 0.14;
}

/* ---- batches ------------------------------------------------------------- */

static void batches(void)
{
    for (uint32_t i = 0; i < e.n_running; i++)
        e.seqs[e.running[i]].now = 1;
    if (e.n_running)
        return;
    while (e.n_waiting && e.n_running < e.rules.max_num_seqs) {
        struct seq *q = &e.seqs[e.waiting[next_of_waiting()]];

        begin_next();
        if (!reserve(q, q->input + q->output - 1))
            return;
        admit(left_of(q));
    }
}

/* ---- steps --------------------------------------------------------------- */

static struct msim_llm_chunk chunks[MOST], chunks_got[MOST];
static struct msim_llm_step step, step_got;
static struct msim_llm_token tokens[MOST];

static double note(void *ctx, const struct msim_llm_step *got)
{
    (void)ctx;
    step_got = *got;
    for (uint32_t i = 0; i < got->n_chunks; i++)
        chunks_got[i] = got->chunks[i];
    return 1;
}

static void describe(void)
{
    step = (struct msim_llm_step){0};
    for (uint32_t i = 0; i < e.n_running; i++) {
        const struct seq *q = &e.seqs[e.running[i]];

        if (q->now && q->prefilling)
            chunks[step.n_chunks++] = (struct msim_llm_chunk){
                q->now, q->computed, q->now == left_of(q)};
        else if (q->now) {
            step.decode_seqs++;
            step.decode_context += q->computed + q->now;
        }
    }
}

/* First and last tokens; what has ended is gone, of a batch all at once. */
static uint32_t end(void)
{
    bool batch = e.rules.policy == MSIM_BATCH_STATIC, all = true;
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < e.n_running; i++) {
        struct seq *q = &e.seqs[e.running[i]];
        bool ended = q->made == q->output;

        q->computed += q->now;
        if (q->now && !ended && left_of(q) == 0) {
            q->made++;
            q->prefilling = false;
            if (q->made == 1 || q->made == q->output)
                tokens[n++] = (struct msim_llm_token){q->handle, q->made == 1,
                                                      q->made == q->output};
        }
        q->now = 0;
        all = all && q->made == q->output;
    }
    for (uint32_t i = 0; i < e.n_running; i++) {
        struct seq *q = &e.seqs[e.running[i]];

        if (batch ? !all : q->made < q->output)
            e.running[kept++] = e.running[i];
        else
            q->blocks = 0;
    }
    e.n_running = kept;
    return n;
}

static uint64_t state;
static uint32_t requests = MOST, longest = 40; /* of outputs */

static uint32_t drawn(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static bool arrive(struct msim_replica *r, uint32_t handle)
{
    struct seq *q = &e.seqs[handle];
    struct msim_llm_request request;

    *q = (struct seq){.input = 1 + drawn(drawn(4) ? 40 : 130),
                      .output = 1 + drawn(longest),
                      .priority = drawn(3),
                      .handle = handle,
                      .order = e.next_order++};
    q->prefilled = q->output > 1 && drawn(8) == 0;
    q->made = q->prefilled;
    request = (struct msim_llm_request){.input_tokens = q->input,
                                        .output_tokens = q->output,
                                        .priority = (int32_t)q->priority,
                                        .prefilled = q->prefilled};
    e.waiting[e.n_waiting++] = handle;
    return CHECK_INT(msim_replica_add(r, &request, handle), MSIM_OK);
}

/* One step of both; false where they differ, or nothing is left. */
static bool same_step(struct msim_replica *r)
{
    const struct msim_llm_token *got;
    uint32_t n, n_got;
    bool same;

    switch (e.rules.policy) {
    case MSIM_BATCH_MIXED:
        mixed();
        break;
    case MSIM_BATCH_PREFILL_FIRST:
        prompts_first();
        break;
    case MSIM_BATCH_STATIC:
        batches();
    }
    describe();
    step_got = (struct msim_llm_step){0};
    if (msim_replica_begin(r) > 0) {
        got = msim_replica_end(r, &n_got);
    } else {
        got = NULL;
        n_got = 0;
    }
    same = CHECK_UINT(step_got.decode_seqs, step.decode_seqs);
    same &= CHECK_UINT(step_got.decode_context, step.decode_context);
    same &= CHECK_UINT(step_got.n_chunks, step.n_chunks);
    for (uint32_t i = 0; same && i < step.n_chunks; i++) {
        same &= CHECK_UINT(chunks_got[i].tokens, chunks[i].tokens);
        same &= CHECK_UINT(chunks_got[i].context, chunks[i].context);
        same &= CHECK_INT(chunks_got[i].last, chunks[i].last);
    }
    n = end();
    same &= CHECK_UINT(n_got, n);
    for (uint32_t i = 0; same && i < n; i++) {
        same &= CHECK_UINT(got[i].handle, tokens[i].handle);
        same &= CHECK_INT(got[i].first, tokens[i].first);
        same &= CHECK_INT(got[i].last, tokens[i].last);
    }
    same &= CHECK_UINT(msim_replica_waiting(r), e.n_waiting);
    same &= CHECK_UINT(msim_replica_running(r), e.n_running);
    return same;
}

/* So many requests, of which some come with every third step. */
static void compare(const struct msim_replica_rules *rules, int64_t kv_tokens,
                    int64_t besides)
{
    struct msim_llm_times times = {NULL, note, kv_tokens, besides, 16};
    struct msim_replica_figures figures;
    struct msim_replica *r;
    uint32_t next = 0;

    REQUIRE(msim_replica_new(&r, rules, &times) == MSIM_OK);
    memset(&e, 0, sizeof(e));
    e.rules = *rules;
    e.total = (uint32_t)kv_tokens / rules->block_size;
    e.besides = ((uint32_t)besides + rules->block_size - 1) / rules->block_size;
    e.window = 16;
    e.ratio = 0.7;
    while (next < requests || e.n_waiting || e.n_running) {
        for (uint32_t n = drawn(3) ? 0 : drawn(12); n-- && next < requests;
             next++)
            if (!arrive(r, next))
                goto done;
        if (!same_step(r))
            goto done;
    }
    msim_replica_figures_of(r, &figures);
    CHECK_UINT(figures.preemptions, e.preemptions);
done:
    msim_replica_free(r);
}

static struct msim_replica_rules of(enum msim_batch_policy policy)
{
    return (struct msim_replica_rules){.policy = policy,
                                       .chunked_prefill = true,
                                       .max_num_seqs = 12,
                                       .max_num_batched_tokens = 64,
                                       .block_size = 4,
                                       .ranks = 1};
}

/* Plenty of memory, little, windows and states; with and without priorities and
 * chunks. */
static void compare_all(struct msim_replica_rules rules)
{
    for (int i = 0; i < 16; i++) {
        rules.by_priority = i % 2;
        rules.chunked_prefill = i / 2 % 2;
        rules.max_num_seqs = i % 3 ? 12 : 5;
        rules.max_num_batched_tokens = i % 5 == 1 ? 7 : 64;
        compare(&rules, i / 4 % 2 ? 2000 : 240, i / 8 ? 10 : 0);
    }
}

static void test_schedules__mixed(void)
{
    state = 1;
    compare_all(of(MSIM_BATCH_MIXED));
    CHECK(e.preemptions == 0); /* the last has plenty */
}

/* TensorRT-LLM's: places for whole outputs, and prompts that wait for more. */
static void test_schedules__mixed_without_eviction(void)
{
    struct msim_replica_rules rules = of(MSIM_BATCH_MIXED);

    state = 2;
    rules.reserve_output = true;
    compare_all(rules);
    rules.wait_steps = 3;
    rules.wait_tokens = 40;
    compare_all(rules);
    rules.wait_steps = 1;
    rules.wait_tokens = 10;
    compare_all(rules);
    rules.reserve_output = false; /* those that were preempted wait, too */
    rules.wait_steps = 4;
    rules.wait_tokens = 50;
    compare_all(rules);
}

static void test_schedules__prompts_first(void)
{
    struct msim_replica_rules rules = of(MSIM_BATCH_PREFILL_FIRST);

    state = 3;
    compare_all(rules);
    rules.block_size = 1;
    compare_all(rules);
}

/* Outputs count up to 4,096 tokens, and less from step to step. */
static void test_schedules__prompts_first_of_long_answers(void)
{
    struct msim_replica_rules rules = of(MSIM_BATCH_PREFILL_FIRST);

    state = 5;
    requests = 16;
    longest = 9000;
    compare(&rules, 11000, 0);
    compare(&rules, 16000, 0);
    compare(&rules, 24000, 0);
    requests = MOST;
    longest = 40;
}

static void test_schedules__batches(void)
{
    state = 4;
    compare_all(of(MSIM_BATCH_STATIC));
}

int main(void)
{
    RUN(test_schedules__mixed);
    RUN(test_schedules__mixed_without_eviction);
    RUN(test_schedules__prompts_first);
    RUN(test_schedules__prompts_first_of_long_answers);
    RUN(test_schedules__batches);
    return check_summary();
}
