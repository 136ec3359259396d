/*
 * serving/llm/llm.c - a served model: memory, and times of steps by the law.
 */

#include "serving/llm/llm_internal.h"

#include <math.h>
#include <stdlib.h>

/* ---- a step -------------------------------------------------------------- */

/* Chunks of several prompts are one kernel a layer, so that what each takes to
 * begin counts once. Those of several data parallel ranks run side by side,
 * where nothing says which rank has which. */
static double chunks_us(struct msim_llm *m, const struct msim_llm_step *step,
                        int64_t ranks)
{
    double us = 0;

    for (uint32_t i = 0; i < step->n_chunks; i++)
        us += fmax(msim_llm_table_us(&m->table, MSIM_LLM_PART_CHUNK,
                                     step->chunks[i].tokens,
                                     step->chunks[i].context) -
                       m->chunk_start_us,
                   0);
    if (ranks > step->n_chunks)
        ranks = step->n_chunks;
    return us / (double)ranks + m->chunk_start_us;
}

/* Tokens of a step, tokens that come out of it, sequences in it. */
struct counts {
    double tokens, yields, seqs;
};

static struct counts count(const struct msim_llm_step *step)
{
    struct counts c = {step->decode_seqs, step->decode_seqs,
                       (double)step->decode_seqs + step->n_chunks};

    for (uint32_t i = 0; i < step->n_chunks; i++) {
        c.tokens += step->chunks[i].tokens;
        c.yields += step->chunks[i].last;
    }
    return c;
}

/* What `of` takes beside experts: the step, or what one rank has of it, as if
 * all ranks had as much. */
static double rank_us(struct msim_llm *m, const struct msim_llm_step *of,
                      bool even)
{
    double ranks = even ? 1 : (double)m->rank.s.dp, us;
    struct counts c = count(of);

    us = msim_llm_table_us(&m->table, MSIM_LLM_PART_TOKENS, c.tokens * ranks,
                           0) +
         msim_llm_table_us(&m->table, MSIM_LLM_PART_HEAD, c.yields * ranks, 0);
    if (of->decode_seqs)
        us += msim_llm_table_us(&m->table, MSIM_LLM_PART_DECODE,
                                of->decode_seqs * ranks,
                                (double)of->decode_context / of->decode_seqs);
    if (of->n_chunks)
        us += chunks_us(m, of, even ? m->rank.s.dp : 1);
    return us;
}

static double host_us(const struct msim_llm *m, double steps, double seqs)
{
    return msim_llm_law_host_us(&m->law, &m->rank, steps, seqs);
}

static double law_us(struct msim_llm *m, const struct msim_llm_step *step)
{
    struct counts c = count(step);

    if (c.tokens <= 0)
        return 0;
    return host_us(m, 1, c.seqs) +
           msim_llm_table_us(&m->table, MSIM_LLM_PART_EXPERTS, c.tokens, 0) +
           rank_us(m, step->rank ? step->rank : step, !step->rank);
}

/* The same without prompts. */
static double decode_us(struct msim_llm *m, const struct msim_llm_step *step)
{
    struct msim_llm_step rank = {0},
                         alone = {step->decode_seqs, step->decode_context, NULL,
                                  0, NULL};

    if (step->rank) {
        rank = (struct msim_llm_step){
            step->rank->decode_seqs, step->rank->decode_context, NULL, 0, NULL};
        alone.rank = &rank;
    }
    return law_us(m, &alone);
}

/* What prompts add to a step goes with recorded prompts, all else of a step
 * that decodes with recorded steps of decoding. */
static double step_us(void *ctx, const struct msim_llm_step *step)
{
    struct msim_llm *m = ctx;
    double us = law_us(m, step), decode = us;

    if (m->prompt_factor == m->decode_factor)
        return us * m->decode_factor;
    if (step->n_chunks)
        decode = step->decode_seqs ? fmin(decode_us(m, step), us) : 0;
    return m->decode_factor * decode + m->prompt_factor * (us - decode);
}

/* ---- making one ---------------------------------------------------------- */

/* Steps of one sequence and of a prompt are asked for, so that what the
 * platform cannot run is found here. */
static enum msim_status try_steps(struct msim_llm *m, struct msim_error *err)
{
    const struct msim_llm_chunk chunk = {.tokens = 16, .last = true};
    const struct msim_llm_step step = {1, 16, &chunk, 1, NULL};

    m->chunk_start_us = msim_llm_table_us(&m->table, MSIM_LLM_PART_CHUNK, 1, 0);
    (void)step_us(m, &step);
    if (m->table.status == MSIM_OK)
        return MSIM_OK;
    return msim_fail(err, m->table.status, NULL, MSIM_OFFSET_NONE, "%s",
                     m->table.err.text);
}

static enum msim_status make(struct msim_llm *m,
                             const struct msim_llm_setup *setup,
                             struct msim_error *err)
{
    MSIM_TRY(msim_llm_rank_init(&m->rank, setup, err));
    if (setup->law)
        m->law = *setup->law;
    else
        msim_llm_law_init(&m->law);
    m->prompt_factor = setup->prompt_factor > 0 ? setup->prompt_factor : 1;
    m->decode_factor = setup->decode_factor > 0 ? setup->decode_factor : 1;
    MSIM_TRY(msim_llm_memory_make(&m->memory, &m->rank, err));
    MSIM_TRY(msim_llm_table_init(&m->table, &m->rank, &m->law));
    for (int f = 0; f < MSIM_LLM_FIGURES; f++)
        m->half[f] = msim_llm_law_half(&m->law, &m->rank,
                                       (enum msim_llm_figure)f, &m->uses_rows);
    return try_steps(m, err);
}

enum msim_status msim_llm_new(struct msim_llm **out,
                              const struct msim_llm_setup *setup,
                              struct msim_error *err)
{
    struct msim_llm *m = calloc(1, sizeof(*m));
    enum msim_status status;

    *out = NULL;
    if (!m)
        return MSIM_ENOMEM;
    status = make(m, setup, err);
    if (status == MSIM_OK)
        *out = m;
    else
        msim_llm_free(m);
    return status;
}

void msim_llm_free(struct msim_llm *m)
{
    if (!m)
        return;
    msim_llm_table_release(&m->table);
    free(m);
}

struct msim_llm_times msim_llm_times_of(struct msim_llm *m)
{
    const struct msim_llm_memory *of = &m->memory;

    return (struct msim_llm_times){m, step_us, of->kv_tokens,
                                   msim_llm_memory_sequence_tokens(of),
                                   of->kv_window};
}

const struct msim_llm_memory *msim_llm_memory_of(const struct msim_llm *m)
{
    return &m->memory;
}

double msim_llm_half(const struct msim_llm *m, enum msim_llm_figure f)
{
    return m->half[f];
}

bool msim_llm_uses_rows(const struct msim_llm *m)
{
    return m->uses_rows;
}
