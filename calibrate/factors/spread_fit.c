/*
 * calibrate/factors/spread_fit.c - widths of least interval score, by a search
 * along one parameter at a time: the score has kinks, where gradients fail.
 */
#include "calibrate/factors/factor_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS       MSIM_PROGRAM_FOLDS
#define NO_FOLD     FOLDS
#define NO_PLATFORM UINT32_MAX
#define KINDS       MSIM_SPREAD_COUNT
#define FAMILIES    MSIM_FAMILY_COUNT
/* A width of which programs say nothing, and how much a width is pulled to
 * that, in programs off by a factor of e. */
#define USUAL 0.15
#define PULL  1.0
/* The widest, a factor of ten: one program that is off by more is a fault. */
#define WIDEST 2.3
/* Steps of the search, of logarithms. */
#define STEP_FIRST 0.5
#define STEP_LAST  0.02
/* What is outside counts 2 / (1 - 0.9) times. */
#define OUTSIDE 20.0
/* Wanted inside: laws were written with these programs in sight, others will be
 * outside more often. */
#define WANTED 0.92
/* How many programs of other GPUs count beside those of one. What asks for more
 * holds: a GPU that is odd has its own few programs to show it, and one whose
 * programs are near has not met all sources that others have. */
#define OF_OTHERS_LEAST 20.0
#define OF_OTHERS_MOST  200.0
/* A factor of 7 either way. */
#define SHARED_MOST 2.0
/* Nothing takes less than a hundredth of the prediction. */
#define LEAST 0.01
/* The share of a program from which on it tells of a kind. */
#define TELLS 0.1
/* Of a kind of fewer programs one that is far off would be all that is known:
 * it has its neighbour's widths, found on the programs of both. */
#define POOLED_BELOW 20

struct item {
    uint32_t family, kind;  /* kind COUNT: the laws' own width, */
    double share, down, up; /* as shares of the prediction */
};

struct row {
    uint32_t items, n_items; /* a run of all items */
    uint32_t platform, fold;
    double off, weight;
};

/* Parameters, all as logarithms: slower and faster of each kind. */
#define PARAMETERS (2 * KINDS)

struct spread_problem {
    const struct msim_program_sums *s;
    struct row *rows;
    struct item *items;
    int widths_of[KINDS]; /* the kind whose parameters a kind has */
    /* Of the parameters at hand: by kind, and shared. */
    double down[KINDS], up[KINDS], shared_down, shared_up;
};

/* ---- rows ---------------------------------------------------------------- */

static void fill_row(struct row *row, struct item *items,
                     const struct msim_program_sum *from,
                     const struct msim_program_part *parts, const double *time)
{
    double us = 0;

    for (uint32_t i = 0; i < from->n_parts; i++) {
        const struct msim_program_part *part = &parts[i];
        double factor =
            part->factor < MSIM_FACTOR_COUNT ? time[part->factor] : 1;

        items[i] = (struct item){part->family, part->spread, factor * part->us,
                                 factor * (part->us - part->low_us),
                                 factor * (part->high_us - part->us)};
        us += items[i].share;
    }
    for (uint32_t i = 0; i < from->n_parts; i++) {
        items[i].share /= us;
        items[i].down /= us;
        items[i].up /= us;
    }
    row->off = log(from->us / us);
}

/* Rows of one program on one GPU count as one together. */
static enum msim_status weigh(struct spread_problem *p)
{
    const struct msim_program_sums *s = p->s;
    uint32_t *count =
        calloc((size_t)s->groups.n * s->platforms.n + 1, sizeof(*count));

    if (!count)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        count[s->rows[i].group * s->platforms.n + s->rows[i].platform]++;
    for (uint32_t i = 0; i < s->n; i++) {
        p->rows[i].weight =
            1.0 /
            count[s->rows[i].group * s->platforms.n + s->rows[i].platform];
    }
    free(count);
    return MSIM_OK;
}

/* `unknown` NULL: by factors that were found without the program. */
static void fill(struct spread_problem *p, const struct msim_factor_fit *fits,
                 const struct msim_program_factors *unknown)
{
    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct msim_program_sum *from = &p->s->rows[i];
        struct row *row = &p->rows[i];

        row->platform = from->platform;
        row->fold = from->group % FOLDS; /* on all platforms the same */
        row->items = from->parts;
        row->n_items = from->n_parts;
        fill_row(row, p->items + from->parts, from, p->s->parts + from->parts,
                 unknown ? unknown[from->platform].time
                         : fits[from->platform].without[from->fold]);
    }
}

static enum msim_status prepare(struct spread_problem *p)
{
    p->rows = calloc((size_t)p->s->n + 1, sizeof(*p->rows));
    p->items = calloc((size_t)p->s->n_parts + 1, sizeof(*p->items));
    return p->rows && p->items ? weigh(p) : MSIM_ENOMEM;
}

