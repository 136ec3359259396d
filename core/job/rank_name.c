/*
 * core/job/rank_name.c - the ranks that the names of files say.
 */
#include "core/job/job_files.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/stream/input.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one name ----------------------------------------------------------- */

static const char *const texts[] = {
#define X(word, text) [MSIM_WORD_##word] = (text),
    MSIM_RANK_WORD_MAP(X)
#undef X
};

/* Ranks have at most nine digits, stages and replicas at most four, so that a
 * product of all three is an int64. */
static size_t most_digits(int word)
{
    return word == MSIM_WORD_PP || word == MSIM_WORD_DP ? 4 : 9;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_of(const char *s)
{
    return strspn(s, "0123456789");
}

static int64_t number_at(const char *digits)
{
    int64_t n = -1;

    return digits && msim_decimal_int(digits, digits_of(digits), &n) ? n : -1;
}

/* Does "local" stand before `at`, apart by one of "-_=" or not at all? Such a
 * rank is one of a node, not of the job. */
static bool is_local(const char *from, const char *at)
{
    static const char LOCAL[] = "local";

    at -= at > from && strchr("-_=", at[-1]) ? 1 : 0;
    return at - from >= (ptrdiff_t)sizeof(LOCAL) - 1 &&
           strncasecmp(at - sizeof(LOCAL) + 1, LOCAL, sizeof(LOCAL) - 1) == 0;
}

static const char *find_any(const char *from, const char *end, int word,
                            bool local)
{
    size_t len = strlen(texts[word]);

    for (const char *s = from; s + len < end; s++) {
        const char *digits = s + len;

        if (strncasecmp(s, texts[word], len) != 0 ||
            (s > from && isalpha((unsigned char)s[-1])) ||
            is_local(from, s) != local)
            continue;
        digits += *digits && strchr("-_=", *digits);
        if (is_digit(*digits) && digits_of(digits) <= most_digits(word))
            return digits;
    }
    return NULL;
}

/* The digits behind a word, which no letter stands before: `rank-3`, `TP_0`,
 * not `frank2`, `step3`; of a node's own rank (`local_rank_0`) where there is
 * no other. */
static const char *find_word(const char *from, const char *end, int word)
{
    const char *digits = find_any(from, end, word, false);

    return digits ? digits : find_any(from, end, word, true);
}

static bool read_words(struct msim_rank_name *r, unsigned words,
                       const char *from, const char *end)
{
    bool any = false;

    for (int w = 0; w < MSIM_WORD_SUFFIX; w++) {
        r->at[w] = words >> w & 1 ? find_word(from, end, w) : NULL;
        any = any || r->at[w];
    }
    return any;
}

/* What numbers recordings of one rank. */
static const char *const step_words[] = {"step", "iteration", "iter", "epoch"};

/* The digits behind such a word: `step.100`, `iteration_3`. */
static const char *find_step(const char *from, const char *end)
{
    for (const char *s = from; s < end; s++)
        for (size_t w = 0; w < sizeof(step_words) / sizeof(*step_words); w++) {
            const char *digits = s + strlen(step_words[w]);

            if (strncasecmp(s, step_words[w], strlen(step_words[w])) != 0 ||
                (s > from && isalpha((unsigned char)s[-1])))
                continue;
            digits += *digits && strchr(".-_=", *digits);
            if (is_digit(*digits))
                return digits;
        }
    return NULL;
}

/* In its name, else in its folders. */
static int64_t step_of(const char *path)
{
    const char *name = msim_path_name(path);
    const char *digits = find_step(name, name + strlen(name));

    return number_at(digits ? digits : find_step(path, name));
}

bool msim_paths_differ_by_step(const char *a, const char *b)
{
    int64_t x = step_of(a), y = step_of(b);

    return x >= 0 && y >= 0 && x != y;
}

/* Digits at the end of a name, behind one of `before`. Not the last part of a
 * version such as 1.0.1, nor a step. */
static const char *find_suffix(const char *name, const char *before)
{
    size_t len = msim_job_stem(name), from = len;

    while (from > 0 && is_digit(name[from - 1]))
        from--;
    if (from == len || len - from > most_digits(MSIM_WORD_SUFFIX) || from < 2 ||
        !strchr(before, name[from - 1]) ||
        (name[from - 1] == '.' && is_digit(name[from - 2])) ||
        find_step(name, name + from) == name + from)
        return NULL;
    return name + from;
}

void msim_rank_name_read(struct msim_rank_name *r, unsigned words)
{
    const char *name = msim_path_name(r->path);

    read_words(r, words, name, name + strlen(name));
    r->at[MSIM_WORD_SUFFIX] =
        words & MSIM_RANK_BIT(SUFFIX) ? find_suffix(name, ".") : NULL;
    r->at[MSIM_WORD_TAIL] =
        words & MSIM_RANK_BIT(TAIL) ? find_suffix(name, "_-") : NULL;
}

/* ---- all names ---------------------------------------------------------- */

/* The length of the folders that all paths begin with. */
static size_t shared_folders(const struct msim_rank_name *names, uint32_t n)
{
    size_t len =
        n ? (size_t)(msim_path_name(names[0].path) - names[0].path) : 0;

    for (uint32_t i = 1; i < n; i++) {
        size_t same = 0;

        while (same < len && names[i].path[same] == names[0].path[same])
            same++;
        while (same > 0 && names[0].path[same - 1] != '/')
            same--;
        len = same;
    }
    return len;
}

static bool has_words(const struct msim_rank_name *r)
{
    for (int w = 0; w < MSIM_WORD_SUFFIX; w++)
        if (r->at[w])
            return true;
    return false;
}

/* A guess that is the same in all files. */
static void drop_shared(struct msim_rank_name *names, uint32_t n, int word)
{
    int64_t first = -1;

    for (uint32_t i = 0; i < n; i++) {
        int64_t number = number_at(names[i].at[word]);

        if (number >= 0 && first >= 0 && number != first)
            return;
        first = number >= 0 ? number : first;
    }
    for (uint32_t i = 0; i < n; i++)
        names[i].at[word] = NULL;
}

static void read_folders(struct msim_rank_name *r, unsigned words,
                         size_t shared)
{
    const char *end = msim_path_name(r->path);

    while (end > r->path + shared) {
        const char *from = --end;

        while (from > r->path && from[-1] != '/')
            from--;
        if (read_words(r, words, from, end))
            return;
        end = from;
    }
}

static void read_names(struct msim_rank_name *names, uint32_t n, unsigned words)
{
    size_t shared = shared_folders(names, n);

    for (uint32_t i = 0; i < n; i++)
        msim_rank_name_read(&names[i], words);
    for (int w = MSIM_WORD_WORKER; w < MSIM_WORD_SUFFIX; w++)
        drop_shared(names, n, w);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_rank_name *r = &names[i];
        const char *suffix = r->at[MSIM_WORD_SUFFIX];
        bool chakra = suffix && !strncmp(suffix + digits_of(suffix), ".et", 3);

        r->guessed = !r->at[MSIM_WORD_RANK] && !chakra;
        if (!has_words(r) && !chakra)
            read_folders(r, words, shared);
        if (has_words(r))
            r->at[MSIM_WORD_SUFFIX] = r->at[MSIM_WORD_TAIL] = NULL;
    }
}

