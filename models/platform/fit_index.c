/*
 * models/platform/fit_index.c - the index, and the choice by least variance.
 */
#include "models/platform/fit.h"

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/base/texts.h"
#include "core/work/estimate.h"
#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of a partner's fits, in the choice: above that of a platform's own fits,
 * below that of all others. */
#define PARTNER_VARIANCE 1e-9

static uint64_t hash(uint64_t h, const char *text)
{
    return msim_hash_byte(msim_hash_text(h, text), 0);
}

static uint64_t law_hash(const struct msim_law *law)
{
    return hash(MSIM_HASH_START, law->name);
}

/* ---- making it ----------------------------------------------------------- */

/* Half of the widest interval, a logarithm. */
static double half_width(const struct msim_fit *c)
{
    double widest = 0;

    for (uint32_t i = 0; i < c->n_bins; i++)
        widest = fmax(widest, c->bins[i].high - c->bins[i].low);
    return widest / 2;
}

static double interval_variance(const struct msim_fit *c)
{
    double log_sd = half_width(c) / MSIM_Z90;

    return log_sd * log_sd;
}

static void add(struct msim_fit_index *index, struct msim_fit_index_entry e)
{
    e.key = hash(law_hash(e.fit->law), e.fit->key);
    e.framework = hash(MSIM_HASH_START, e.fit->framework);
    e.order = index->n;
    index->entries[index->n++] = e;
}

static bool same_generation(const struct msim_platform *p,
                            const struct msim_platform *from)
{
    return msim_same_text(from->sheet.generation, p->sheet.generation);
}

/* The distance of two GPUs beyond that of GPUs that were compared. */
static double beyond_compared(const struct msim_platform *p,
                              const struct msim_platform *from)
{
    return fmax(msim_data_sheet_distance(msim_platform_usual(p), &from->sheet) -
                    MSIM_FACT(NULL, OTHER_GPU_COMPARED_DISTANCE),
                0);
}

/*
 * The standard deviation for using a fit of the GPU `from`. The figure for a
 * generation was found on GPUs that are near to one another. For a GPU that is
 * not (an eighth of the size, a fifth of the power) it grows with the distance,
 * by up to the figure for another generation.
 */
static double log_sd_of(const struct msim_platform *p,
                        const struct msim_platform *from,
                        const struct msim_law *law)
{
    struct msim_shared_sd s = msim_shared_laws_sd(&p->shared, law);

    if (from == p)
        return 0;
    if (!same_generation(p, from))
        return s.other;
    return hypot(s.generation, s.other * fmin(beyond_compared(p, from), 1));
}

/*
 * Whether the correction of a law holds on `p`. It does on GPUs of one
 * generation, which run the same kernels. But where a GPU's power limits its
 * rates, the correction has learned this limit, too, and does not hold on a GPU
 * that sustains more.
 */
static bool carries(const struct msim_platform *p,
                    const struct msim_platform *from)
{
    return same_generation(p, from) &&
           from->sheet.sustained >= msim_platform_usual(p)->sustained;
}

static void add_platform(struct msim_platform *p,
                         const struct msim_platform *from, bool partner)
{
    bool trees = partner || carries(p, from);

    for (uint32_t i = 0; i < from->n_fits; i++) {
        const struct msim_fit *c = &from->fits[i];
        double log_sd = log_sd_of(p, from, c->law);
        double ranked =
            log_sd * (1 + MSIM_FACT(NULL, OTHER_GPU_DISTANCE_WEIGHT) *
                              beyond_compared(p, from));

        add(&p->index,
            (struct msim_fit_index_entry){.fit = c,
                                          .platform = from,
                                          .trees = trees,
                                          .variance = partner ? PARTNER_VARIANCE
                                                              : ranked * ranked,
                                          .added = log_sd * log_sd});
    }
}

static void add_shared_laws(struct msim_platform *p)
{
    for (uint32_t i = 0; i < p->shared.n_fits; i++) {
        const struct msim_fit *c = &p->shared.fits[i]; /* with its bins */

        add(&p->index, (struct msim_fit_index_entry){
                           .fit = c, .variance = interval_variance(c)});
    }
}

static int by_key(const void *pa, const void *pb)
{
    const struct msim_fit_index_entry *a = pa;
    const struct msim_fit_index_entry *b = pb;

    if (a->key != b->key)
        return MSIM_ORDER(a->key, b->key);
    return MSIM_ORDER(a->order, b->order);
}