static void release(struct spread_problem *p)
{
    free(p->rows);
    free(p->items);
}

/* ---- intervals and scores ------------------------------------------------ */

static void set_widths(struct spread_problem *p, const double *x, double shared)
{
    p->shared_up = expm1(shared);
    p->shared_down = -expm1(-shared);
    for (int k = 0; k < KINDS; k++) {
        p->up[k] = expm1(exp(x[2 * p->widths_of[k]]));
        p->down[k] = -expm1(-exp(x[2 * p->widths_of[k] + 1]));
    }
}

static void bounds(const struct spread_problem *p, const struct row *row,
                   double *low, double *high)
{
    double d[FAMILIES] = {0}, u[FAMILIES] = {0};
    double dd = p->shared_down * p->shared_down;
    double uu = p->shared_up * p->shared_up;

    for (uint32_t i = row->items; i < row->items + row->n_items; i++) {
        const struct item *item = &p->items[i];
        bool known = item->kind < KINDS;

        d[item->family] +=
            known ? item->share * p->down[item->kind] : item->down;
        u[item->family] += known ? item->share * p->up[item->kind] : item->up;
    }
    for (int f = 0; f < FAMILIES; f++) {
        dd += d[f] * d[f];
        uu += u[f] * u[f];
    }
    *low = -log(fmax(1 - sqrt(dd), LEAST));
    *high = log1p(sqrt(uu));
}

static double score(double off, double low, double high)
{
    return low + high + OUTSIDE * fmax(fmax(off - high, -low - off), 0);
}

static double objective(struct spread_problem *p, const double *x,
                        uint32_t without)
{
    double sum = 0;

    set_widths(p, x, 0);
    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct row *row = &p->rows[i];
        double low, high;

        if (row->fold == without)
            continue;
        bounds(p, row, &low, &high);
        sum += row->weight * score(row->off, low, high);
    }
    for (int k = 0; k < PARAMETERS; k++)
        sum += PULL * (x[k] - log(USUAL)) * (x[k] - log(USUAL));
    return sum;
}

/* ---- the search ---------------------------------------------------------- */

/* Move one parameter by a step either way, where that is better. */
static bool improve(struct spread_problem *p, double *x, uint32_t i,
                    double step, uint32_t without, double *best)
{
    double was = x[i];

    for (int sign = -1; sign <= 1; sign += 2) {
        double now;

        x[i] = fmin(was + sign * step, log(WIDEST));
        now = objective(p, x, without);
        if (now < *best - 1e-9) {
            *best = now;
            return true;
        }
    }
    x[i] = was;
    return false;
}

static void search(struct spread_problem *p, double *x, uint32_t without)
{
    double best;

    for (uint32_t i = 0; i < PARAMETERS; i++)
        x[i] = log(USUAL);
    best = objective(p, x, without);
    for (double step = STEP_FIRST; step > STEP_LAST; step /= 2)
        for (bool better = true; better;) {
            better = false;
            for (uint32_t i = 0; i < PARAMETERS; i++)
                better |= improve(p, x, i, step, without, &best);
        }
}

/* ---- how many are inside ------------------------------------------------- */

/* Parameters that were found without each fold, and with all. */
typedef double found_widths[FOLDS + 1][PARAMETERS];

static bool is_inside(const struct spread_problem *p, const struct row *row)
{
    double low, high;

    bounds(p, row, &low, &high);
    return row->off >= -low && row->off <= high;
}

/* Whose rows count: those of a platform and, as so many programs at most, those
 * of others; of fold `without` none. */
struct counted {
    uint32_t platform, without;
    double others;
};

/* The share of these rows inside, each by widths found without it. */
static double inside(struct spread_problem *p, found_widths x, double shared,
                     const struct counted *c)
{
    double sum[2] = {0}, all[2] = {0}, more;

    for (uint32_t fold = 0; fold < FOLDS; fold++) {
        if (fold == c->without)
            continue;
        set_widths(p, x[fold], shared);
        for (uint32_t i = 0; i < p->s->n; i++) {
            const struct row *row = &p->rows[i];
            bool own = row->platform == c->platform;

            if (row->fold != fold)
                continue;
            all[own] += row->weight;
            sum[own] += is_inside(p, row) ? row->weight : 0;
        }
    }
    more = all[0] > 0 ? fmin(1, c->others / all[0]) : 0;
    return all[0] + all[1] > 0
               ? (sum[1] + more * sum[0]) / (all[1] + more * all[0])
               : 1;
}

