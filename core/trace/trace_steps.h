/*
 * core/trace/trace_steps.h - a part of a trace by choice: steps, operators, a
 * view of them, and what was left out.
 */
#ifndef MSIM_CORE_TRACE_TRACE_STEPS_H
#define MSIM_CORE_TRACE_TRACE_STEPS_H
#include "core/trace/trace.h"

/* ---- step ---------------------------------------------------------------- */
/*
 * Which operators are a step's, and which step stands for a run.
 *
 * Where a trace has times, a step is what began while its mark lasted, whatever
 * the thread; in an execution trace alone it is the nodes from its mark to the
 * next one.
 */

/* When an operator began: its time, else its node. */
static inline int64_t msim_moment(const struct msim_trace *t, uint32_t op)
{
    return t->has_times ? t->ops[op].start : (int64_t)t->ops[op].et_id;
}

/* from <= moment < to */
struct msim_step_window {
    int64_t from, to;
};

/* Of `step` (of t->steps); NONE: the whole trace. */
struct msim_step_window msim_step_window_of(const struct msim_trace *t,
                                            uint32_t step);

static inline bool msim_step_holds(const struct msim_step_window *w,
                                   int64_t moment)
{
    return moment >= w->from && moment < w->to;
}

/* How many steps have begun by the moment `at`. */
uint32_t msim_steps_begun(const struct msim_trace *t, int64_t at);

/* Have both steps of the same numbers? */
bool msim_steps_alike(const struct msim_trace *a, const struct msim_trace *b);

/* The last step that has begun by the moment `at`, where it is not over; or
 * NONE. */
uint32_t msim_step_at(const struct msim_trace *t, int64_t at);

/*
 * The step that stands for the run: the last one with at least half as many
 * operators as the one that has most. Earlier ones warm up, and the mark at the
 * end of a recording has little behind it. NONE: no step is marked, or none has
 * an operator. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_settled(const struct msim_trace *t, uint32_t *step);

/* ---- choice -------------------------------------------------------------- */
/*
 * Which part of a traced run is asked for: to be run again, or to take time in
 * a prediction.
 */

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

/* ---- left steps ---------------------------------------------------------- */
/*
 * Steps that a file marks and that are no iteration of the run: which, and why.
 *
 * Whoever names such a step is told why, and gets no other one.
 */

/* Leave out the steps of `t` that `keep` does not hold, and note why. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_steps_keep(struct msim_trace *t,
                                 bool (*keep)(void *of, int64_t number),
                                 void *of, enum msim_left_why why);

/* What `from` has left out is left out of `to`, another form of it. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_steps_left_as(struct msim_trace *to,
                                    const struct msim_trace *from);

/* Why the step of this number was left out of `t`: a clause; NULL: it was not.
 */
const char *msim_step_left_why(const struct msim_trace *t, int64_t number);

/* How many steps of `t` have the number. */
uint32_t msim_steps_numbered(const struct msim_trace *t, int64_t number);

/* "1, 2, 5", or "1, 2, ..., 90" where more do not fit; "none". */
struct msim_step_numbers {
    char text[64];
};

struct msim_step_numbers msim_step_numbers_of(const struct msim_trace *t);

/* ---- view ---------------------------------------------------------------- */
/*
 * Another trace of the same operators: what they are given is its own, so that
 * it can be changed, and all else is the trace's.
 *
 * Operator i of the view is operator i of the trace.
 */

/*
 * A view of `t`, which must live as long. Operators, argument lists, sizes,
 * tensors' ids and messages are copies. Strides are none: how far apart
 * elements lie changes with sizes. The caller owns `*out`
 * (msim_trace_view_free()). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_trace_view_new(struct msim_trace **out,
                                     const struct msim_trace *t);
void msim_trace_view_free(struct msim_trace *view); /* accepts NULL */

/* Bytes of the tensors of a list; 0 where no type is known. */
double msim_args_bytes(const struct msim_trace *t, uint32_t block);

#endif
