/*
 * calibrate/measure/failure_watch.c - refusals, and failures one after the
 * other.
 */
#include "calibrate/measure/ask_loop.h"

#include "calibrate/measure/journal.h"

#define REFUSALS 3 /* without a row end the questions of a kind */
#define CRASH    2 /* counts as so many: it costs a wait, or a new start */

bool msim_cal_watch_recall(struct msim_cal_watch *w, uint32_t kind,
                           const struct msim_cal_outcome *o)
{
    struct msim_cal_watched *of = &w->of[kind];

    if (!o->error)
        of->refused = UINT32_MAX;
    if (of->refused == UINT32_MAX)
        return false;
    of->refused += o->crashed ? CRASH : o->unsupported;
    of->dropped |= of->refused >= REFUSALS;
    return of->refused >= REFUSALS;
}

static uint32_t add(struct msim_cal_streak *s, uint64_t text)
{
    s->n = s->text == text ? s->n + 1 : 1;
    s->text = text;
    return s->n;
}

/* True where there are too many, of more than one table. */
static bool add_to_all(struct msim_cal_watch *w, enum msim_table table,
                       uint64_t text)
{
    if (add(&w->all, text) == 1) {
        w->table = table;
        w->tables = false;
    }
    w->tables |= table != w->table;
    return w->all.n >= MSIM_CAL_IN_A_ROW_ALL && w->tables;
}

static void forget_streaks(struct msim_cal_watch *w)
{
    w->all.n = 0;
    for (uint32_t i = 0; i <= MSIM_CAL_PAIRS; i++)
        w->of[i].streak.n = 0;
}

/* Whether a new start may help: none did so far for this text. */
static bool may_help(struct msim_cal_watch *w, uint64_t text)
{
    for (uint32_t i = 0; i < w->n_started; i++)
        if (w->started[i] == text)
            return false;
    if (w->n_started == MSIM_CAL_STARTED)
        return false;
    w->started[w->n_started++] = text;
    return true;
}

static enum msim_cal_verdict note_failure(struct msim_cal_watch *w,
                                          uint32_t kind, enum msim_table table,
                                          const char *error)
{
    uint64_t text = msim_cal_failure_hash(error);
    bool of_all = add_to_all(w, table, text);
    bool of_kind = add(&w->of[kind].streak, text) >= MSIM_CAL_IN_A_ROW;

    if (!of_kind && !of_all)
        return MSIM_CAL_GO_ON;
    if (may_help(w, text)) {
        forget_streaks(w);
        return MSIM_CAL_START_AGAIN;
    }
    if (of_all)
        return MSIM_CAL_GIVE_UP;
    w->of[kind].dropped = w->lost = true;
    return MSIM_CAL_DROP;
}

static uint32_t table_of(uint32_t kind, enum msim_table table)
{
    return kind == MSIM_CAL_PAIRS ? MSIM_TABLE_COUNT : table;
}

static enum msim_cal_verdict note_hang(struct msim_cal_watch *w, uint32_t table)
{
    struct msim_cal_hangs *h = &w->hangs[table];

    w->hung |= UINT32_C(1) << table;
    h->in_a_row++;
    h->all++;
    if (__builtin_popcount(w->hung) >= MSIM_CAL_HUNG_TABLES)
        return MSIM_CAL_GIVE_UP;
    if (h->in_a_row < MSIM_CAL_HANGS && h->all < MSIM_CAL_HANGS_ALL)
        return MSIM_CAL_GO_ON;
    w->lost = true;
    return MSIM_CAL_DROP_TABLE;
}

static void note_row(struct msim_cal_watch *w, uint32_t kind,
                     enum msim_table table)
{
    w->all.n = w->of[kind].streak.n = 0;
    w->hangs[table_of(kind, table)].in_a_row = 0;
    w->hung = 0;
}

enum msim_cal_verdict msim_cal_watch_note(struct msim_cal_watch *w,
                                          uint32_t kind, enum msim_table table,
                                          const struct msim_cal_outcome *o)
{
    bool refused = msim_cal_watch_recall(w, kind, o);
    enum msim_cal_verdict hung =
        o->hung ? note_hang(w, table_of(kind, table)) : MSIM_CAL_GO_ON;

    if (!o->error)
        note_row(w, kind, table);
    if (hung != MSIM_CAL_GO_ON)
        return hung;
    if (refused)
        return MSIM_CAL_REFUSED;
    return o->error && !o->unsupported ? note_failure(w, kind, table, o->error)
                                       : MSIM_CAL_GO_ON;
}
