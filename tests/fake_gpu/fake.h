/*
 * tests/fake_gpu/fake.h - a GPU that is made up: what its libraries share.
 *
 * Time is a clock of its own: it moves when a call is made, by what such a call
 * takes a host, and when the host waits, to the moment that it waits for. So
 * an answer is the same in every run, and a second of work takes none. A piece
 * of work takes what its figures say, on a stream that is busy until then. The
 * programs' own clocks (clock_gettime(), nanosleep()) are this one, too.
 *
 * The environment's FAKE_GPU holds settings, with spaces or commas between:
 *
 *     gpus=N          devices [1]
 *     nvml_us=US      what a call of NVML takes, really [50, not really]
 *     late_us=US      after its end CUPTI knows of an activity [0]
 *     drift_ppm=N     by how much the device's clock is too fast [0]
 *     host_us=US      what a launch takes the host [2.2]
 *     no_fp32=1       cuBLASLt has no products of fp32
 *     no_cupti=1      another profiler has CUPTI
 *     no_nvml=1       NVML does not start
 *     leaks=1         say at the end what device memory was not freed
 *     CALL=once@N     the N-th call of CALL fails [@1]
 *     CALL=always@N   and all later ones
 *     CALL=hang@N     it never returns
 *     CALL=sticky@N   it leaves the context broken
 *
 * FAKE_GPU_COUNTS names a file that gets each call's name and number at the
 * end. What is wrong in FAKE_GPU ends the program at once; a call that is named
 * and was never made is said at the end.
 *
 * Mutable and global, against the rule: CUDA's state is a process's. Not
 * thread-safe.
 */
#ifndef MSIM_TESTS_FAKE_GPU_FAKE_H
#define MSIM_TESTS_FAKE_GPU_FAKE_H
#include <cupti.h>

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* ---- the device that it claims to be ------------------------------------- */

/* Whoever reads a file that came of it must see what it is. */
#define FAKE_NAME     "FAKE GPU, figures of an H100"
#define FAKE_SMS      132
#define FAKE_MEMORY   ((size_t)80 << 30)
#define FAKE_L2       ((size_t)50 << 20)
#define FAKE_MHZ      1980 /* at most; compute rates are those of this clock */
#define FAKE_MHZ_IDLE 345
#define FAKE_MHZ_HOT  1500 /* under full load */
#define FAKE_GPUS     16
/* Bytes/s of memory, which nothing exceeds. */
#define FAKE_BANDWIDTH 3.0e12

/* ---- clock and settings -------------------------------------------------- */

/* The host's clock, ns. */
uint64_t fake_now(void);
void fake_pass(uint64_t ns);
void fake_wait_until(uint64_t ns);

/* What CUPTI's clock says then, on the host and on the device. */
uint64_t fake_host_stamp(uint64_t ns);
uint64_t fake_device_stamp(uint64_t ns);

double fake_setting(const char *name, double otherwise);

/* A call of the API: it is counted, and its time passes. False: it is to fail.
 * `name` is a constant. */
bool fake_call(const char *name, uint64_t ns);

/* The number of that call, by which CUPTI knows what it launched. */
uint32_t fake_correlation(void);

/* Whether a sticky fault was asked of any call so far. */
bool fake_is_broken(void);
void fake_break(void);

/* ---- work ---------------------------------------------------------------- */

struct CUstream_st {
    int device;
    uint32_t id; /* CUPTI's number */
    uint64_t free_at;
    bool destroyed;
};

/* What a device is asked for at a time. */
struct fake_work {
    CUpti_ActivityKind kind;
    const char *name;     /* of a kernel; a constant */
    double flops, rate;   /* of this many a second */
    double read, written; /* bytes of the device's memory */
    double beside;        /* bytes of a link, at link_rate */
    double link_rate;
    double least_us;     /* whatever there is to do */
    double load;         /* of the power, 0 to 1 */
    const void *operand; /* by which the cache knows it again */
    unsigned grid, block;
    CUpti_ActivityMemcpyKind copy;
    CUpti_ActivityMemoryKind from, to;
    uint64_t bytes; /* of a copy or memset */
    int flop_kind;  /* of FAKE_FLOPS_... */
};
enum { FAKE_FLOPS_NONE, FAKE_FLOPS_FP64, FAKE_FLOPS_FP32, FAKE_FLOPS_TENSOR };

/* Put work on a stream (NULL: the default one), as a launch does; the call that
 * did was the last of fake_call(). */
void fake_submit(cudaStream_t stream, const struct fake_work *w);

/* The same, to begin no earlier than `at`; returns when it ends. */
uint64_t fake_submit_at(cudaStream_t stream, const struct fake_work *w,
                        uint64_t at);

/* A launch of a kernel by the runtime. */
cudaError_t fake_launch(cudaStream_t stream, const struct fake_work *w);

struct CUstream_st *fake_stream(cudaStream_t stream);
int fake_devices(void);
int fake_current_device(void);

/* Whether that is device memory, `bytes` of it; where it is not, the context is
 * broken, as by a kernel that reads what is not its own. */
bool fake_owns(const void *memory, double bytes);

/* ---- what a device is doing ---------------------------------------------- */

struct fake_figures {
    double busy_ns, joules; /* since the beginning */
    double read, written;   /* bytes of memory */
    double flops[4];        /* by FAKE_FLOPS_... */
    double load;            /* now */
};
struct fake_figures fake_figures(int device);
unsigned fake_mhz(double load);

/* ---- CUPTI --------------------------------------------------------------- */

/* What CUPTI may be told of. */
struct fake_activity {
    struct fake_work work;
    uint32_t stream, device, correlation;
    uint64_t start, end; /* host's clock */
};
void fake_cupti_note(const struct fake_activity *a);
void fake_cupti_note_call(const char *name, uint64_t start, uint64_t end,
                          uint32_t correlation);
bool fake_cupti_is_recording(void);

#endif