static uint32_t bucket_of(uint64_t key)
{
    return (uint32_t)(key >> 56);
}

static void note_begins(struct msim_fit_index *index)
{
    uint32_t i = 0;

    for (uint32_t b = 0; b < MSIM_FIT_BUCKETS; b++) {
        while (i < index->n && bucket_of(index->entries[i].key) < b)
            i++;
        index->begins[b] = i;
    }
}

static void note_least(struct msim_fit_index *index)
{
    for (uint32_t i = index->n; i-- > 0;) {
        struct msim_fit_index_entry *e = &index->entries[i];

        e->least_behind = e->variance;
        if (i + 1 < index->n && e[1].key == e->key)
            e->least_behind = fmin(e->variance, e[1].least_behind);
    }
}

enum msim_status msim_fit_index_make(struct msim_platform *p,
                                     const struct msim_platform *partner)
{
    uint32_t most = p->shared.n_fits + 1 + (partner ? partner->n_fits : 0);

    for (const struct msim_platform *at = p; at; at = at->next)
        most += at->n_fits;
    msim_fit_index_release(&p->index);
    p->index.entries = malloc(most * sizeof(*p->index.entries));
    p->index.kept = calloc(MSIM_PICKS_KEPT, sizeof(*p->index.kept));
    if (!p->index.entries)
        return MSIM_ENOMEM;
    for (const struct msim_platform *at = p; at; at = at->next)
        add_platform(p, at, false);
    if (partner)
        add_platform(p, partner, true);
    add_shared_laws(p);
    qsort(p->index.entries, p->index.n, sizeof(*p->index.entries), by_key);
    note_least(&p->index);
    note_begins(&p->index);
    return MSIM_OK;
}

void msim_fit_index_release(struct msim_fit_index *index)
{
    for (uint32_t i = 0; index->kept && i < MSIM_PICKS_KEPT; i++)
        free(index->kept[i]);
    free(index->kept);
    free(index->entries);
    memset(index, 0, sizeof(*index));
}

/* ---- choosing ------------------------------------------------------------ */

/* The first entry whose key is not below `key`. */
static uint32_t first_of(const struct msim_fit_index *index, uint64_t key)
{
    uint32_t i = index->begins[bucket_of(key)];

    while (i < index->n && index->entries[i].key < key)
        i++;
    return i;
}

static double key_log_sd(const struct msim_law *law, const char *wanted,
                         const char *found)
{
    if (wanted == found)
        return 0;
    return law->key_log_sd ? law->key_log_sd(wanted, found)
                           : MSIM_FACT(NULL, OTHER_KEY_LOG_SD);
}

struct choice {
    const struct msim_fit_index_entry *entry;
    double variance;    /* of the choice */
    double added;       /* of key and stack, to add to the interval */
    bool exact;         /* the stack that was asked for */
    uint32_t preferred; /* 1 + preference(); 0: not looked for */
};

/* What a pick asks for. */
struct wish {
    const struct msim_platform *p;
    const struct msim_law *law;
    const char *const *prefer;
    bool bare;
    uint64_t framework;
};

/* The rank of a choice's stack among the preferred stacks. */
static uint32_t preference(const struct wish *w, struct choice *c)
{
    const char *framework = c->entry->fit->framework;
    uint32_t i = 0;

    if (c->preferred)
        return c->preferred - 1;
    while (w->prefer[i] && !msim_same_text(w->prefer[i], framework))
        i++;
    c->preferred = c->exact ? 1 : 2 + i;
    return c->preferred - 1;
}

/* Whether `a` is better than the earlier `b`. */
static bool is_better(const struct wish *w, struct choice *a, struct choice *b)
{
    if (!b->entry || a->variance < b->variance)
        return true;
    return a->variance <= b->variance && a->entry->key == b->entry->key &&
           a->entry->platform == b->entry->platform &&
           preference(w, a) < preference(w, b);
}

static bool is_of(const struct msim_fit_index *index, uint32_t i, uint64_t key)
{
    return i < index->n && index->entries[i].key == key;
}

/* The fits of one key. */
struct of_key {
    uint64_t key;
    uint32_t begin;
    bool looked, gapped; /* is_gapped(): was it asked, what it said */
};

/* Whether the wanted stack launches slowly. Few choices hang on it: its fits
 * are read for these alone. */
