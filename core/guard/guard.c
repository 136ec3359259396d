/*
 * core/guard/guard.c - which guards answers trip.
 */
#include "core/guard/guard.h"

#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const WORDS[] = {
#define X(name, word, least, text) word,
    MSIM_GUARD_MAP(X)
#undef X
};
static const double LEAST[] = {
#define X(name, word, least, text) least,
    MSIM_GUARD_MAP(X)
#undef X
};
static const char *const TEXTS[] = {
#define X(name, word, least, text) text,
    MSIM_GUARD_MAP(X)
#undef X
};

void msim_guard_words(msim_guard_marks marks, char words[MSIM_GUARD_WORDS])
{
    size_t used = 0;

    *words = '\0';
    for (int g = 0; g < MSIM_GUARDS; g++)
        if (marks >> g & 1)
            used += (size_t)snprintf(words + used, MSIM_GUARD_WORDS - used,
                                     "%s%s", used ? " " : "", WORDS[g]);
}

void msim_guard_json(struct msim_json *j, msim_guard_marks marks)
{
    msim_json_open(j, "guards", '[', false);
    for (int g = 0; g < MSIM_GUARDS; g++)
        if (marks >> g & 1)
            msim_json_text(j, NULL, WORDS[g]);
    msim_json_close(j);
}

/* ---- an answer by itself ------------------------------------------------- */

/* Rounding of sums of many parts. */
#define EXACT 1e-9

msim_guard_marks msim_guard_check(double us, double low_us, double high_us,
                                  double share)
{
    msim_guard_marks marks = 0;

    /* Written so that what is no number trips, too. */
    if (!(low_us >= 0 && low_us <= us * (1 + EXACT) &&
          us <= high_us * (1 + EXACT) && isfinite(high_us)))
        marks |= MSIM_GUARD_BIT(ORDER);
    if (share > 1 + EXACT)
        marks |= MSIM_GUARD_BIT(PEAK);
    return marks;
}

/* ---- answers beside each other ------------------------------------------- */

static int by_kind_and_size(const void *a, const void *b)
{
    const struct msim_guard_answer *x = a, *y = b;

    if (x->kind != y->kind)
        return MSIM_ORDER(x->kind, y->kind);
    if (x->size != y->size)
        return MSIM_ORDER(x->size, y->size);
    return MSIM_ORDER(x->index, y->index);
}

/* Answers of one kind, by size. Those of one size do not contradict each other.
 */
struct kind {
    const struct msim_guard_answer *a;
    uint32_t n;
    enum msim_guard g;
    msim_guard_marks *marks;
};

static bool is_marked(const struct kind *k, uint32_t i)
{
    return k->marks[k->a[i].index] >> k->g & 1;
}

static void mark(const struct kind *k, uint32_t i)
{
    k->marks[k->a[i].index] |= 1u << k->g;
}

/* Mark those, measured or not, that are shorter than what is smaller: than
 * measured ones; or than any, where they are not measured themselves. */
static void mark_short(const struct kind *k, bool measured)
{
    double before = 0, here = 0; /* the longest of smaller sizes; of this one */

    for (uint32_t i = 0; i < k->n; i++) {
        if (i && k->a[i].size > k->a[i - 1].size)
            before = fmax(before, here);
        if (k->a[i].measured == measured && k->a[i].us < LEAST[k->g] * before)
            mark(k, i);
        if (k->a[i].measured >= measured && !is_marked(k, i))
            here = fmax(here, k->a[i].us);
    }
}

/* Mark those not measured that are longer than a measured one that is larger.
 */
static void mark_long(const struct kind *k)
{
    double after = INFINITY, here = INFINITY; /* the shortest */

    for (uint32_t i = k->n; i-- > 0;) {
        if (i + 1 < k->n && k->a[i].size < k->a[i + 1].size)
            after = fmin(after, here);
        if (!k->a[i].measured && LEAST[k->g] * k->a[i].us > after)
            mark(k, i);
        if (k->a[i].measured && !is_marked(k, i))
            here = fmin(here, k->a[i].us);
    }
}

/* Mark answers of the same hash of their kind, in order or not. */
static void compare_some(struct msim_guard_answer *a, uint32_t n,
                         enum msim_guard g, msim_guard_marks *marks)
{
    bool sorted = true;
    uint32_t end;

