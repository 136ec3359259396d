/*
 * profilers/cuda/cuda.h - the CUDA backend: what its cases share.
 *
 * One process, its experiments one after the other; all but collectives and
 * copies between devices on device 0. Not thread-safe.
 */
#ifndef MSIM_PROFILERS_CUDA_CUDA_H
#define MSIM_PROFILERS_CUDA_CUDA_H
#include "profilers/cuda/nvml.h"
#include "profilers/experiment.h"
#include "profilers/serve.h"

#include <cuda_runtime_api.h>

struct msim_cublas;
struct msim_cudnn;
struct msim_cupti_counters;
struct msim_nccl;

/* Of the runs since the last prepare(), for an answer's "state". */
struct msim_cuda_timed {
    uint32_t runs;
    uint32_t seen;             /* of these, with complete records of CUPTI */
    double event_us, cupti_us; /* sums */
    uint32_t kernels;          /* activities of one run, 0: not seen */
    struct msim_nvml_state before, after;
};

struct msim_cuda {
    struct cudaDeviceProp device;
    int gpus;
    int driver, runtime;    /* versions: 1000 x major + 10 x minor */
    struct msim_nvml *nvml; /* NULL: no NVML */
    bool awake;             /* it worked until its clock had risen */
    unsigned awake_mhz;     /* to this; 0: not known */
    bool cupti;             /* its records are being collected */
    char cupti_why[128];    /* else why not */
    bool broken;            /* CUPTI does not record any more: start again */
    bool counters_shut;     /* hardware counters cannot be read */
    char counters_why[200]; /* because */
    struct msim_cupti_counters *counters; /* NULL: not asked for yet */
    cudaStream_t stream, concurrent;
    uint32_t stream_id; /* CUPTI's number of the first */
    cudaEvent_t begin, end, concurrent_end;
    char *flush; /* that many bytes push everything out of the L2 cache */
    size_t flush_bytes;
    /* Handles of libraries, made when they are first asked for. */
    struct msim_cublas *cublas;
    struct msim_cudnn *cudnn;
    struct msim_nccl *nccl;
    struct msim_cuda_timed timed;
};

extern const struct msim_backend MSIM_BACKEND_CUDA;

/* ---- errors -------------------------------------------------------------- */

/* A status for a CUDA error, naming the call: ENOMEM, ENOMODEL where the
 * device cannot, else EINTERNAL. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_status(cudaError_t e, const char *call,
                                  struct msim_error *err);

/* A failure of a library, `what` being its own text. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_failed(const char *call, const char *what,
                                  struct msim_error *err);

#define MSIM_CUDA(call) msim_cuda_status((call), #call, err)

/* ---- memory -------------------------------------------------------------- */

/* Device memory; `*out` is NULL after a failure. Of 0 bytes some. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_alloc(void **out, size_t bytes,
                                 struct msim_error *err);

/* The same, full of random numbers of a dtype, `low` to `high`. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_random(void **out, size_t elems,
                                  enum msim_dtype dtype, double low,
                                  double high, struct msim_error *err);

/* ---- operations ---------------------------------------------------------- */

/* What is put on a stream, once a run. */
struct msim_cuda_op {
    void *state;
    enum msim_status (*launch)(void *state, cudaStream_t stream,
                               struct msim_error *err);
    void (*release)(void *state);
    bool waits; /* launch() returns when it is done: no spinning before it */
};

/* An operation of each table that launches kernels. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_gemm(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cuda_conv(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cuda_vector(struct msim_cuda *c,
                                  const struct msim_experiment *e,
                                  struct msim_cuda_op *out,
                                  struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cuda_copy(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err);

/* The case that times an operation (profilers/README.md). Takes `op` and
 * `concurrent`, which may be NULL, also on failure. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_time(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *op,
                                struct msim_cuda_op *concurrent,
                                struct msim_case *out, struct msim_error *err);

/* The operation of such a case that runs alone; NULL for others. */
struct msim_cuda_op *msim_cuda_case_op(const struct msim_case *c);

