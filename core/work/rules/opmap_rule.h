/*
 * core/work/rules/opmap_rule.h - a rule: the arguments of one operator to
 * works; and what rules of one family share.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_RULE_H
#define MSIM_CORE_WORK_RULES_OPMAP_RULE_H
#include "core/trace/trace.h"
#include "core/work/work.h"

/* ---- opmap rule ---------------------------------------------------------- */
/*
 * What the rules share: the row of an operator, and the reading of an
 * operator's arguments.
 *
 * A row (of data/ops, or of a user's table) names a rule, and the rule makes
 * works of the arguments of one operator. Nothing here allocates.
 */

/* Works of one operator, e.g. both passes of a convolution's backward. */
#define MSIM_OPMAP_MAX 4

/* The place of an argument that an operator does not have. */
enum { MSIM_NO_PLACE = -1 };

/*
 * Where the operators of a trace run. A GPU runs in one kernel what a CPU does
 * in several operators (the chain inside a dropout): for a GPU the works of a
 * trace captured on a CPU are those kernels. For a CPU the work of an operator
 * includes that of the operators it calls.
 */
enum msim_opmap_place {
    MSIM_OPMAP_AS_TRACED, /* tensors are where the trace says */
    MSIM_OPMAP_ON_GPU,
    MSIM_OPMAP_ON_CPU,
};

/* The operator that is being looked at. */
struct msim_opmap_ctx {
    const struct msim_trace *t;
    const struct msim_op *op;
    uint32_t index;
    const char *name; /* without "aten::" */
    int launched;     /* as in msim_opmap() */
    enum msim_opmap_place place;
    enum msim_dtype missing; /* of tensors whose type the file does not name */
    struct msim_work *works; /* MSIM_OPMAP_MAX of them */
    uint32_t n;
};

struct msim_opmap_row;

/* True where the arguments sufficed and the works are added. A rule that knows
 * that nothing is launched adds none and returns true. */
typedef bool (*msim_opmap_rule)(struct msim_opmap_ctx *c,
                                const struct msim_opmap_row *row);

/* X(name, word, bit). */
#define MSIM_FLAG_MAP(X)                                                       \
    /* Launches itself only where nothing below it launches. */                \
    X(COMPOSITE, "composite", 1)                                               \
    /* Writes its first argument without reading it: fill_, normal_. */        \
    X(WRITES_ONLY, "writes_only", 2)                                           \
    X(BOOL_RESULT, "bool_result", 4)                                           \
    X(BACKWARD, "backward", 8)                                                 \
    /* Arguments start with the output: op(out, in, ...). */                   \
    X(OUT_FIRST, "out_first", 16)                                              \
    /* Launches itself only where nothing of its group below it launches. */   \
    X(OUTER, "outer", 32)                                                      \
    /* Around generated code: kernels launched in it are that code's. */       \
    X(COMPILED, "compiled", 64)                                                \
    /* The rule counts its bytes and knows nothing of its kernels, which are   \
     * of another kind than the family's. */                                   \
    X(NEAREST, "nearest", 128)

enum msim_opmap_flag {
#define X(name, word, bit) MSIM_OPMAP_##name = bit,
    MSIM_FLAG_MAP(X)
#undef X
};

/* X(name, family): operators that lie together. Where sizes are unknown the
 * kernels of an operator are of that family. */
#define MSIM_GROUP_MAP(X)                                                      \
    X(MADE, BOUND) /* names that are made while a program runs */              \
    X(ATTENTION, ATTENTION)                                                    \
    X(COMM, COLLECTIVE)                                                        \
    X(CONV, CONV)                                                              \
    X(EMBEDDING, EMBEDDING)                                                    \
    X(GEMM, GEMM)                                                              \
    X(MEMORY, COPY)                                                            \
    X(MOE, MOE)                                                                \
    X(NORM, NORM)                                                              \
    X(OPTIMIZER, OPTIMIZER)                                                    \
    X(POINTWISE, POINTWISE)                                                    \
    X(REDUCTION, REDUCTION)                                                    \
    X(RESAMPLE, POINTWISE)