    for (uint32_t i = 1; i < n && sorted; i++)
        sorted = by_kind_and_size(&a[i - 1], &a[i]) < 0;
    if (!sorted)
        qsort(a, n, sizeof(*a), by_kind_and_size);
    for (uint32_t i = 0; i < n; i = end) {
        struct kind k = {a + i, 0, g, marks};

        for (end = i + 1; end < n && a[end].kind == a[i].kind;)
            end++;
        k.n = end - i;
        if (k.n < 2)
            continue;
        mark_short(&k, true);
        mark_long(&k);
        mark_short(&k, false);
    }
}

#define BUCKETS_MAX 4096

/* The answers by the first bits of their kinds, else in the order in which they
 * stand. */
static void scatter(const struct msim_guard_answer *a, uint32_t n,
                    uint32_t buckets, uint32_t *ends,
                    struct msim_guard_answer *to)
{
    uint64_t each = UINT64_MAX / buckets + 1; /* kinds of a bucket */
    uint32_t before = 0;

    for (uint32_t i = 0; i < n; i++)
        ends[a[i].kind / each]++;
    for (uint32_t b = 0; b < buckets; b++) {
        uint32_t here = ends[b];

        ends[b] = before;
        before += here;
    }
    for (uint32_t i = 0; i < n; i++)
        to[ends[a[i].kind / each]++] = a[i];
}

/* Most answers of a table are alone with their kind, or stand in order within
 * it: to sort them all takes longer than to make them. */
void msim_guard_compare(struct msim_guard_answer *a, uint32_t n,
                        enum msim_guard g, msim_guard_marks *marks)
{
    uint32_t ends[BUCKETS_MAX] = {0}, buckets = BUCKETS_MAX, from = 0;
    struct msim_guard_answer *by_hash = NULL;

    while (buckets > n)
        buckets /= 2;
    if (buckets > 1)
        by_hash = malloc(n * sizeof(*by_hash));
    if (!by_hash) {
        compare_some(a, n, g, marks);
        return;
    }
    scatter(a, n, buckets, ends, by_hash);
    for (uint32_t b = 0; b < buckets; from = ends[b++])
        if (ends[b] - from > 1)
            compare_some(by_hash + from, ends[b] - from, g, marks);
    free(by_hash);
}

/* ---- all of them --------------------------------------------------------- */

void msim_guard_add(struct msim_guard_count *c, msim_guard_marks marks)
{
    c->answers++;
    c->marked += marks != 0;
    for (int g = 0; g < MSIM_GUARDS; g++)
        c->by[g] += marks >> g & 1;
}

void msim_guard_sum(struct msim_guard_count *to,
                    const struct msim_guard_count *from)
{
    to->answers += from->answers;
    to->marked += from->marked;
    to->asked += from->asked;
    for (int g = 0; g < MSIM_GUARDS; g++)
        to->by[g] += from->by[g];
}

enum msim_status msim_guard_some(uint64_t answers, uint64_t asked,
                                 const char *what, struct msim_error *err)
{
    if (answers || !asked)
        return MSIM_OK;
    return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                     "0 of %" PRIu64 " %s have an answer, want one; each says "
                     "why",
                     asked, what);
}

void msim_guard_sentence(const struct msim_guard_count *c, const char *what,
                         char text[MSIM_GUARD_SENTENCE])
{
    size_t used;
    const char *before = ":";

    *text = '\0';
    if (!c->marked)
        return;
    used = (size_t)snprintf(text, MSIM_GUARD_SENTENCE,
                            "%" PRIu64 " of %" PRIu64 " %s are marked",
                            c->marked, c->answers, what);
    for (int g = 0; g < MSIM_GUARDS; g++) {
        if (!c->by[g])
            continue;
        used += (size_t)snprintf(text + used, MSIM_GUARD_SENTENCE - used,
                                 "%s %" PRIu64 " %s (%s)", before, c->by[g],
                                 WORDS[g], TEXTS[g]);
        before = ",";
    }
}

void msim_guard_text(const struct msim_guard_count *c, const char *what,
                     bool apart, FILE *out)
{
    char text[MSIM_GUARD_SENTENCE];

    msim_guard_sentence(c, what, text);
    if (*text)
        msim_print(out, apart ? "\n%s\n" : "%s\n", text);
}

void msim_guard_count_json(struct msim_json *j,
                           const struct msim_guard_count *c, const char *what)
{
    char text[MSIM_GUARD_SENTENCE];

    msim_guard_sentence(c, what, text);
    msim_json_open(j, "guards", '{', false);
    msim_json_unsigned(j, "answers", c->answers);
    msim_json_unsigned(j, "marked", c->marked);
    msim_json_text(j, "text", *text ? text : NULL);
    msim_json_close(j);
}