/* The least that kernels have to share for enough to be inside. */
static double least_shared(struct spread_problem *p, found_widths x,
                           const struct counted *c)
{
    double least = 0, most = SHARED_MOST;

    for (int i = 0; i < 40; i++) {
        double middle = (least + most) / 2;

        if (inside(p, x, middle, c) < WANTED)
            least = middle;
        else
            most = middle;
    }
    return most;
}

static double fit_shared(struct spread_problem *p, found_widths x,
                         uint32_t platform, uint32_t without)
{
    const struct counted least = {platform, without, OF_OTHERS_LEAST};
    const struct counted most = {platform, without, OF_OTHERS_MOST};

    return fmax(least_shared(p, x, &least), least_shared(p, x, &most));
}

static void judge(struct spread_problem *p, found_widths x, uint32_t platform,
                  uint32_t fold, struct msim_spread_judged *out)
{
    set_widths(p, x[fold], fit_shared(p, x, platform, fold));
    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct row *row = &p->rows[i];
        struct msim_spread_judged *j = &out[i];

        if (row->fold != fold || row->platform != platform)
            continue;
        bounds(p, row, &j->low, &j->high);
        j->off = row->off;
        j->score = score(j->off, j->low, j->high);
        j->inside = is_inside(p, row);
    }
}

/* ---- kinds of few programs ----------------------------------------------- */

/* The kind that is most like it; itself where none is. */
static enum msim_spread neighbour(enum msim_spread k)
{
    switch (k) {
    case MSIM_SPREAD_GEMM_ODD:
    case MSIM_SPREAD_GEMM_THIN:
        return MSIM_SPREAD_GEMM_FULL;
    case MSIM_SPREAD_ATTENTION:
        return MSIM_SPREAD_GEMM_HALF;
    case MSIM_SPREAD_CONV_FEW:
    case MSIM_SPREAD_CONV_ODD:
        return MSIM_SPREAD_CONV_FULL;
    case MSIM_SPREAD_TRANSPOSED_GROUPS:
    case MSIM_SPREAD_TRANSPOSED_DEEP:
        return MSIM_SPREAD_TRANSPOSED;
    default:
        return k;
    }
}

static void pool(struct spread_problem *p, const uint32_t programs[KINDS])
{
    for (int k = 0; k < KINDS; k++)
        p->widths_of[k] = programs[k] < POOLED_BELOW
                              ? (int)neighbour((enum msim_spread)k)
                              : k;
}

/* ---- all of it ----------------------------------------------------------- */

static void count_programs(const struct spread_problem *p,
                           uint32_t programs[KINDS])
{
    double sum[KINDS] = {0};

    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct row *row = &p->rows[i];
        double share[KINDS + 1] = {0};

        for (uint32_t k = row->items; k < row->items + row->n_items; k++)
            share[p->items[k].kind] += p->items[k].share;
        for (int k = 0; k < KINDS; k++)
            sum[k] += share[k] >= TELLS ? row->weight : 0;
    }
    for (int k = 0; k < KINDS; k++)
        programs[k] = (uint32_t)lround(sum[k]);
}

static void fit(struct msim_spread_fit *out, struct spread_problem *p,
                const struct msim_factor_fit *fits,
                const struct msim_program_factors *unknown)
{
    found_widths x;
    const double *all = x[NO_FOLD];

    fill(p, fits, NULL);
    count_programs(p, out->programs);
    pool(p, out->programs);
    for (uint32_t fold = 0; fold <= FOLDS; fold++)
        search(p, x[fold], fold);
    for (int k = 0; k < KINDS; k++)
        out->kind[k] = (struct msim_spread_width){
            exp(all[2 * p->widths_of[k]]), exp(all[2 * p->widths_of[k] + 1])};
    for (uint32_t i = 0; i < p->s->platforms.n; i++) {
        out->shared[i] = fit_shared(p, x, i, NO_FOLD);
        for (uint32_t fold = 0; fold < FOLDS; fold++)
            judge(p, x, i, fold, out->rows);
    }
    fill(p, fits, unknown);
    out->others = fit_shared(p, x, NO_PLATFORM, NO_FOLD);
}

enum msim_status
msim_spread_fit_make(struct msim_spread_fit *out,
                     const struct msim_program_sums *s,
                     const struct msim_factor_fit *fits,
                     const struct msim_program_factors *unknown)
{
    struct spread_problem p = {.s = s};
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    out->shared = calloc((size_t)s->platforms.n + 1, sizeof(*out->shared));
    out->rows = calloc((size_t)s->n + 1, sizeof(*out->rows));
    status = prepare(&p);
    if (!out->shared || !out->rows)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK)
        fit(out, &p, fits, unknown);
    release(&p);
    return status;
}

void msim_spread_fit_release(struct msim_spread_fit *f)
{
    free(f->shared);
    free(f->rows);
    memset(f, 0, sizeof(*f));
}