enum msim_opmap_group {
#define X(name, family) MSIM_GROUP_##name,
    MSIM_GROUP_MAP(X)
#undef X
};

struct msim_opmap_row {
    const char *name;
    msim_opmap_rule rule;              /* NULL: launches nothing of its own */
    const char *variant;               /* NULL: the name */
    const struct msim_opmap_row *like; /* instead of this one; NULL: none */
    uint8_t inputs;                    /* tensor arguments that are read */
    uint8_t flops_each;                /* of an element */
    uint8_t kernels;                   /* 0: the rule knows */
    uint8_t flags;                     /* msim_opmap_flag */
    uint8_t arg;                       /* the rule's own use */
    uint8_t group;                     /* msim_opmap_group of the rule */
};

/* ---- arguments ------------------------------------------------------- */

/* A tensor: its sizes and type, and their product. A type that the file does
 * not name is that of the operator's kernels (msim_opmap_ctx.missing); of other
 * operators, and in lists, it counts as fp32, the default of frameworks. */
struct msim_operand {
    const int64_t *dims;
    uint32_t rank;
    enum msim_dtype dtype;
    uint8_t device, layout;
    double elems, bytes;
};

/* Top-level argument `k`, if it is a defined tensor. */
bool msim_opmap_tensor(const struct msim_opmap_ctx *c, uint32_t k,
                       struct msim_operand *o);
/* The k-th defined tensor among the top-level arguments. */
bool msim_opmap_nth_tensor(const struct msim_opmap_ctx *c, uint32_t k,
                           struct msim_operand *o);
/* The k-th defined tensor among the outputs, those in lists too. */
bool msim_opmap_output(const struct msim_opmap_ctx *c, uint32_t k,
                       struct msim_operand *o);
/* A tensor argument of any op of the trace: `k` as in msim_opmap_tensor(). */
bool msim_opmap_tensor_of(const struct msim_trace *t, uint32_t op, uint32_t k,
                          struct msim_operand *o);

/* Size `k` of a tensor, counted from the end where negative; 1 outside. */
int64_t msim_operand_dim(const struct msim_operand *o, int k);

/* Sums over the tensors of list argument `k`. */
struct msim_tensor_list {
    uint32_t n; /* tensors */
    double elems, bytes;
    double chunks; /* of 65,536 elements: blocks of a foreach kernel */
    bool plain;    /* all lie in the order of their sizes */
    enum msim_dtype dtype;
    uint8_t device;
};
bool msim_opmap_list(const struct msim_opmap_ctx *c, uint32_t k,
                     struct msim_tensor_list *l);

/* Scalar arguments; false (and *v untouched) where they are not recorded. */
bool msim_opmap_int(const struct msim_opmap_ctx *c, uint32_t k, int64_t *v);
bool msim_opmap_real(const struct msim_opmap_ctx *c, uint32_t k, double *v);
/* Integers of list argument `k`: how many were stored (at most `max`). */
uint32_t msim_opmap_ints(const struct msim_opmap_ctx *c, uint32_t k, int64_t *v,
                         uint32_t max);

/* `x` as a count: 0 where it is negative or no number, saturating. */
int64_t msim_opmap_count(double x);

/* ---- works ----------------------------------------------------------- */

/* A new work of one kernel, or NULL where MSIM_OPMAP_MAX are used. */
struct msim_work *msim_opmap_work(struct msim_opmap_ctx *c,
                                  enum msim_family family,
                                  enum msim_dtype dtype, const char *variant);

/* How a type multiplies: as another one, with so many times the rows of its
 * first factor and so many times the depth, and what the product is written
 * as. */
