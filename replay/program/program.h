/*
 * replay/program/program.h - a traced step as a program: which operators are
 * called, and which result each of their tensors is.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_H
#include "core/base/containers.h"
#include "core/base/status.h"
#include "core/lives/lives.h"
#include "core/trace/trace.h"
#include "core/trace/trace_steps.h"

#include <stdbool.h>

/* ---- schema -------------------------------------------------------------- */
/*
 * The signature of an operator, as an execution trace writes it:
 *
 *     aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
 *
 * Only what a call needs is kept: which argument is called what, which are
 * given by name alone, what they are when left out, which are written, and how
 * many results there are. Pieces point into the text, which must stay.
 */

#define MSIM_SCHEMA_ARGS 64

enum msim_schema_kind {
    MSIM_SCHEMA_PLAIN, /* int, float, bool, str, Scalar */
    MSIM_SCHEMA_TENSOR,
    MSIM_SCHEMA_DTYPE,
    MSIM_SCHEMA_LAYOUT,
    MSIM_SCHEMA_DEVICE,
    MSIM_SCHEMA_MEMORY_FORMAT,
    MSIM_SCHEMA_GENERATOR,
    MSIM_SCHEMA_STORAGE,
    MSIM_SCHEMA_OBJECT, /* process groups and others that no trace holds */
};

struct msim_schema_piece {
    const char *at;
    uint32_t len;
};

struct msim_schema_arg {
    struct msim_schema_piece name, missing; /* missing: its default; len 0:
                                               it has to be given */
    uint8_t kind;
    bool by_name; /* after the `*` */
    bool written; /* Tensor(a!) */
    bool list;
    bool optional; /* Tensor?: None will do */
    bool real;     /* float: PyTorch's traces cut it to six decimals */
};

struct msim_schema {
    const char *text;
    char name[96], overload[64];
    struct msim_schema_arg args[MSIM_SCHEMA_ARGS];
    uint32_t n_args, n_results;
    bool results_are_lists; /* the only result is a list */
    bool collective;        /* c10d's, with a process group among its arguments;
                               such signatures do not mark what is written:
                               all tensors but those called input are */
};

/*
 * Read `text` into `*out`. False where it is no signature, has more than
 * MSIM_SCHEMA_ARGS arguments, or names that are no words: names become part of
 * a program.
 */
bool msim_schema_read(struct msim_schema *out, const char *text);

/* Is argument `a` called `name`? */
bool msim_schema_is(const struct msim_schema_arg *a, const char *name);

/* ---- callable ------------------------------------------------------------ */
/*
 * Which operators of a trace a program may call.
 *
 * A trace is a stranger's, and registered operators do more than compute:
 * aten::from_file maps a file for writing, aten::save writes one,
 * debugprims::load_tensor reads one. So a program calls operators of name
 * spaces that are known to compute, and passes no text but words: what rounds
 * which way (rounding_mode), what is summed up how (reduce).
 */

/*
 * Why operator `op` with signature `s` is not called: a static text, or NULL.
 * `further` are name spaces that the user trusts, too, separated by commas;
 * NULL: none.
 */
const char *msim_why_not_callable(const struct msim_trace *t, uint32_t op,
                                  const struct msim_schema *s,
                                  const char *further);

/* Is it one of the name spaces that are known? */
bool msim_is_known_space(const char *space, size_t n);

/* Is it a word that Python takes for no name? */
bool msim_is_python_keyword(const char *word, size_t n);

/* ---- composite ----------------------------------------------------------- */
/*
 * Operators of PyTorch that are made of others.
 *
 * Such an operator has no kernel of its own: whoever calls the operators below
 * it does the same work. That is how a benchmark reaches a tensor that was made
 * inside one.
 */

extern const char *const msim_composite_ops[];
extern const unsigned msim_n_composite_ops;

/* Is `name` ("aten::linear") with `overload` ("" for the one without a name)
 * made of other operators? */
bool msim_composite(const char *name, const char *overload);