/* Such cases in a row, and one over and over (profilers/serve.h). */
MSIM_MUST_CHECK
enum msim_status msim_cuda_together(struct msim_cuda *c,
                                    const struct msim_case *cases,
                                    const uint32_t *order, uint32_t n,
                                    double *us, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cuda_sustain(struct msim_cuda *c,
                                   const struct msim_case *what, double seconds,
                                   struct msim_sustained *out,
                                   struct msim_error *err);

/* Read the hardware counters of such a case; ENOMODEL for others. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_count_case(const struct msim_case *c,
                                      struct msim_counts *out,
                                      struct msim_error *err);

/* A collective of all its ranks as a concurrent operation: rank 0 runs on the
 * stream that it is launched on. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_collective_op(struct msim_cuda *c,
                                         const struct msim_experiment *e,
                                         struct msim_cuda_op *out,
                                         struct msim_error *err);

/* A kernel that does nothing. */
struct msim_cuda_op msim_cuda_empty(void);

/* ---- CUPTI's records ----------------------------------------------------- */

/* Kernels, copies and memsets of one of CUPTI's streams, ours apart. */
struct msim_cuda_seen {
    uint32_t n;
    double us;                      /* their sum */
    uint64_t first_start, last_end; /* CUPTI's clock, ns */
};

/*
 * The records of activities that began at `since_ns` or later, as far as clocks
 * of host and device agree, and came in since the last call. CUPTI may deliver
 * records late: waits a little until there are `n` of them. Where CUPTI fails
 * the device counts as broken.
 */
MSIM_MUST_CHECK
enum msim_status msim_cuda_look(struct msim_cuda *c, uint64_t since_ns,
                                uint32_t n, struct msim_cuda_seen *out,
                                struct msim_error *err);

/*
 * Pause CUPTI's records, and resume them: recording makes launches and the gaps
 * between kernels longer. Where they cannot be the device counts as broken.
 */
MSIM_MUST_CHECK
enum msim_status msim_cuda_unseen(struct msim_cuda *c, struct msim_error *err);
void msim_cuda_seen_again(struct msim_cuda *c);

/* CUPTI's clock now, in ns. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_cupti_ns(uint64_t *ns, struct msim_error *err);

/* ---- hardware counters --------------------------------------------------- */

/* Find out whether they are likely to be read, for the greeting. */
void msim_cuda_counters_open(struct msim_cuda *c);
void msim_cuda_counters_close(struct msim_cuda *c);

/* Run an operation some times more, its operands in the caches where `warm`,
 * and read what was counted. ENOMODEL where that cannot be. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_count(struct msim_cuda *c, struct msim_cuda_op *op,
                                 bool warm, struct msim_counts *out,
                                 struct msim_error *err);

/* ---- cases with clocks of their own -------------------------------------- */

MSIM_MUST_CHECK
enum msim_status msim_cuda_latency(struct msim_cuda *c,
                                   const struct msim_experiment *e,
                                   struct msim_case *out,
                                   struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cuda_collective(struct msim_cuda *c,
                                      const struct msim_experiment *e,
                                      struct msim_case *out,
                                      struct msim_error *err);

/* Let the device work until its clock has risen; a moment where it still is as
 * high as the last time. */
MSIM_MUST_CHECK
enum msim_status msim_cuda_wake(struct msim_cuda *c, struct msim_error *err);

/* Versions of libraries as members; release of their handles (NULL: none). */
void msim_cublas_version(struct msim_json *out);
void msim_cudnn_version(struct msim_json *out);
void msim_nccl_version(struct msim_json *out);
void msim_cublas_free(struct msim_cublas *b);
void msim_cudnn_free(struct msim_cudnn *d);
void msim_nccl_free(struct msim_nccl *n);

/* Microseconds since some moment. */
double msim_cuda_now_us(void);

#endif
