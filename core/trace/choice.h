/*
 * core/trace/choice.h - which part of a traced run is asked for: to be run
 * again, or to take time in a prediction.
 */
#ifndef MSIM_CORE_TRACE_CHOICE_H
#define MSIM_CORE_TRACE_CHOICE_H
#include "core/trace/trace.h"

enum msim_choice_kind {
    MSIM_CHOICE_ALL,
    MSIM_CHOICE_COMPUTE,
    MSIM_CHOICE_COMMUNICATION,
    MSIM_CHOICE_COPIES
};
/* Their words, ended by NULL. */
extern const char *const MSIM_CHOICE_KINDS[];

/* All zero: everything. What is set must all hold. Names are shell patterns. */
struct msim_choice {
    const char *subtree; /* inside an operator or a label of that name */
    const char *ops;     /* operators of that name */
    const char *exclude; /* not those */
    uint32_t from, to;   /* ET nodes, both included; to 0: up to the last */
    enum msim_choice_kind kind;
};

bool msim_choice_is_all(const struct msim_choice *c);

/* Take "A..B" as the range. EUSAGE where it is none. */
MSIM_MUST_CHECK
enum msim_status msim_choice_parse_range(struct msim_choice *c,
                                         const char *value,
                                         struct msim_error *err);

/* Is op `i`, which a program would call, in the choice? */
bool msim_choice_has(const struct msim_choice *c, const struct msim_trace *t,
                     uint32_t i);

/* ---- with all that is nested ---------------------------------------------
 */

/* What an operator, or one around it, has of a choice. */
enum msim_choice_mark {
    MSIM_MARK_SUBTREE = 1,
    MSIM_MARK_OPS = 2,
    MSIM_MARK_EXCLUDE = 4, /* labels count, too */
    MSIM_MARK_RANGE = 8,
    MSIM_MARK_COMMUNICATION = 16,
    MSIM_MARK_COPIES = 32,
};

/* The marks of every op of `t`. `*marks` is the caller's to free; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_choice_marks(uint8_t **marks, const struct msim_choice *c,
                                   const struct msim_trace *t);

/* The kind of an operator with these marks: never ALL. */
enum msim_choice_kind msim_choice_kind_of(uint8_t marks);

/* Is work of this kind in the choice, in an operator or a label with these
 * marks? Work in neither has none. */
bool msim_choice_takes(const struct msim_choice *c, uint8_t marks,
                       enum msim_choice_kind kind);

#endif
