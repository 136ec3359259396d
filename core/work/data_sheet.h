/*
 * core/work/data_sheet.h - data sheets of GPUs, and what differs between
 * versions of the libraries on them.
 */
#ifndef MSIM_CORE_WORK_DATA_SHEET_H
#define MSIM_CORE_WORK_DATA_SHEET_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/work/work.h"

#include <stdint.h>

/* ---- data sheet ---------------------------------------------------------- */
/*
 * The data sheet of a GPU, as numbers in plain units.
 *
 * Laws take it together with a work, so that constants fitted on one GPU carry
 * over to another of its generation by the ratio of the data sheets.
 */

/* X(name, key in the platform file): dense rates, tensor cores where the
 * GPU has them for that type. */
#define MSIM_RATE_MAP(X)                                                       \
    X(FP64, "fp64_flops")                                                      \
    X(FP32, "fp32_flops")                                                      \
    X(TF32, "tf32_flops")                                                      \
    X(FP16, "fp16_flops")                                                      \
    X(FP8, "fp8_flops")                                                        \
    X(INT8, "int8_ops")                                                        \
    X(FP4, "fp4_flops")

/* The time of a message between nodes over RDMA, switches included, where
 * neither platform nor network gives it. */
#define MSIM_NETWORK_LATENCY_US 5

enum msim_rate {
#define X(name, key) MSIM_RATE_##name,
    MSIM_RATE_MAP(X)
#undef X
        MSIM_RATE_COUNT
};

struct msim_data_sheet {
    double rate[MSIM_RATE_COUNT];  /* FLOP/s; where the GPU lacks a type, that
                                      of the type it falls back to */
    bool missing[MSIM_RATE_COUNT]; /* no figure in the file */
    bool no_bf16;                  /* it says that there is no unit for it */
    double sustained;    /* share of the rates that power allows for long; 1
                            where more than that is not known */
    double product_fp32; /* share of the fp32 rate, as sustained, that products
                            can reach; 1: no limit is known */
    double sms;
    double memory_bytes, l2_bytes;
    double usable_bytes;   /* of the memory: what programs get of it */
    double bandwidth;      /* bytes/s of device memory */
    double stream;         /* share of it that long streams reach; 1: no limit
                              is known */
    double dies;           /* each with an L2 cache of its own */
    double shared_cache;   /* bytes/s of the cache that dies share; 0: none */
    double floor_us;       /* the shortest kernel */
    double attention_us;   /* the shortest attention kernel; 0: not known */
    double pcie;           /* bytes/s, one direction, pinned memory */
    double pageable;       /* bytes/s of copies from pageable memory */
    double link;           /* bytes/s one GPU sends inside a node */
    bool no_link;          /* nothing gives it: that is a typical figure */
    double network;        /* bytes/s one network card sends */
    double cards_per_gpu;  /* network cards of a node over its GPUs */
    double latency_us;     /* of a message between nodes */
    bool in_switch;        /* switches inside a node can add up */
    double mesh;           /* peers in a node that `link` is dealt to, each
                              with a link of its own; 0: any gets all of it */
    bool miopen;           /* convolutions are MIOpen's, else cuDNN's */
    double pytorch;        /* its version ("stack"): what the user says, not the
                              data sheet; 0: any */
    double trace_factor;   /* 90 %: the kernels of one machine together take
                              this factor more or less than predicted */
    double index_skew;     /* of look-ups into tables: as in law.h; what the
                              user says, not the data sheet */
    double clock_hz;       /* boost clock of the SMs; 0: not known */
    double power_watts;    /* limit of the board; 0: not known */
    char generation[24];   /* "hopper": GPUs that run the same kernels; the
                              platform says it beside its data sheet */
    double capability;     /* CUDA's compute capability, "8.6"; 0: none */
    char interconnect[48]; /* inside a node: "NVLink3-NVSwitch" */
    char internode[48];    /* between nodes: "NVLink4-NVSwitch+IB" */
};

/* The rate that arithmetic on `dtype` runs at; `variant` as in a work. */
enum msim_rate msim_data_sheet_rate(enum msim_dtype dtype, const char *variant);

/* The same on this GPU: one without TF32 has fp32's rate in that place, and
 * runs plain fp32. */
enum msim_rate msim_data_sheet_rate_on(const struct msim_data_sheet *s,
                                       enum msim_dtype dtype,
                                       const char *variant);

/* The data sheet's rate in FLOP/us, which MFU counts from. */
double msim_data_sheet_peak_per_us(const struct msim_data_sheet *s,
                                   const struct msim_work *w);

/* Sustained rate in FLOP/us, the unit the laws divide by. */
double msim_data_sheet_flops_per_us(const struct msim_data_sheet *s,
                                    const struct msim_work *w);

/*
 * The distance of two GPUs: the largest ratio, as a logarithm, of their SMs,
 * bandwidths and sustained fp32 and fp16 rates.
 */
double msim_data_sheet_distance(const struct msim_data_sheet *a,
                                const struct msim_data_sheet *b);

/*
 * Read the "data_sheet" object of a platform. The fp32 rate, SMs, memory, its
 * bandwidth and the L2 cache are required. What hardly differs inside a
 * generation (floor, links, copies) may be missing and is taken from `like`, or
 * is typical where that is NULL. EFORMAT, naming `file` and the member, where a
 * required one is missing, or one is not above 0.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_sheet_read(struct msim_data_sheet *s,
                                      const cJSON *sheet,
                                      const struct msim_data_sheet *like,
                                      const char *file, struct msim_error *err);

/* ---- kernel type --------------------------------------------------------- */
/* The types of elements and of arithmetic, from the name of a kernel. */

/* The type that a kernel's name states, of a template or a product; UNKNOWN
 * where it states none. */
enum msim_dtype msim_kernel_stated_dtype(const char *name);

/* The rate of the arithmetic of a product's kernel; half precision, the usual,
 * where the name does not show it. */
enum msim_rate msim_kernel_rate(const char *name);

/* The type of a product's inputs at that rate. */
enum msim_dtype msim_kernel_rate_dtype(enum msim_rate rate, const char *name);

/* The type of the elements of a template; fp32 where the name does not show
 * it. */
enum msim_dtype msim_kernel_dtype(const char *name);

/* ---- stack --------------------------------------------------------------- */
/*
 * Versions of PyTorch, and of the libraries that come with it, which compute
 * some operators by other kernels than other versions do.
 *
 * The name of a platform may end in one:
 *
 *     h100@pytorch-2.9
 *
 * Without it a time is in the middle of the versions, or that of most of them.
 */

struct msim_stack {
    const char *name; /* "pytorch-2.9" */
    double pytorch;   /* its version; 0: any */
    const char *says; /* what it computes in another way, for people */
};

/* All of them, the oldest first; NULL beyond the last. */
const struct msim_stack *msim_stack_at(uint32_t i);

/* Where the name of a stack begins in the name of a platform, behind an '@'
 * that follows the last '/'; NULL where it has none. */
const char *msim_stack_in(const char *platform);

/* EUNKNOWN where there is no such stack; `err` lists those that there are. */
MSIM_MUST_CHECK
enum msim_status msim_stack_find(const struct msim_stack **out,
                                 const char *name, struct msim_error *err);

#endif