static bool is_gapped(const struct wish *w, struct of_key *of)
{
    const struct msim_fit_index *index = &w->p->index;

    for (uint32_t i = of->begin; !of->looked && is_of(index, i, of->key); i++) {
        const struct msim_fit_index_entry *e = &index->entries[i];
        const struct msim_fit *fit =
            e->framework == w->framework ? msim_fit_whole(e->fit) : NULL;

        of->gapped |= fit && fit->gap.least_us > 0;
    }
    of->looked = true;
    return of->gapped;
}

/* The variance for using another stack's fit. msim_law.stack_log_sd is known
 * for stacks on one GPU only. */
static double stack_variance(const struct wish *w,
                             const struct msim_fit_index_entry *e,
                             struct of_key *of)
{
    double v = w->law->stack_log_sd * w->law->stack_log_sd;
    double gap;

    if (w->bare || e->platform == w->p)
        return v;
    gap = MSIM_FACT(NULL, SLOW_STACK_LOG_SD);
    return MSIM_FACT(NULL, OTHER_GPU_STACK_VARIANCE) * v +
           (is_gapped(w, of) ? gap * gap : 0);
}

/* Consider the fits of one key; `log_sd` is the standard deviation for it. */
static void choose(const struct wish *w, uint64_t key, double log_sd,
                   struct choice *best)
{
    const struct msim_fit_index *index = &w->p->index;
    struct of_key of = {.key = key, .begin = first_of(index, key)};
    double least =
        log_sd * log_sd + (w->bare ? stack_variance(w, NULL, NULL) : 0);

    for (uint32_t i = of.begin; is_of(index, i, key); i++) {
        struct choice c = {.entry = &index->entries[i]};

        if (best->entry && least + c.entry->least_behind > best->variance)
            break;
        c.exact = !w->bare && c.entry->framework == w->framework;
        c.added =
            log_sd * log_sd + (c.exact ? 0 : stack_variance(w, c.entry, &of));
        c.variance = c.added + c.entry->variance;
        if (is_better(w, &c, best))
            *best = c;
    }
}

static bool pick(const struct msim_platform *p, const struct msim_law *law,
                 const char *framework, const char *const *prefer,
                 const char *const *keys, struct msim_pick *out)
{
    bool bare = !framework;
    struct wish wish = {p, law, prefer, bare,
                        bare ? 0 : hash(MSIM_HASH_START, framework)};
    struct choice best = {0};
    uint64_t of_law = law_hash(law);
    const struct msim_fit *fit;

    for (const char *const *key = keys; *key; key++) {
        double log_sd = key_log_sd(law, *keys, *key);

        /* none of its fits can be better */
        if (best.entry && log_sd * log_sd > best.variance)
            continue;
        choose(&wish, hash(of_law, *key), log_sd, &best);
        if (best.entry && best.variance <= 0)
            break;
    }
    fit = best.entry ? msim_fit_whole(best.entry->fit) : NULL;
    if (!fit)
        return false;
    *out = (struct msim_pick){.fit = fit,
                              .platform = best.entry->platform,
                              .other_key = !msim_same_text(fit->key, *keys),
                              .other_framework = !bare && !best.exact,
                              /* a launch gap is of its own stack only */
                              .bare = !best.exact,
                              .trees = best.entry->trees,
                              .variance = best.added + best.entry->added};
    return true;
}

/* ---- answers that are kept ----------------------------------------------- */

#define QUESTION_MAX 248 /* bytes; longer ones are answered again */

/* What a pick hangs on, beside the platform: stack and keys are texts. */
struct question {
    const struct msim_law *law;
    const char *const *prefer;
    uint32_t n;              /* bytes of text; QUESTION_MAX: too many */
    char text[QUESTION_MAX]; /* each ended by a zero, and so are eights */
};

struct msim_pick_kept {
    struct msim_pick pick;
    bool found;
    struct question asked;
};

static void add_text(struct question *q, const char *text)
{
    char *at = q->text + q->n, *end = q->text + QUESTION_MAX - 8;

    while (at < end && (*at = *text++))
        at++;
    q->n = at < end ? (uint32_t)(at + 1 - q->text) : QUESTION_MAX;
}

