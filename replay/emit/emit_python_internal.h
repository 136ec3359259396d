/*
 * replay/emit/emit_python_internal.h - what the files of replay/emit share; no
 * other room includes it.
 */
#ifndef MSIM_REPLAY_EMIT_EMIT_PYTHON_INTERNAL_H
#define MSIM_REPLAY_EMIT_EMIT_PYTHON_INTERNAL_H
#include "core/base/containers.h"
#include "core/base/files.h"
#include "replay/emit/emit_python.h"
#include "replay/fold/loops.h"
#include "replay/program/program.h"

/* ---- batch --------------------------------------------------------------- */
/*
 * Which sizes of a program grow with its batch.
 *
 * The batch is the size that most inputs share, and first of all as their first
 * one. A tensor grows with it where it is such an input or is made of one and
 * its first size is a multiple of the batch; so tables, masks and positions do
 * not. A benchmark writes such sizes as multiples of a constant, so that
 * another batch can be asked for.
 */

struct msim_batch {
    int64_t size; /* 0: no input tells */
    bool *grows;  /* of a value */
    uint8_t *dim; /* of a tensor from outside: the size that grows, or
                     MSIM_BATCH_NONE */
};
#define MSIM_BATCH_NONE 255

/* ENOMEM. Release with msim_batch_release(). */
MSIM_MUST_CHECK
enum msim_status msim_batch_find(struct msim_batch *out,
                                 const struct msim_program *p);
void msim_batch_release(struct msim_batch *b);

/*
 * Does `first`, the first of the sizes that argument `a` of a statement asks
 * for, grow with the batch? (view, reshape, expand, zeros, ...)
 */
bool msim_batch_grows(const struct msim_batch *b, const struct msim_program *p,
                      const struct msim_statement *s,
                      const struct msim_schema_arg *a, int64_t first);

/* ---- result names -------------------------------------------------------- */
/*
 * Python names of the results of statements, and when each is let go.
 *
 * A name holds its tensor until something else is put into it or it is deleted,
 * so names decide how much memory a benchmark takes. Each result is let go with
 * its last reader, as the frame that held it let it go in the original; its
 * name is used again.
 *
 * A printed statement is one outside of loops or of a loop's first run. Times
 * count them: statement number p reads at 4 p and writes at 4 p + 1; a loop
 * whose last printed statement is p ends at 4 p + 2.
 */

/* One tensor that a loop hands from run to run under a name of its own. */
struct msim_carry {
    uint32_t loop;
    uint32_t value;                  /* handed on, as of run 0 */
    struct msim_program_input first; /* what the first run gets */
    uint32_t holder;                 /* whose name it has */
    bool copied; /* the name is its own: set before, and at the end of a run */
};

struct msim_names {
    const struct msim_loops *fold;
    uint32_t n_values;
    uint32_t *same_as;    /* union of results that share a name */
    uint32_t *name;       /* of a holder: number, or NONE */
    int64_t *begin, *end; /* of a holder: when it is written, last read */
    bool *kept;           /* of a result: its loop appends it to a list */
    int64_t *kept_end;    /* of a result: when that list is last read */
    uint32_t *time;       /* of a statement: its number p, NONE: not printed */
    uint32_t n_times;
    struct msim_vec carries; /* struct msim_carry */
};

MSIM_MUST_CHECK
enum msim_status msim_names_find(struct msim_names *out,
                                 const struct msim_loops *fold);
void msim_names_release(struct msim_names *n);

/* The result whose name result `v` has. */
uint32_t msim_names_holder(const struct msim_names *n, uint32_t v);
/* What stands for an operand that loop number `loop` carries; never NULL for
 * one of kind CARRIED. */
const struct msim_carry *msim_names_carry(const struct msim_names *n,
                                          uint32_t loop,
                                          const struct msim_loop_ref *ref);
/* Is the list that statement `s` returns kept as one? */
bool msim_names_list(const struct msim_program *p,
                     const struct msim_statement *s);

/* ---- text ---------------------------------------------------------------- */
/*
 * Text of a Python program that grows; a failure is kept until it is asked for.
 *
 * What a trace says becomes part of a program in three ways, and no other: as a
 * string, as a word that can only be a name, and as numbers.
 */

struct msim_text {
    struct msim_vec bytes; /* its owner frees bytes.data */
    enum msim_status status;
};

/* Add what `fmt` says, in which each %s becomes a string of Python's, with its
 * quotes, in ASCII and on one line. */
