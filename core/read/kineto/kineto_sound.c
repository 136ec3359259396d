/*
 * core/read/kineto/kineto_sound.c - events that say what cannot be.
 *
 * PyTorch's profiler is known to write a few: a time that nobody filled in
 * (pytorch/kineto#109), an end before its begin (pytorch/kineto#646). One such
 * record says nothing of the others.
 */
#include "core/read/kineto/read_kineto_internal.h"

#include <stdio.h>

#define MAX_US (MSIM_TRACE_MAX / MSIM_PS_PER_US)

/*
 * Is the current event more than a day from the first? A time that nobody
 * filled in is 0 or near: where a file begins with such, they are given up and
 * the trace begins here.
 */
static bool is_far(struct msim_reader *r)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_trace *t = r->trace;
    int64_t us;

    if (!k->based)
        k->base_us = k->ev.ts_us;
    k->based = true;
    if (!__builtin_sub_overflow(k->ev.ts_us, k->base_us, &us) && us <= MAX_US &&
        us >= -MAX_US)
        return false;
    if (k->base_us > MAX_US || k->ev.ts_us < k->base_us ||
        ++k->n_far < k->n_rows)
        return true;
    for (uint64_t i = 0; i < k->n_rows; i++)
        msim_read_leave_out(r, "'ts' is %lld, more than a day before the rest",
                            (long long)k->base_us);
    t->import.read -= k->n_rows;
    k->n_rows = k->n_far = k->open.n = 0;
    t->n_ops = t->n_calls = t->n_gpu = t->n_syncs = t->n_comms = 0;
    t->n_memory = 0;
    k->base_us = k->ev.ts_us;
    return false;
}

static bool is_device(uint8_t cat)
{
    return cat >= MSIM_KCAT_KERNEL && cat <= MSIM_KCAT_MEMSET;
}

void msim_kineto_no_time(struct msim_reader *r, const char *key, const char *s,
                         size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);

    k->ev.have |= MSIM_KHAVE_NONE;
    snprintf(k->no_time, sizeof(k->no_time), "'%s' is %.*s", key,
             len ? (int)(len < 40 ? len : 40) : 9, len ? s : "no number");
}

/* Why the current event cannot be, in `text`; false where it can. */
static bool is_unsound(struct msim_reader *r, char *text, size_t size)
{
    const struct msim_kineto *k = msim_kineto_of(r);
    const struct msim_kineto_event *ev = &k->ev;

    if (ev->have & MSIM_KHAVE_NONE)
        snprintf(text, size, ": %s, want microseconds", k->no_time);
    else if (!(ev->have & MSIM_KHAVE_TS))
        snprintf(text, size, " has no 'ts'");
    else if (is_device(ev->cat) && ev->ph == 'X' &&
             !(ev->have & MSIM_KHAVE_DUR))
        snprintf(text, size, " has no number as its 'dur'");
    else if (ev->dur_us < 0)
        snprintf(text, size, ": 'dur' is %lld, want >= 0 us",
                 (long long)ev->dur_us);
    else if (ev->dur_us >= MAX_US)
        snprintf(text, size, ": 'dur' is %lld us, want less than a day",
                 (long long)ev->dur_us);
    else if (is_device(ev->cat) && !(ev->ts_us | ev->ts_ps) &&
             !(ev->dur_us | ev->dur_ps))
        snprintf(text, size, ": 'ts' and 'dur' are 0, which no activity has");
    else if (is_far(r))
        snprintf(text, size, ": 'ts' is %lld, more than a day from the first",
                 (long long)ev->ts_us);
    else
        return false;
    return true;
}

bool msim_kineto_is_plain(const struct msim_kineto *k)
{
    int64_t us;

    return k->based && k->ev.dur_us >= 0 && k->ev.dur_us < MAX_US &&
           k->ev.ts_us &&
           !__builtin_sub_overflow(k->ev.ts_us, k->base_us, &us) &&
           us <= MAX_US && us >= -MAX_US;
}

bool msim_kineto_sound(struct msim_reader *r)
{
    char why[128];

    if (!is_unsound(r, why, sizeof(why)))
        return true;
    msim_read_leave_out(
        r, "event %llu '%.80s'%s", (unsigned long long)r->trace->import.records,
        msim_strtab_text(r->strings, msim_kineto_of(r)->ev.name), why);
    return false;
}