static void make_question(struct question *q, const struct msim_law *law,
                          const char *framework, const char *const *prefer,
                          const char *const *keys)
{
    q->law = law;
    q->prefer = prefer;
    q->n = 0;
    add_text(q, framework ? framework : "");
    for (; *keys && q->n < QUESTION_MAX; keys++)
        add_text(q, *keys);
    if (q->n < QUESTION_MAX)
        memset(q->text + q->n, 0, 8); /* the last eight bytes of a hash */
}

static uint64_t hash_of(const struct question *q)
{
    uint64_t h = msim_hash_mix((uintptr_t)q->law, (uintptr_t)q->prefer), v;

    for (uint32_t i = 0; i < q->n; i += sizeof(v)) {
        memcpy(&v, q->text + i, sizeof(v));
        h = msim_hash_mix(h, v);
    }
    return h;
}

static bool is_asked(const struct msim_pick_kept *kept,
                     const struct question *q)
{
    return kept->asked.law == q->law && kept->asked.prefer == q->prefer &&
           kept->asked.n == q->n &&
           memcmp(kept->asked.text, q->text, q->n) == 0;
}

/* The first question of a place stays; there may be no memory for it. */
static void keep(struct msim_pick_kept *_Atomic *place,
                 const struct question *q, bool found,
                 const struct msim_pick *answer)
{
    struct msim_pick_kept *none = NULL, *made = malloc(sizeof(*made));

    if (!made)
        return;
    made->found = found;
    made->pick = *answer;
    made->asked = *q;
    if (!atomic_compare_exchange_strong(place, &none, made))
        free(made);
}

bool msim_fit_pick(const struct msim_platform *p, const struct msim_law *law,
                   const char *framework, const char *const *prefer,
                   const char *const *keys, struct msim_pick *out)
{
    struct msim_pick_kept *_Atomic *place;
    const struct msim_pick_kept *kept;
    struct question q;
    bool found;

    if (framework && msim_same_text(framework, "pytorch"))
        framework = NULL;
    make_question(&q, law, framework, prefer, keys);
    if (q.n == QUESTION_MAX || !p->index.kept)
        return pick(p, law, framework, prefer, keys, out);
    place = &p->index.kept[hash_of(&q) / 2 % MSIM_PICKS_KEPT];
    kept = atomic_load_explicit(place, memory_order_acquire);
    if (kept && is_asked(kept, &q)) {
        *out = kept->pick;
        return kept->found;
    }
    *out = (struct msim_pick){0};
    found = pick(p, law, framework, prefer, keys, out);
    if (!kept)
        keep(place, &q, found, out);
    return found;
}

bool msim_fit_has_key(const struct msim_platform *p, const struct msim_law *law,
                      const char *key)
{
    uint64_t h = hash(law_hash(law), key);

    return is_of(&p->index, first_of(&p->index, h), h);
}

/* ---- what is inherited --------------------------------------------------- */

/* Whether no other fit of the same stack and key is better. */
static bool is_best(const struct msim_fit_index *index,
                    const struct msim_fit_index_entry *e)
{
    const struct msim_fit_index_entry *end = index->entries + index->n;
    const struct msim_fit_index_entry *other = e;

    while (other > index->entries && other[-1].key == e->key)
        other--;
    for (; other < end && other->key == e->key; other++)
        if (other->framework == e->framework &&
            (other->variance < e->variance ||
             (other->variance <= e->variance && other->order < e->order)))
            return false;
    return true;
}

bool msim_fit_index_inherited(const struct msim_platform *p, uint32_t *at,
                              struct msim_pick *out)
{
    for (; *at < p->index.n; (*at)++) {
        const struct msim_fit_index_entry *e = &p->index.entries[*at];
        const struct msim_fit *fit;

        if (e->platform == p || !is_best(&p->index, e))
            continue;
        fit = msim_fit_whole(e->fit);
        if (!fit)
            return false;
        *out = (struct msim_pick){.fit = fit,
                                  .platform = e->platform,
                                  .trees = e->trees,
                                  .variance = e->added};
        (*at)++;
        return true;
    }
    return false;
}

double msim_pick_held_out_error(const struct msim_platform *p,
                                const struct msim_pick *pick)
{
    struct msim_shared_sd s = msim_shared_laws_sd(&p->shared, pick->fit->law);

    if (!pick->platform)
        return pick->fit->heldout;
    return same_generation(p, pick->platform) ? s.generation_error
                                              : s.other_error;
}

double msim_pick_half_width(const struct msim_pick *pick)
{
    return hypot(half_width(pick->fit), MSIM_Z90 * sqrt(pick->variance));
}
