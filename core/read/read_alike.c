/*
 * core/read/read_alike.c - texts of records with the spots of their numbers.
 */
#include "core/read/read_alike.h"

#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define KEPT_MOST   4096u      /* records */
#define TEXT_MOST   (2u << 20) /* bytes of them */
#define SPOTS_USUAL 32768u     /* of all */
#define TRIED_MOST  16u        /* of a kind */
#define MISSES_MANY 4096u
#define PART_DIGITS 6

/* A record that was read. */
struct kept {
    uint32_t text, len;      /* in alike.text, behind the bracket that opens */
    uint32_t spots, n_spots; /* in alike.all */
    uint32_t other;          /* another one of its kind, or NONE */
    uint32_t next;           /* what followed the last that was like it */
};

void msim_alike_release(struct msim_alike *a)
{
    free(a->text.data);
    free(a->all.data);
    free(a->kept.data);
    free(a->spots.data);
    msim_idmap_release(&a->kinds);
}

bool msim_alike_is_vain(const struct msim_alike *a)
{
    return a->misses > MISSES_MANY && a->misses > a->hits;
}

const struct msim_spot *msim_alike_spots(const struct msim_alike *a, uint32_t k,
                                         uint32_t *n)
{
    const struct kept *kept = (const struct kept *)a->kept.data + k;

    *n = kept->n_spots;
    return (const struct msim_spot *)a->all.data + kept->spots;
}

/* ---- one like a record --------------------------------------------------- */

/* How many of the eight bytes of `v`, the lowest first, are digits. */
static inline uint32_t digits_in(uint64_t v)
{
    uint64_t no = ((v ^ 0x3030303030303030u) + 0x7676767676767676u) | v;

    no &= 0x8080808080808080u;
    return no ? (uint32_t)__builtin_ctzll(no) / 8 : 8;
}

/* The number of the first `n` of eight digits, 1 to 8: the others are put in
 * front as zeros; pairs, then fours, then all are summed up. */
static inline int64_t digits_value(uint64_t v, uint32_t n)
{
    v = (v - 0x3030303030303030u) << (64 - 8 * n);
    v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (int64_t)((v & 0x0000ffff0000ffffu) * 42949672960001u >> 32);
}

/* Past digits that are not too many; false where there is none. */
static inline bool pass_digits(const char **at, const char *end, int64_t *value)
{
    static const int64_t power[] = {1,      10,      100,      1000,     10000,
                                    100000, 1000000, 10000000, 100000000};
    const char *p = *at;
    uint32_t n = 8;
    int64_t v = 0;

    for (; n == 8 && end - p >= 8 && p - *at <= 8; p += n) {
        uint64_t eight = msim_hash_word_at(p);

        n = digits_in(eight);
        if (n)
            v = v * power[n] + digits_value(eight, n);
    }
    if (n == 8)
        for (; p < end && p - *at < MSIM_ALIKE_DIGITS && *p >= '0' && *p <= '9';
             p++)
            v = v * 10 + (*p - '0');
    if (p == *at || (**at == '0' && p - *at > 1))
        return false;
    *value = v;
    *at = p;
    return true;
}

/* Past the digits of a fraction, behind the point. */
static bool pass_part(const char **at, const char *end, int32_t *part)
{
    const char *first = *at, *p = first;
    int32_t v = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (p - first < PART_DIGITS)
            v = v * 10 + (*p - '0');
    for (long n = p - first; n < PART_DIGITS; n++)
        v *= 10;
    *part = v;
    *at = p;
    return p > first;
}

/* Past a number that is not too long; false where there is none. */
static inline bool pass_number(const char **at, const char *end, bool decimal,
                               struct msim_spot_value *value)
{
    bool below = *at < end && **at == '-';

    *at += below;
    value->part = 0;
    if ((below && decimal) || !pass_digits(at, end, &value->whole))
        return false;
    value->whole = below ? -value->whole : value->whole;
    if (!decimal || *at == end || **at != '.')
        return true;
    ++*at;
    return pass_part(at, end, &value->part);
}

