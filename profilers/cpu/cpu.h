/*
 * profilers/cpu/cpu.h - the CPU backend: its device, its operands, its ranks.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_H
#define MSIM_PROFILERS_CPU_CPU_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "profilers/experiment.h"
#include "profilers/serve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cpu device ---------------------------------------------------------- */
/* The processor that is timed. */

struct msim_cpu_device {
    char name[128]; /* "AMD EPYC (2 cores)" */
    uint32_t cores; /* that this process may run on */
    uint64_t memory_bytes;
    uint64_t cache_bytes; /* of the last level */
    double mhz;           /* as the kernel says it at the moment; 0: unknown */
};

/* What the kernel says, with typical figures where it says nothing. */
void msim_cpu_device_find(struct msim_cpu_device *d);

/* The members of "device" in a greeting. */
void msim_cpu_device_write(const struct msim_cpu_device *d,
                           struct msim_json *out);

/* The clock now in MHz, 0 where it is not known. */
double msim_cpu_clock_mhz(void);

/* Microseconds of a clock that is never set. */
double msim_cpu_now_us(void);

/* ---- cpu operands -------------------------------------------------------- */
/*
 * Memory that operands are taken from.
 *
 * There is an area for each sort of numbers to read, full of random ones, and
 * one to write; each is at least twice the last-level cache. Every run takes
 * its operands behind the last run's, and from the beginning when the area
 * ends, so that they are in no cache.
 */

struct msim_area {
    char *bytes;
    size_t size, at;
};

enum msim_operand_kind {
    MSIM_OPERAND_F32, /* uniform in -1 to 1 */
    MSIM_OPERAND_F64,
    MSIM_OPERAND_BF16,
    MSIM_OPERAND_INDEX, /* msim_operand_row() */
    MSIM_OPERAND_OUT,   /* to write */
    MSIM_OPERANDS
};

struct msim_operands {
    struct msim_area areas[MSIM_OPERANDS]; /* made when first asked for */
    size_t least;                          /* size of an area */
};

/* `cache_bytes`: of the last level. */
void msim_operands_init(struct msim_operands *o, size_t cache_bytes);
void msim_operands_release(struct msim_operands *o);

/* Make room for runs that take `bytes` of a sort, eight operands at most.
 * ENOMEM, and nothing else, may fail. */
MSIM_MUST_CHECK
enum msim_status msim_operands_reserve(struct msim_operands *o,
                                       enum msim_operand_kind of, size_t bytes);

/* Begin a run, before its operands are taken. `warm`: they are those of the
 * last run, which the caches may hold; else they lie behind those. */
void msim_operands_begin(struct msim_operands *o, bool warm);

/* The next `bytes` of an area that was reserved, on a cache line of their own;
 * at most as many as were reserved. */
void *msim_operands_take(struct msim_operands *o, enum msim_operand_kind of,
                         size_t bytes);

/* One of `rows` rows, by a random number of 32 bits (Lemire, 2019): so that a
 * look-up finds its rows' numbers drawn before, whatever the table. */
static inline uint64_t msim_operand_row(uint32_t random, uint64_t rows)
{
    return random * rows >> 32;
}

/* ---- cpu share ----------------------------------------------------------- */
/*
 * Loops that all cores share.
 *
 * They use OpenMP, as OpenBLAS does where it was built with it: one pool of
 * threads serves both. With two pools, idle threads of one poll for work on the
 * cores of the other, and both run at half their speed.
 */

/* Work on the items from `from` up to, and without, `to`. */
typedef void msim_range_fn(void *ctx, int64_t from, int64_t to);

/* Set the number of threads, the caller included; at least 1. */
void msim_contention_threads(uint32_t threads);

/*
 * Run `fn` over `n` items in equal ranges, one a thread, no range shorter than
 * `grain`; returns when all are done.
 */
void msim_contention(msim_range_fn *fn, void *ctx, int64_t n, int64_t grain);

/* ---- cpu ----------------------------------------------------------------- */
/*
 * The CPU backend: what its cases share.
 *
 * Products are OpenBLAS's; products of bfloat16, convolutions, softmax and
 * layer norm are oneDNN's; the rest are loops of our own. All use all cores.
 * Not thread-safe: one experiment at a time.
 */