/* ---- program ------------------------------------------------------------- */
/*
 * What a traced rank did, as a program that can be run again without the trace:
 * the operators that were called, in order, and which result each of their
 * tensors is.
 *
 * A statement is one call of an operator with a signature: the outermost one,
 * unless a later statement reads what was made inside it and it is made of
 * other operators; then those are called (opened), again and again until
 * nothing hidden is read.
 *
 * In the autograd form the backward pass is one statement: PyTorch's engine
 * does it from what the forward statements recorded. In the direct form its
 * operators are statements like all others.
 *
 * A collective begins with its statement and ends with the wait for it, so that
 * what stands between runs beside it. The wait is where the trace records it,
 * else in front of the first statement that reads what the collective writes,
 * or writes what it reads.
 *
 * Everything refers to everything else by index. The trace must outlive the
 * program.
 */

enum msim_program_form { MSIM_FORM_AUTOGRAD, MSIM_FORM_DIRECT };

enum msim_input_kind {
    MSIM_INPUT_VALUE,    /* a result: `index` of values */
    MSIM_INPUT_OUTSIDE,  /* a tensor from outside: `index` of outside */
    MSIM_INPUT_NUMBER,   /* a number that PyTorch wrapped as a tensor: `index`
                              of numbers */
    MSIM_INPUT_GRADIENT, /* the `index`-th gradient that backward made */
};

struct msim_program_input {
    uint8_t kind;
    uint32_t index;
};

enum msim_statement_kind {
    MSIM_STATEMENT_CALL,
    MSIM_STATEMENT_BACKWARD,   /* of operand 0, the loss */
    MSIM_STATEMENT_COLLECTIVE, /* its only result is the work to wait for */
    MSIM_STATEMENT_WAIT,       /* for operand 0, the work */
};

struct msim_statement {
    uint32_t op;             /* of the trace */
    uint32_t schema;         /* of schemas; NONE: backward, wait */
    uint32_t first_in, n_in; /* operands: tensors of the arguments, preorder */
    uint32_t first_out, n_out; /* values: tensors of the results, preorder */
    uint32_t comm; /* a collective: what is recorded of it (trace->comms), or
                      NONE */
    uint8_t kind;
    bool recorded; /* by autograd: it comes before a backward */
    bool sync;     /* a collective that its caller waits for at once; it has no
                      result */
};

/* A result of a statement. */
struct msim_program_value {
    uint32_t statement;
    uint32_t slot; /* which tensor of its results */
    uint32_t id;   /* of trace->tensor_ids; NONE: a collective's work */
    uint32_t last; /* last statement that reads it; its own: nobody does */
    bool same;     /* an argument, written in place, and returned */
};

enum msim_tensor_role {
    MSIM_ROLE_PARAMETER, /* trained: read forward, written by the optimizer */
    MSIM_ROLE_STATE,     /* written, not trained */
    MSIM_ROLE_INPUT,
    MSIM_ROLE_INDEX,
    MSIM_ROLE_OFFSETS,
    MSIM_ROLE_POSITIVE, /* must be above zero: variances, counts */
    MSIM_ROLE_MEMORY,   /* storage of which other tensors are views */
};
const char *msim_tensor_role_text(enum msim_tensor_role role);

/* A tensor that no statement makes. */
struct msim_outside {
    uint32_t id;   /* of trace->tensor_ids, where it is first read */
    uint32_t life; /* NONE without elements */
    uint32_t base; /* the outside tensor that it is a view of, or NONE */
    uint8_t role, dtype, device;
    bool positive; /* its values have to be above zero: a norm's weight */
    uint32_t n_dims, dims, strides; /* as msim_arg; strides may be NONE */
    int64_t offset;                 /* elements, in its base */
    int64_t elements;               /* role MEMORY: of the storage */
    int64_t low, high; /* role INDEX: values, both included; OFFSETS: high is
                          the number of indices that they divide */
};

/* An operator that is not in the program, and why. */
struct msim_left_out {
    uint32_t op;
    const char *reason; /* static */
};

/* Operators of one name that are left out for one reason. */
struct msim_left_group {
    const char *name, *reason;
    uint32_t n;
};
#define MSIM_LEFT_GROUPS 16