static inline bool pass_text(const char **at, const char *end, const char *text,
                             size_t len)
{
    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* Where a record that begins at `p` ends, and the numbers at its spots; NULL:
 * it is not like `k`. */
static const char *match(const struct msim_alike *a, const struct kept *k,
                         const char *p, const char *end,
                         struct msim_spot_value *values)
{
    const struct msim_spot *spots = a->all.data;
    const char *text = (const char *)a->text.data + k->text;
    uint32_t from = 0;

    for (uint32_t i = 0; i < k->n_spots; i++) {
        const struct msim_spot *s = &spots[k->spots + i];

        if (!pass_text(&p, end, text + from, s->at - from) ||
            !pass_number(&p, end, s->decimal, &values[i]))
            return NULL;
        from = s->at + s->len;
    }
    return pass_text(&p, end, text + from, k->len - from) ? p : NULL;
}

/* Of those of one kind, which are listed by when they came last. */
static uint32_t find_kind(struct msim_alike *a, uint64_t kind, const char *p,
                          const char *end, const char **behind,
                          struct msim_spot_value *values)
{
    struct kept *all = a->kept.data;
    uint32_t k = msim_idmap_get(&a->kinds, kind), first = k, before = MSIM_NONE;
    uint32_t *slot;

    for (uint32_t n = 0; k != MSIM_NONE && n < TRIED_MOST; n++) {
        if ((*behind = match(a, &all[k], p, end, values)))
            break;
        before = k;
        k = all[k].other;
    }
    if (!*behind || before == MSIM_NONE)
        return *behind ? k : MSIM_NONE;
    all[before].other = all[k].other;
    all[k].other = first;
    if (msim_idmap_put(&a->kinds, kind, k, &slot) == MSIM_OK)
        *slot = k;
    return k;
}

/* `k` follows what came last. */
static void follow(struct msim_alike *a, uint32_t k)
{
    struct kept *all = a->kept.data;

    if (a->last != MSIM_NONE)
        all[a->last].next = k;
    a->last = k;
}

/* What followed the last time is looked at first. */
uint32_t msim_alike_find(struct msim_alike *a, const char *text, size_t len,
                         const char **behind,
                         struct msim_spot_value values[MSIM_ALIKE_SPOTS])
{
    const struct kept *all = a->kept.data;
    const char *end = text + len;
    uint32_t k = a->last == MSIM_NONE ? MSIM_NONE : all[a->last].next;

    *behind = NULL;
    if (k == MSIM_NONE || !(*behind = match(a, &all[k], text, end, values))) {
        a->sought = a->kind(text, len);
        k = find_kind(a, a->sought, text, end, behind, values);
    }
    if (k == MSIM_NONE) {
        a->misses++;
        return k;
    }
    a->hits++;
    follow(a, k);
    return k;
}

/* Where `key` of `n` bytes is, or NULL: looked for by its ends, 16 places at a
 * time. */
static const char *find_key(const char *p, const char *end, const char *key,
                            size_t n)
{
#ifdef __SSE2__
    const __m128i first = _mm_set1_epi8(key[0]),
                  last = _mm_set1_epi8(key[n - 1]);

    for (; end - p >= (ptrdiff_t)(n + 15); p += 16) {
        const __m128i from = _mm_loadu_si128((const void *)p);
        const __m128i to = _mm_loadu_si128((const void *)(p + n - 1));
        unsigned may = (unsigned)_mm_movemask_epi8(_mm_and_si128(
            _mm_cmpeq_epi8(from, first), _mm_cmpeq_epi8(to, last)));

        for (; may; may &= may - 1)
            if (!memcmp(p + __builtin_ctz(may), key, n))
                return p + __builtin_ctz(may);
    }
#endif
    return memmem(p, (size_t)(end - p), key, n);
}

uint64_t msim_alike_hash(uint64_t hash, const char *key, const char **at,
                         const char *end)
{
    size_t n = strlen(key);
    const char *from = find_key(*at, end, key, n), *to;

    if (!from)
        return hash;
    from += n;
    from += from < end && *from == ' ';
    from += from < end && *from == '"';
    to = memchr(from, '"', (size_t)(end - from));
    if (!to)
        return hash;
    *at = to;
    return msim_hash_mix(hash, msim_hash_words(from, (size_t)(to - from)));
}

/* ---- a record is kept ---------------------------------------------------- */

/* Spots are nearly in order of the text. */
static void sort_spots(struct msim_spot *s, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct msim_spot x = s[i];
        uint32_t k = i;

        for (; k > 0 && x.at < s[k - 1].at; k--)
            s[k] = s[k - 1];
        s[k] = x;
    }
}

static enum msim_status keep_text(struct msim_alike *a, struct kept *k,
                                  const char *text, size_t len)
{
    struct msim_text_piece piece;

    MSIM_TRY(msim_vec_text(&a->text, text, len, &piece));
    *k = (struct kept){.text = piece.at,
                       .len = piece.len,
                       .spots = a->all.n,
                       .n_spots = a->spots.n,
                       .other = MSIM_NONE,
                       .next = MSIM_NONE};
    for (uint32_t i = 0; i < a->spots.n; i++) {
        struct msim_spot *s = msim_vec_add(&a->all, sizeof(*s));

        if (!s)
            return MSIM_ENOMEM;
        *s = ((struct msim_spot *)a->spots.data)[i];
    }
    return MSIM_OK;
}

/* First of its kind, since it is most likely to come again. */
static enum msim_status list(struct msim_alike *a, struct kept *k)
{
    uint32_t *first;

    MSIM_TRY(msim_idmap_put(&a->kinds, a->sought, a->kept.n, &first));
    k->other = *first == a->kept.n ? MSIM_NONE : *first;
    *first = a->kept.n;
    return MSIM_OK;
}

/* Room for all that may come, of which what is never filled costs nothing:
 * arrays that grow are copied again and again. */
static void take_room(struct msim_vec *v, uint32_t n, size_t elem)
{
    if (v->data)
        return;
    v->data = malloc(n * elem);
    v->cap = v->data ? n : 0;
}

void msim_alike_room(struct msim_vec *rows, size_t elem)
{
    take_room(rows, KEPT_MOST, elem);
}

enum msim_status msim_alike_keep(struct msim_alike *a, const char *text,
                                 size_t len, uint32_t *number)
{
    struct kept *k;

    take_room(&a->text, TEXT_MOST, 1);
    take_room(&a->all, SPOTS_USUAL, sizeof(struct msim_spot));
    take_room(&a->kept, KEPT_MOST, sizeof(*k));
    *number = MSIM_NONE;
    if (a->kept.n == KEPT_MOST || a->spots.n > MSIM_ALIKE_SPOTS ||
        len > TEXT_MOST - a->text.n) {
        a->last = MSIM_NONE;
        return MSIM_OK;
    }
    sort_spots(a->spots.data, a->spots.n);
    k = msim_vec_add(&a->kept, sizeof(*k));
    if (!k)
        return MSIM_ENOMEM;
    a->kept.n--; /* until all of it is */
    MSIM_TRY(keep_text(a, k, text, len));
    MSIM_TRY(list(a, k));
    *number = a->kept.n++;
    follow(a, *number);
    return MSIM_OK;
}
