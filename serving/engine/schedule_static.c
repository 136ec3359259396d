/*
 * serving/engine/schedule_static.c - batches that are made once.
 *
 * When nothing runs, a batch is made of what waits, as far as places and memory
 * for prompts and outputs go. One step computes all its prompts. Then it
 * decodes until its longest sequence has ended; those that end before stay in
 * it as padding, and cost what they cost (FasterTransformer's batches, and what
 * TensorRT-LLM calls STATIC_BATCH).
 */
#include "serving/engine/replica_internal.h"

static void begin_batch(struct msim_sched *s)
{
    while (s->n_waiting && s->n_running < s->rules->max_num_seqs) {
        struct msim_seq *q = msim_sched_next(s);
        uint32_t now = msim_sched_open(s);

        if (!msim_sched_reserve(s, q, q->input + q->output - 1)) {
            msim_sched_close(s);
            return;
        }
        msim_sched_run(s, msim_sched_admit(s), now);
    }
}

void msim_schedule_static(struct msim_sched *s)
{
    if (!s->n_running) {
        begin_batch(s);
        return;
    }
    for (uint32_t i = 0; i < s->n_running; i++)
        s->seqs[s->running[i]].now = 1;
}