struct msim_cpu {
    struct msim_cpu_device device;
    struct msim_operands operands;
};

extern const struct msim_backend MSIM_BACKEND_CPU;

/* Set the threads of every case from now on; all cores at first. */
void msim_cpu_set_threads(uint32_t threads);

/* A case of each table, as msim_backend.prepare() has it. */
MSIM_MUST_CHECK
enum msim_status msim_cpu_gemm(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_vector(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_copy(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_latency(struct msim_cpu *cpu,
                                  const struct msim_experiment *e,
                                  struct msim_case *out,
                                  struct msim_error *err);

/*
 * oneDNN's cases: products of bfloat16; softmax, log_softmax and layer norm in
 * fp32. Built without oneDNN, cpu_no_dnnl.c refuses them.
 */
const char *msim_cpu_dnnl_version(void); /* NULL: there is none */
MSIM_MUST_CHECK
enum msim_status msim_cpu_matmul(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cpu_rows(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err);

/* Whether msim_cpu_matmul() can multiply on this processor. */
bool msim_cpu_has_bfloat16(struct msim_cpu *cpu);
/* Whether msim_cpu_rows() knows an operator. */
bool msim_cpu_has_rows(enum msim_vector_op op);
/* The passes that msim_cpu_conv() knows ("conv2d_fwd:fp32"), ended by NULL. */
const char *const *msim_cpu_conv_kinds(void);

/* The vector operators that msim_cpu_vector() knows, one a call from 0; NULL
 * after the last. */
const char *msim_cpu_vector_name(uint32_t i);

/* Added to a variance before its root is divided by; PyTorch's default. */
#define MSIM_NORM_EPSILON 1e-5f

/* ---- mpi ranks ----------------------------------------------------------- */
/*
 * The processes of one mpirun.
 *
 * Rank 0 reads and writes the lines, and broadcasts orders that the others
 * follow. All ranks call each function together, except where it says
 * otherwise.
 */

enum msim_order {
    MSIM_ORDER_READY,           /* make room for a collective */
    MSIM_ORDER_TIME,            /* it */
    MSIM_ORDER_WORK_READY,      /* make ready what computes; its text follows */
    MSIM_ORDER_WORK_ALONE,      /* time that */
    MSIM_ORDER_WORK_CONCURRENT, /* and beside the collective */
    MSIM_ORDER_STOP
};

/* What rank 0 orders all ranks to do. */
struct msim_rank_order {
    int what, collective; /* enum msim_order, enum msim_collective */
    long long bytes;      /* of the collective, or of the text */
};

struct msim_ranks {
    struct msim_cpu_device device;
    int rank, n;
    struct msim_rank_order order; /* the last one */
    float *in, *out;              /* of a collective */
    long long room;               /* bytes of each */
    void *cpu; /* MSIM_BACKEND_CPU's; NULL: nothing computed yet */
    struct msim_case work;
    uint32_t repeats; /* of the work, that are timed as one */
};

/* Rank 0 alone: give an order. */
void msim_ranks_tell(struct msim_ranks *r, enum msim_order order);

/* The collective, once. */
void msim_ranks_run(const struct msim_ranks *r);

/* ---- mpi_concurrent.c: compute beside it --------------------------------- */

/* The reason why ranks cannot compute beside a collective; NULL: they can. */
const char *msim_ranks_alone(const struct msim_ranks *r);

/* Write the greeting's "beside": the kinds that can, or the reason. */
void msim_ranks_describe_concurrent(const struct msim_ranks *r,
                                    struct msim_json *out);

/*
 * Make ready the experiment in `text`, which MSIM_BACKEND_CPU reads; rank 0 has
 * it, and sends it to the others after the order. `err` is set where this rank
 * fails; EINTERNAL where another one does. Releases the previous experiment.
 */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work_ready(struct msim_ranks *r, char *text,
                                       struct msim_error *err);

/* Time it: microseconds of one run, of the slowest rank. Fails where it fails
 * on any rank. */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work(struct msim_ranks *r, bool concurrent,
                                 double *us, struct msim_error *err);

/* This rank alone. */
void msim_ranks_work_release(struct msim_ranks *r);

#endif