struct msim_program {
    const struct msim_trace *trace;
    struct msim_lives lives;
    uint32_t step; /* of trace->steps; NONE: the whole trace */
    uint8_t form;
    bool part;               /* of the step: not all that ran in it is called */
    const char *why_direct;  /* NULL: it was wanted, or there is no backward */
    struct msim_vec schemas; /* struct msim_schema */
    struct msim_vec statements; /* struct msim_statement */
    struct msim_vec operands;   /* struct msim_program_input */
    struct msim_vec values;     /* struct msim_program_value */
    struct msim_vec outside;    /* struct msim_outside */
    struct msim_vec numbers;    /* struct msim_arg: INT, REAL or BOOL */
    struct msim_vec left_out;   /* struct msim_left_out */
    struct msim_vec notes;      /* char *: what was inferred; whole sentences */
    uint32_t n_gradients;       /* that one backward of the step makes */
    uint32_t n_opened;          /* operators called through those below them */
    uint32_t n_collectives;
    uint32_t n_waits; /* waits that no trace records: they stand where
                                   something needs what a collective writes */
};

void msim_program_free(struct msim_program *p); /* accepts NULL */

/* Note what was inferred; a printf text. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_program_note(struct msim_program *p, const char *fmt, ...)
    MSIM_PRINTF(2, 3);

/* What is left out, by name and reason, up to MSIM_LEFT_GROUPS of them: how
 * many. `*others` is how many operators are of none of them. */
uint32_t msim_program_left_groups(const struct msim_program *p,
                                  struct msim_left_group *groups,
                                  uint32_t *others);

/* The group of trace->groups that a collective runs in; NONE: all ranks, as far
 * as the trace says. */
uint32_t msim_program_group(const struct msim_program *p,
                            const struct msim_statement *s);

/* How often backward() is called, so far. */
uint32_t msim_program_backwards(const struct msim_program *p);

/*
 * Is value `v` memory on the CPU that is read before an operator writes to it?
 * torch.tensor([0, 2]) shows as such, since Python itself puts the numbers in,
 * and so does memory that came from a data loader's process.
 */
bool msim_program_unwritten(const struct msim_program *p, uint32_t v);

/* ---- its rows ----------------------------------------------------------- */

#define MSIM_PROGRAM_ROW(name, type)                                           \
    static inline type *msim_program_##name(const struct msim_program *p,      \
                                            uint32_t i)                        \
    {                                                                          \
        return (type *)p->MSIM_PROGRAM_COLUMN_##name.data + i;                 \
    }
#define MSIM_PROGRAM_COLUMN_schema    schemas
#define MSIM_PROGRAM_COLUMN_statement statements
#define MSIM_PROGRAM_COLUMN_operand   operands
#define MSIM_PROGRAM_COLUMN_value     values
#define MSIM_PROGRAM_COLUMN_outside   outside
#define MSIM_PROGRAM_COLUMN_number    numbers
#define MSIM_PROGRAM_COLUMN_left_out  left_out
MSIM_PROGRAM_ROW(schema, struct msim_schema)
MSIM_PROGRAM_ROW(statement, struct msim_statement)
MSIM_PROGRAM_ROW(operand, struct msim_program_input)
MSIM_PROGRAM_ROW(value, struct msim_program_value)
MSIM_PROGRAM_ROW(outside, struct msim_outside)
MSIM_PROGRAM_ROW(number, struct msim_arg)
MSIM_PROGRAM_ROW(left_out, struct msim_left_out)

/* ---- make program -------------------------------------------------------- */
/*
 * From a trace to a program:
 *
 *     trace --> operators to call --> statements --> tensors from outside
 *               program_units.c       program_bind.c   program_roles.c
 */

struct msim_program_options {
    uint32_t step; /* of trace->steps, or NONE: the whole trace */
    bool direct;   /* the direct form, whatever the trace has; a part of the
                      step has it always */
    struct msim_choice choice;
    const char *namespaces; /* whose operators may be called, beside those that
                               are known ("callable"); NULL: no others */
};

/*
 * The program of one rank. `*out` is owned by the caller on success
 * (msim_program_free()), NULL on failure: EFORMAT without an execution trace or
 * without anything to call, or with a tensor that no machine holds; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_new(struct msim_program **out,
                                  const struct msim_trace *trace,
                                  const struct msim_program_options *options,
                                  struct msim_error *err);

#endif