/* ---- from numbers to ranks ---------------------------------------------- */

/* Which words count beside the innermost number, as bits. */
#define STAGES   1u
#define REPLICAS 2u

/* How many of each there are: one more than the largest number. */
struct extents {
    int64_t inner, stages;
};

static int64_t inner_number(const struct msim_rank_name *r)
{
    static const uint8_t inner[] = {MSIM_WORD_RANK,   MSIM_WORD_WORKER,
                                    MSIM_WORD_TP,     MSIM_WORD_EP,
                                    MSIM_WORD_SUFFIX, MSIM_WORD_TAIL};

    for (size_t i = 0; i < sizeof(inner); i++)
        if (r->at[inner[i]])
            return number_at(r->at[inner[i]]);
    return has_words(r) ? 0 : -1;
}

static int64_t outer_number(const struct msim_rank_name *r, int word)
{
    return r->at[word] ? number_at(r->at[word]) : 0;
}

static struct extents extents_of(struct msim_rank_name *const *of, uint32_t n)
{
    struct extents e = {1, 1};

    for (uint32_t i = 0; i < n; i++) {
        int64_t inner = inner_number(of[i]);
        int64_t stage = outer_number(of[i], MSIM_WORD_PP);

        e.inner = inner >= e.inner ? inner + 1 : e.inner;
        e.stages = stage >= e.stages ? stage + 1 : e.stages;
    }
    return e;
}

static int64_t rank_of(const struct msim_rank_name *r, struct extents e,
                       unsigned outer)
{
    int64_t rank = inner_number(r), block = 0;

    if (rank < 0)
        return -1;
    if (outer & REPLICAS)
        block = outer_number(r, MSIM_WORD_DP);
    if (outer & STAGES)
        block = block * e.stages + outer_number(r, MSIM_WORD_PP);
    return block * e.inner + rank;
}

