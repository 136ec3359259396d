/*
 * core/guard/guard.h - what every answer keeps, whichever verb gives it.
 *
 * An answer is a time with an interval: of an operator, of a step, of a point
 * of a plan, of a scenario, of a row of a table. By itself it keeps
 *
 *     0 <= low <= time <= high
 *     FLOPs / time <= the rate of the data sheet; likewise bytes
 *
 * and beside other answers to the same question: what is larger, and otherwise
 * the same, takes no less. A model that was asked outside of what it knows may
 * break any of these. Such an answer is marked with the guard that it trips, in
 * text, CSV and JSON alike, and counted in a warning; nothing recommends it.
 *
 *     micro batch   step        4 takes 20 ms where 2 takes 90 ms: one of the
 *         2         90 ms       two is wrong. No measured one is like
 *         4         20 ms       either, so the one that looks cheap is
 *         8        130 ms       marked: 4, "larger"
 *
 * Guards find contradictions and cannot tell which of two answers is wrong, so
 * none of them changes a time.
 */
#ifndef MSIM_CORE_GUARD_GUARD_H
#define MSIM_CORE_GUARD_GUARD_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* X(name, the word, the least that a larger one may take of a smaller one, what
 * is said of one answer). Kernels that libraries pick by size, and waves of
 * their blocks, make a larger one a little shorter now and then. */
#define MSIM_GUARD_MAP(X)                                                      \
    X(ORDER, "order", 0, "its interval does not hold its time")                \
    X(PEAK, "peak", 0, "it takes less than its FLOPs or bytes do at the peak") \
    X(LARGER, "larger", 0.95, "a smaller one takes longer")                    \
    X(RECOMPUTE, "recompute", 0.99, "less recomputation takes longer")         \
    X(SCALING, "scaling", 0.95, "more GPUs gain more than their number")       \
    X(MEMORY, "memory", 0, "an operator needs more than the GPU's memory")     \
    X(UNKNOWN, "fits", 0, "whether it fits into memory is not known")          \
    X(EVIDENCE, "evidence", 0,                                                 \
      "measured jobs correct it, or what it is compared with, not both")

enum msim_guard {
#define X(name, word, least, text) MSIM_GUARD_##name,
    MSIM_GUARD_MAP(X)
#undef X
        MSIM_GUARDS
};

/* Marks of one answer: bits 1 << enum msim_guard. */
typedef uint32_t msim_guard_marks;
#define MSIM_GUARD_BIT(name) (1u << MSIM_GUARD_##name)

/* Is it left out where one is recommended? A ratio that holds both corrections
 * is no reason to. */
static inline bool msim_guard_bars(msim_guard_marks marks)
{
    return marks & ~MSIM_GUARD_BIT(EVIDENCE);
}

/* "peak larger"; "" where there is none. */
#define MSIM_GUARD_WORDS 80
void msim_guard_words(msim_guard_marks marks, char words[MSIM_GUARD_WORDS]);

struct msim_json; /* core/base/json.h */
/* "guards": ["peak", "larger"], of one answer. */
void msim_guard_json(struct msim_json *j, msim_guard_marks marks);

/* ---- an answer by itself ------------------------------------------------- */

/* ORDER and PEAK, where they are tripped. `share` of the peak that is reached,
 * above 1: too much; NAN: not known. */
msim_guard_marks msim_guard_check(double us, double low_us, double high_us,
                                  double share);

/* ---- answers beside each other ------------------------------------------- */

struct msim_guard_answer {
    uint64_t kind;  /* a hash of what must be the same to compare two */
    double size;    /* of which more takes no less */
    double us;      /* what it takes */
    bool measured;  /* measured ones are like it */
    uint32_t index; /* whose it is */
};

/*
 * Mark (`marks[index]`, bit of `g`) one of every two answers of a
 * kind that contradict each other: the larger takes less than the guard's share
 * of the smaller. It is the larger one, unless that alone is measured. No two
 * without the mark contradict each other then. `a` may be put into another
 * order. n log n.
 */
void msim_guard_compare(struct msim_guard_answer *a, uint32_t n,
                        enum msim_guard g, msim_guard_marks *marks);

/* ---- all of them --------------------------------------------------------- */

struct msim_guard_count {
    uint64_t answers, marked, by[MSIM_GUARDS];
    uint64_t asked; /* with what has no answer; 0: not counted */
};
void msim_guard_add(struct msim_guard_count *c, msim_guard_marks marks);
void msim_guard_sum(struct msim_guard_count *to,
                    const struct msim_guard_count *from);

/* "2 of 40 points are marked: 1 peak (it takes less ...), 1 larger (...)"; ""
 * where none is. `what` is the plural of an answer. */
#define MSIM_GUARD_SENTENCE 640
void msim_guard_sentence(const struct msim_guard_count *c, const char *what,
                         char text[MSIM_GUARD_SENTENCE]);
/* The same as a line, behind an empty one where `apart`; nothing where none is
 * marked. */
void msim_guard_text(const struct msim_guard_count *c, const char *what,
                     bool apart, FILE *out);
/* ECHECK where answers were asked for and there is none, each of which says
 * why. `what` is the plural of an answer. */
MSIM_MUST_CHECK
enum msim_status msim_guard_some(uint64_t answers, uint64_t asked,
                                 const char *what, struct msim_error *err);
/* "guards": {"answers": 40, "marked": 2, "text": "2 of 40 ..."}, of all. */
void msim_guard_count_json(struct msim_json *j,
                           const struct msim_guard_count *c, const char *what);

#endif