struct msim_opmap_arithmetic {
    enum msim_dtype dtype;
    const char *variant;
    int64_t rows, depth;
    enum msim_dtype out;
};
struct msim_opmap_arithmetic msim_opmap_arithmetic_of(enum msim_dtype dtype);

/* The variant that a row stands for. */
const char *msim_opmap_variant(const struct msim_opmap_row *row);

/* ---- what the trace saw ---------------------------------------------- */

/* How far a walk over an op's launches is; all zero: at its begin. */
struct msim_opmap_launches {
    uint32_t next; /* call; 0: the first is to be found */
    int kernels;   /* found so far */
    bool copies;   /* they are wanted, behind the last kernel, too */
};

/*
 * The next GPU activity that the op itself launched, or NULL. Names, kinds,
 * sizes and launch configurations may be read. Times may not: model costs are
 * made from none.
 */
const struct msim_gpu *msim_opmap_kernel(const struct msim_opmap_ctx *c,
                                         struct msim_opmap_launches *l);

/* Elements that the op's elementwise kernels can have touched, by their launch
 * configurations; 0 where nothing is known. */
double msim_opmap_grid_elems(const struct msim_opmap_ctx *c);

/*
 * The autograd node of a forward op (its first input is the gradient of the
 * op's first result), or the forward op of a node whose name starts with
 * `prefix` and holds `part`; MSIM_NONE where sequence numbers lead nowhere
 * nearby.
 */
uint32_t msim_opmap_backward_of(const struct msim_opmap_ctx *c);
uint32_t msim_opmap_forward_of(const struct msim_opmap_ctx *c,
                               const char *prefix, const char *part);

/* Did a kernel of the op run fp32 on tensor cores, by its name? */
bool msim_opmap_tf32(const struct msim_opmap_ctx *c);

/* Templates of Inductor, whose kernels are named for the operators in them:
 * what is fused around a product, or attention, stands among its arguments,
 * the result behind them. */
bool msim_opmap_product_template(struct msim_opmap_ctx *c);
bool msim_opmap_attention_template(struct msim_opmap_ctx *c,
                                   const struct msim_opmap_row *row);

/* ---- opmap comm ---------------------------------------------------------- */
/* The works of collectives and point-to-point transfers. */

/* The work of a collective, in the size convention of nccl-tests. */
struct msim_work msim_comm_work(const struct msim_trace *t, uint32_t comm);

/*
 * The work of a kernel that only its name shows to be communication: over all
 * ranks of the job, MSIM_GPUS_A_NODE where their number is not known, and of no
 * known size.
 */
struct msim_work msim_comm_work_by_name(const struct msim_trace *t,
                                        const char *name);

/*
 * Set the nodes of its ranks, with `gpus` GPUs each (0: MSIM_GPUS_A_NODE): by
 * the members of the group where the trace lists them, else as if ranks were
 * numbered one after the other. `comm` MSIM_NONE: nothing is known of it.
 */
void msim_comm_place(struct msim_work *w, const struct msim_trace *t,
                     uint32_t comm, uint32_t gpus);

/*
 * The same work in a job of `ranks` ranks of which `traced` were traced. A
 * group of all ranks grows, and so does one of every n-th of all ranks, where
 * ranks are no stages: what is data parallel beside a split of tensors. Other
 * groups stay. All-gather and reduce-scatter
 * are the two halves of a sharded parameter, of which the whole stays and the
 * shard shrinks. A gather is of as many parts as there are ranks, and all else
 * keeps what goes into it. `comm` MSIM_NONE: of all ranks.
 */
struct msim_work msim_comm_grow(struct msim_work w, const struct msim_trace *t,
                                uint32_t comm, uint32_t traced, uint32_t ranks);

/* ---- opmap vector -------------------------------------------------------- */
/* Works whose time depends on the bytes that they move. */

/* Fill rows, cols and elems: `rows` independent runs of `cols`. */
void msim_opmap_set_rows(struct msim_work *w, double rows, double cols);

#endif
