/*
 * core/read/kineto/kineto_pairs.c - events that begin and end as two, 'B' and
 * 'E': tools that rewrite traces make them.
 *
 * An end belongs to the innermost event of its thread that is open, and of its
 * name where it has one: of two activities side by side, the second may begin
 * before the first one's end in the file.
 */
#include "core/read/kineto/read_kineto_internal.h"

/* Deeper than any stack of calls, so that a file of begins alone ends soon. */
#define OPEN_MAX 4096

static uint32_t n_rows(const struct msim_trace *t, uint8_t cat)
{
    switch (cat) {
    case MSIM_KCAT_OP:
    case MSIM_KCAT_ANNOTATION:
        return t->n_ops;
    case MSIM_KCAT_CALL:
        return t->n_calls;
    case MSIM_KCAT_SYNC:
        return t->n_syncs;
    default:
        return t->n_gpu;
    }
}

static msim_ps *row_dur(struct msim_trace *t, const struct msim_kineto_open *o)
{
    switch (o->cat) {
    case MSIM_KCAT_OP:
    case MSIM_KCAT_ANNOTATION:
        return &t->ops[o->row].dur;
    case MSIM_KCAT_CALL:
        return &t->calls[o->row].dur;
    case MSIM_KCAT_SYNC:
        return &t->syncs[o->row].dur;
    default:
        return &t->gpu[o->row].dur;
    }
}

/* The last row takes its place: rows are not in order yet. */
static void remove_row(struct msim_trace *t, const struct msim_kineto_open *o)
{
    switch (o->cat) {
    case MSIM_KCAT_OP:
    case MSIM_KCAT_ANNOTATION:
        t->ops[o->row] = t->ops[--t->n_ops];
        break;
    case MSIM_KCAT_CALL:
        t->calls[o->row] = t->calls[--t->n_calls];
        break;
    case MSIM_KCAT_SYNC:
        t->syncs[o->row] = t->syncs[--t->n_syncs];
        break;
    default:
        t->gpu[o->row] = t->gpu[--t->n_gpu];
        break;
    }
}

enum msim_status msim_kineto_begin(struct msim_reader *r, bool row)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const struct msim_kineto_event *ev = &k->ev;
    struct msim_kineto_open *o;

    if (k->open.n >= OPEN_MAX)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT,
            "event %llu '%.80s' begins inside %u others, want ends",
            (unsigned long long)r->trace->import.records,
            msim_strtab_text(r->strings, ev->name), k->open.n);
    o = msim_vec_add(&k->open, sizeof(*o));
    if (!o)
        return MSIM_ENOMEM;
    *o = (struct msim_kineto_open){
        .pid = ev->pid,
        .tid = ev->tid,
        .ts_us = ev->ts_us,
        .ts_ps = ev->ts_ps,
        .name = ev->name,
        .row = row ? n_rows(r->trace, ev->cat) - 1 : MSIM_NONE,
        .cat = ev->cat,
    };
    return MSIM_OK;
}

/* What the current event ends, or NONE. */
static uint32_t find_open(const struct msim_kineto *k)
{
    const struct msim_kineto_open *all = k->open.data;
    const struct msim_kineto_event *ev = &k->ev;
    uint32_t i = k->open.n;

    while (i-- > 0)
        if (all[i].pid == ev->pid && all[i].tid == ev->tid &&
            (!(ev->have & MSIM_KHAVE_NAME) || all[i].name == ev->name))
            return i;
    return MSIM_NONE;
}

void msim_kineto_end(struct msim_reader *r)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_kineto_open *all = k->open.data, o;
    uint32_t i = find_open(k);

    if (i == MSIM_NONE) {
        msim_read_count(r, MSIM_IMPORT_STRAY_END);
        return;
    }
    o = all[i];
    if (o.row == MSIM_NONE)
        msim_read_count(r, MSIM_IMPORT_END);
    if (o.row != MSIM_NONE) {
        k->ev.dur_us = k->ev.ts_us - o.ts_us - (k->ev.ts_ps < o.ts_ps);
        k->ev.dur_ps =
            (k->ev.ts_ps - o.ts_ps + MSIM_PS_PER_US) % MSIM_PS_PER_US;
        if (!msim_kineto_sound(r))
            return; /* it stays open, and is left out */
        r->trace->import.read++;
        *row_dur(r->trace, &o) = k->ev.dur_us * MSIM_PS_PER_US + k->ev.dur_ps;
    }
    for (k->open.n--; i < k->open.n; i++)
        all[i] = all[i + 1];
}

void msim_kineto_end_all(struct msim_reader *r)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const struct msim_kineto_open *all = k->open.data;

    while (k->open.n-- > 0) {
        const struct msim_kineto_open *o = &all[k->open.n];

        if (o->row == MSIM_NONE)
            continue;
        remove_row(r->trace, o);
        r->trace->import.read--;
        msim_read_leave_out(r, "event '%.80s' begins and does not end",
                            msim_strtab_text(r->strings, o->name));
    }
    k->open.n = 0;
}