void msim_text_add(struct msim_text *t, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* Add a word: letters, digits, `_`, dots. Anything else is EINTERNAL: a program
 * is not to be made of it. */
void msim_text_word(struct msim_text *t, const char *word, size_t n);

/* Add a piece of a program, which is ours. */
void msim_text_put(struct msim_text *t, const char *ours);
void msim_text_bytes(struct msim_text *t, const char *ours, size_t n);

/* Add all of `more`, with its failure, and free it. */
void msim_text_take(struct msim_text *t, struct msim_text *more);

/* What is there, ended by a NUL; "" while it is empty or after a failure. */
const char *msim_text_get(struct msim_text *t);

/* ---- python state -------------------------------------------------------- */
/* A Python benchmark while it is written. */

/* A list of whole numbers that stands in the data file: L[i] in the program. */
struct msim_number_list {
    uint32_t first, n; /* of struct msim_body.numbers */
};

struct msim_body {
    const struct msim_program *p;
    const struct msim_loops *fold;
    struct msim_names names;
    struct msim_batch batch;
    uint32_t layers; /* the loop that stands for the model's layers, or NONE */
    struct msim_text text;
    struct msim_vec lists;   /* struct msim_number_list */
    struct msim_vec numbers; /* int64_t */
    struct msim_vec spaces;  /* uint32_t: schemas whose name space is new */
    unsigned indent;
};

/* The list in the data file that holds these numbers; MSIM_NONE: ENOMEM. */
uint32_t msim_body_list(struct msim_body *b, const int64_t *numbers,
                        uint32_t n);

/* ---- lines: python_line.c ------------------------------------------------ */

/* Add a line as far indented as the program is. */
void msim_body_line(struct msim_body *b, const char *s);
/* The same; frees `line`, and keeps its failure. */
void msim_body_take_line(struct msim_body *b, struct msim_text *line);

/* ---- all statements: python_body.c --------------------------------------- */

/* The whole of step(). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_body_write(struct msim_body *b);
void msim_body_release(struct msim_body *b);

/* ---- python data --------------------------------------------------------- */
/*
 * data.json of a Python benchmark: its tensors, lists of numbers, what was
 * inferred, what is left out.
 */

/* Near its beginning: it is the data of a benchmark. */
#define MSIM_DATA_MARK "\"schema\": \"mystique-sim/benchmark/"

/* All of it, of a program whose body is written; `rank` counts those that are
 * written. ENOMEM, EWRITE. */
MSIM_MUST_CHECK
enum msim_status msim_data_write(struct msim_file *f, const struct msim_body *b,
                                 uint32_t rank,
                                 const struct msim_emit_options *options);

/* ---- python operand ------------------------------------------------------ */
/* The tensors of a call as Python text. */

/* Where a statement is printed: outside of loops, or in the body of one. */
struct msim_body_place {
    uint32_t statement;
    uint32_t loop; /* or NONE */
};

/* Operand `k` of a statement. */
void msim_body_operand(struct msim_body *b, struct msim_text *out,
                       struct msim_body_place at, uint32_t k);
/* One operand outside of loops. */
void msim_body_plain(struct msim_body *b, struct msim_text *out,
                     struct msim_program_input o);
/* The name of the list that keeps result `v` of all runs of its loop. */
void msim_body_kept(struct msim_body *b, struct msim_text *out, uint32_t v);
/* Result `v` by its name. */
void msim_body_value(struct msim_body *b, struct msim_text *out, uint32_t v);
/* Operands first .. first + n - 1 outside of loops, all of a list, in fewer
 * words than one by one; false: there are none. */
bool msim_body_row(struct msim_body *b, struct msim_text *out,
                   const struct msim_statement *s, uint32_t first, uint32_t n);

/* ---- the call of a statement: python_call.c ------------------------------ */

/* The call of a statement, from the operator's name on. */
void msim_body_call(struct msim_body *b, struct msim_text *out,
                    struct msim_body_place at);
/* The call of a collective. */
void msim_body_collective(struct msim_body *b, struct msim_text *out,
                          struct msim_body_place at);

/* ---- python scalar ------------------------------------------------------- */
/* numbers, words and devices as Python text. */

/* An argument that holds no tensor and is no list, of that type. */
void msim_body_scalar(const struct msim_body *b, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a);

/* ---- bench template ------------------------------------------------------ */
/*
 * replay/emit/bench.py.in as the build embeds it: what every benchmark has
 * beside its own statements; collectives.py.in, what those with collectives
 * have, too; and scripts/capture/meter.py, which lies beside each.
 */

/* All end in a NUL. */
extern const char msim_bench_template[];
extern const char msim_collectives_template[];
extern const char msim_meter_template[];

#endif
