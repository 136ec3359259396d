/*
 * profilers/counters.h - what hardware counters say of one run of an operation:
 * figures, and the metrics of NVIDIA's chips that they are sums of.
 *
 * A figure is a sum of metrics, each with a weight: the operations in fp32 are
 * the FADD and FMUL instructions of threads, and twice the FFMA. Chips differ
 * in which metrics they have and in what these are called; a figure of which a
 * part is missing is not known. No device and no library of a vendor is needed
 * here.
 */
#ifndef MSIM_PROFILERS_COUNTERS_H
#define MSIM_PROFILERS_COUNTERS_H
#include "core/base/json.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, the word); an operation is a sum or a product. */
#define MSIM_FIGURE_MAP(X)                                                     \
    X(DRAM_READ, "dram_read_bytes")                                            \
    X(DRAM_WRITE, "dram_write_bytes")                                          \
    X(L2, "l2_bytes")                                                          \
    X(FP64, "flops_fp64")                                                      \
    X(FP32, "flops_fp32")                                                      \
    X(FP16, "flops_fp16")                                                      \
    X(TENSOR, "flops_tensor")                                                  \
    X(TENSOR_INT8, "ops_tensor_int8")                                          \
    X(TENSOR_INSTRUCTIONS, "tensor_instructions")

enum msim_counter_figure {
#define X(name, text) MSIM_FIGURE_##name,
    MSIM_FIGURE_MAP(X)
#undef X
        MSIM_FIGURE_COUNT
};

const char *msim_figure_text(enum msim_counter_figure f);

/* Of one run; NAN: the chip has no counters for that. */
struct msim_counts {
    double of[MSIM_FIGURE_COUNT];
    uint32_t passes; /* runs that it took: there are more metrics than
                        registers that count */
};

/* As members, with "passes" and, under "missing", the words of what is not
 * known. */
void msim_counts_write(const struct msim_counts *c, struct msim_json *out);

/* ---- metrics ------------------------------------------------------------- */

#define MSIM_METRICS 48

struct msim_metrics {
    struct msim_metric {
        char name[96]; /* summed over the chip: "dram__bytes_read.sum" */
        enum msim_counter_figure figure;
        double weight;
    } list[MSIM_METRICS];
    uint32_t n;
    uint64_t parts; /* that were found, as bits */
};

/* Take a counter that the chip has ("dram__bytes_read") where a figure wants
 * it; `*m` is zeroed before the first. */
void msim_metrics_offer(struct msim_metrics *m, const char *counter);

/* The figures, of a value of each metric; `passes` is left. */
void msim_metrics_sum(const struct msim_metrics *m, const double *values,
                      struct msim_counts *out);

/* ---- permission ---------------------------------------------------------- */

/*
 * Whether the driver lets this process read counters, from the text of its
 * parameters (/proc/driver/nvidia/params) and of the process's status
 * (/proc/self/status); either may be NULL, and what does not say no is no
 * refusal.
 */
bool msim_counters_allowed(const char *params, const char *status);

#endif