static int by_rank(const void *a, const void *b)
{
    const struct msim_rank_name *x = *(struct msim_rank_name *const *)a;
    const struct msim_rank_name *y = *(struct msim_rank_name *const *)b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    return MSIM_ORDER(x->kind, y->kind);
}

/* `of`: by rank. */
static bool are_unique(struct msim_rank_name *const *of, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (of[i]->rank >= 0 && by_rank(&of[i - 1], &of[i]) == 0)
            return false;
    return true;
}

/* `of`: by rank; the guessed ones among them. */
static bool are_plausible(struct msim_rank_name *const *of, uint32_t n,
                          uint64_t known)
{
    int64_t last = -1, guess = -1, tail = -1;
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (last < 0 && of[i]->rank > 0)
            return false;
        ranks += of[i]->rank > last;
        last = of[i]->rank;
        guess = of[i]->guessed && last >= 0 ? last : guess;
        tail = of[i]->guessed && of[i]->at[MSIM_WORD_TAIL] ? guess : tail;
    }
    return (guess < 0 || (uint64_t)guess < (ranks > known ? ranks : known)) &&
           (tail < 0 || (uint64_t)tail < known);
}

/* `own`: the files that record no rank, the first of `all`. */
static void take_ranks(struct msim_rank_name **own, uint32_t n_own,
                       struct extents e, unsigned outer)
{
    for (uint32_t i = 0; i < n_own; i++)
        own[i]->rank = rank_of(own[i], e, outer);
}

/*
 * The innermost number alone where that tells the files apart: an engine whose
 * replicas share attention numbers all its ranks so. Else those around it
 * count, replicas first.
 */
static void settle(struct msim_rank_name **own, uint32_t n_own,
                   struct msim_rank_name **all, uint32_t n, uint64_t known)
{
    static const unsigned tries[] = {0, REPLICAS, STAGES, REPLICAS | STAGES};
    struct extents e = extents_of(own, n_own);
    unsigned outer = 0;

    for (size_t t = 0; t < sizeof(tries) / sizeof(*tries); t++) {
        take_ranks(own, n_own, e, tries[t]);
        qsort(all, n, sizeof(struct msim_rank_name *), by_rank);
        if (are_unique(all, n)) {
            outer = tries[t];
            break;
        }
    }
    take_ranks(own, n_own, e, outer);
    for (uint32_t i = 0; i < n_own; i++)
        own[i]->guessed = own[i]->guessed || outer;
    qsort(all, n, sizeof(struct msim_rank_name *), by_rank);
    if (are_plausible(all, n, known))
        return;
    for (uint32_t i = 0; i < n_own; i++)
        if (own[i]->guessed)
            own[i]->rank = -1;
}

enum msim_status msim_rank_names_settle(struct msim_rank_name *names,
                                        uint32_t n, unsigned words,
                                        uint64_t known)
{
    struct msim_rank_name **of = calloc(2 * ((size_t)n + 1), sizeof(*of));
    uint32_t n_own = 0;

    if (!of)
        return MSIM_ENOMEM;
    read_names(names, n, words);
    for (uint32_t i = 0; i < n; i++) {
        of[n + i] = &names[i];
        if (names[i].rank < 0)
            of[n_own++] = &names[i];
        else
            names[i].guessed = false;
    }
    settle(of, n_own, of + n, n, known);
    free(of);
    return MSIM_OK;
}

const char *msim_rank_name_starred(struct msim_arena *arena,
                                   const struct msim_rank_name *r,
                                   const char *from, const char *end)
{
    char *copy = msim_arena_alloc(arena, (size_t)(end - from) + 1), *to = copy;

    while (copy && from < end) {
        bool number = false;

        for (int w = 0; w < MSIM_RANK_WORDS; w++)
            number = number || r->at[w] == from;
        *to++ = number ? '*' : *from;
        from += number ? digits_of(from) : 1;
    }
    if (copy)
        *to = '\0';
    return copy;
}

bool msim_rank_name_says(const char *path)
{
    struct msim_rank_name name = {.path = path, .rank = -1};
    bool says = false;

    msim_rank_name_read(&name, MSIM_RANK_ALL);
    for (int w = 0; w < MSIM_WORD_SUFFIX; w++)
        says |= name.at[w] != NULL;
    return says;
}
