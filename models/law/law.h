/*
 * models/law/law.h - laws: work and data sheet in, time out, with a few
 * constants; and what laws share.
 */
#ifndef MSIM_MODELS_LAW_LAW_H
#define MSIM_MODELS_LAW_LAW_H
#include "core/work/data_sheet.h"
#include "core/work/work.h"

#include <stdbool.h>

/* ---- law ----------------------------------------------------------------- */
/*
 * A law: time as a formula of a data sheet, a work and a few constants, and the
 * features that its correction depends on.
 *
 *     time = law(data sheet, work, constants) * exp(correction(features))
 *
 * The constants and the correction for one stack on one GPU are a fit
 * (models/platform/fit.h). Calibration (calibrate/) and prediction use the same
 * functions. A law is pure: it knows no platform and keeps no state.
 *
 * A new law is a file models/law/NAME_law.c and a line in models/law/law.c.
 */

#define MSIM_LAW_PARAMS   10
#define MSIM_LAW_FEATURES 32

struct msim_param {
    const char *name, *unit;
    double start;     /* where a fit starts; a typical value */
    double low, high; /* bounds of a fit, both above 0 */
};

struct msim_law {
    const char *name;
    const struct msim_param *params;
    uint32_t n_params;
    const char *const *features;
    uint32_t n_features;
    /* The first `n_sizes` features are logarithms of sizes. They define the
     * range that a fit covers. */
    uint32_t n_sizes;
    /* The first `n_names` of these identify a model (hidden size, experts)
     * rather than a size that a kernel sees. They define the range, too, but
     * trees do not split at them: they would learn models by heart. */
    uint32_t n_names;
    /* Standard deviation of the logarithm of one work's time between stacks on
     * the same GPU. It is added where another stack's fit stands in, and for
     * bare kernels, whose library is not known. */
    double stack_log_sd;
    /* The same between keys, `wanted` and `found`; NULL: other_key,log_sd
     * for all pairs. */
    double (*key_log_sd)(const char *wanted, const char *found);
    /* On another GPU the constant part scales with the time of its shortest
     * kernel. Seen in products: with each of six GPUs held out, fits of other
     * generations err by 18.7 % with it and by 21.3 % without it. In attention
     * it makes no difference. */
    bool start_follows_floor;
    /* Where a fit is used without its correction, on another GPU, a constant is
     * at least this; 0: as fitted. Rows of small sizes tell some constants
     * badly, for which the correction makes up. */
    double carried_low[MSIM_LAW_PARAMS];
    /* Where a fit is used without its correction, on another GPU: set the
     * constants that follow other figures of the data sheet `to`. NULL: none
     * do. */
    void (*carry)(const struct msim_data_sheet *to, double *params);
    /* The time in microseconds, above 0. params[0] is always the constant
     * part, in microseconds. */
    double (*time_us)(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params);
    /* Fill the `n_features` features `x`. */
    void (*describe)(const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x);
    /* Fill the first `n_sizes` of these alone, which most works need where
     * nothing corrects the law; NULL: there are few others. */
    void (*sizes)(const struct msim_data_sheet *s, const struct msim_work *w,
                  double *x);
    /* The key of the work's fit among those of one law and framework, at most
     * `size` bytes. */
    void (*key)(const struct msim_work *w, char *text, size_t size);
};

extern const struct msim_law MSIM_LAW_GEMM;
extern const struct msim_law MSIM_LAW_ATTENTION;
extern const struct msim_law MSIM_LAW_CONV;
extern const struct msim_law MSIM_LAW_VECTOR;
extern const struct msim_law MSIM_LAW_MOE;
extern const struct msim_law MSIM_LAW_COLLECTIVE;
extern const struct msim_law MSIM_LAW_DISPATCH;
/* For CPUs. */
extern const struct msim_law MSIM_LAW_CPU_GEMM;
extern const struct msim_law MSIM_LAW_CPU_CONV;
extern const struct msim_law MSIM_LAW_CPU_VECTOR;

/* The law with this name, or NULL. */
const struct msim_law *msim_law_find(const char *name);
/* The law for a family of works on a CPU (`host`) or a GPU; NULL where there is
 * none. */
const struct msim_law *msim_law_of(enum msim_family f, bool host);

/*
 * What a measurement of whole calls adds to the time of a kernel: calls take at
 * least `least_us` each, and a longer kernel takes `added_us` more than by
 * itself (events, the way to the GPU). Zeros: it adds nothing.
 */
struct msim_gap {
    double least_us, added_us;
};

/* The time of a call that is measured so, microseconds: the smooth maximum of
 * `least_us` and the kernel with `added_us`. */
double msim_with_gap(double kernel_us, struct msim_gap gap);
/* The share, 0..1, of a relative change of the kernel's time that shows in
 * msim_with_gap(). */
double msim_gap_share(double kernel_us, struct msim_gap gap);

/* (a^p + b^p)^(1/p), the smooth maximum of two times, for p >= 1. */
double msim_norm2(double a, double b, double p);

/* ---- law kind ------------------------------------------------------------ */
/*
 * The kind of a work: its law, and which kernel PyTorch or a library takes for
 * its shape.
 *
 * Works of one kind are run by like kernels, so that what was measured of some
 * tells of the others: factors that are learned (models/factor/levels.h) go
 * by kinds, and experiments are made for each
 * (profilers/torch/kernel_cases.py).
 */

/*
 * Law, key and, on a GPU, the words for its kernel: "gemm half", "gemm half,
 * odd rows", "vector softmax, a warp a row"; "" where no law covers it.
 */
void msim_law_kind(const struct msim_work *w, bool host, char *text,
                   size_t size);

/* ---- reduce grid --------------------------------------------------------- */
/*
 * The grid of PyTorch's kernel for reductions.
 *
 * The one kernel for sums, means, norms and extrema (reduce_kernel) gives each
 * thread a part of the inputs of an output; a thread has four loads in flight
 * at a time. Few outputs therefore make few blocks, whose threads wait: 512
 * rows of 1024 columns, summed over rows, are 8 blocks of 128 threads, and each
 * thread loads 128 / 4 = 32 times, one after the other, on 8 of a GPU's SMs.
 */

struct msim_reduce_grid {
    double blocks;  /* of the grid */
    double threads; /* of a block */
    double rounds;  /* loads of a thread that wait for each other */
    bool split;     /* several blocks share an output and add up their sums */
};

/*
 * The grid for `outputs` results of `inputs` numbers each, both at least 1, on
 * a GPU of `sms` SMs. `across`: the inputs of an output lie a row apart in
 * memory (sums over rows); else they are adjacent.
 */
struct msim_reduce_grid msim_reduce_grid_of(double outputs, double inputs,
                                            bool across, double sms);

/* ---- counted pace -------------------------------------------------------- */
/*
 * Paces of vector kernels that were counted from their source: threads whose
 * loads wait for each other (interpolation of maps, scans down columns, CTC),
 * distances of pairs of rows, sorts in shared memory.
 */

/* Is the vector work `w` one of these? Its interval is to be wide. */
bool msim_is_counted(const struct msim_work *w);

/* Microseconds that it takes, whatever memory could deliver. */
double msim_counted_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* ---- sm pace ------------------------------------------------------------- */
/*
 * Kernels of PyTorch whose pace the SMs set, not memory: windows of pooling and
 * depthwise filters, moments of norms, scans, look-ups, operands whose elements
 * are addressed one by one, products of odd sizes.
 */

/* Whether rows do not all begin on 16 bytes, so that loads are of one value. */
bool msim_rows_are_odd(const struct msim_work *w);

/* Microseconds that the SMs compute, or wait for loads that follow each other,
 * whatever memory could deliver; 0: memory alone sets the pace. */
double msim_sm_pace_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* The same for a convolution with a filter for each channel. */
double msim_sm_pace_depthwise_us(const struct msim_data_sheet *s,
                                 const struct msim_work *w);

/* The same by MIOpen's kernel for any convolution in groups. */
double msim_sm_pace_naive_us(const struct msim_data_sheet *s,
                             const struct msim_work *w);

/* The same for a matrix product by tensor cores whose operands' rows do not
 * begin on 16 bytes, so that it loads few elements at once; 0 where they do. */
double msim_sm_pace_product_us(const struct msim_data_sheet *s,
                               const struct msim_work *w);

/* What a matrix product takes beside its multiplications and its loads, where
 * nothing runs beside a tile on its SM: the shortest kernel, and filling and
 * emptying tiles. 0 where others do. */
double msim_sm_pace_tiles_us(const struct msim_data_sheet *s,
                             const struct msim_work *w);

/* Bytes that a softmax reads again: rows that do not fit into the shared memory
 * of an SM are read for the maximum, for the sum and for the result. */
double msim_softmax_again(const struct msim_data_sheet *s,
                          const struct msim_work *w);

/* The same for a kernel at the full rate of memory, whose rows pass by: wide
 * rows of a softmax or of its gradient, and of a layer norm, which reads them
 * for the moments and for the result. 0 for a softmax of rows that stay. */
double msim_rows_again(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* ---- gather -------------------------------------------------------------- */
/* The share of look-ups into a table that hit a cache. */

/*
 * The share, 0 to 1, of `lookups` independent look-ups into a table of `table`
 * rows that hit a cache of `cached` rows, which is empty at first. The
 * probability of row i (from 1) is in proportion to i^-skew: skew 0 is uniform,
 * 1 is Zipf's law. A look-up hits if its row was fetched before and was not
 * evicted since. The share is the minimum of two: the look-ups that repeat an
 * earlier one, and the hits of a full cache by the approximation of Che, Tung
 * and Wang ("Hierarchical web caching systems", 2002). 0 where a count is not
 * above 0.
 */
double msim_gather_hits(double lookups, double table, double cached,
                        double skew);

/*
 * How many different rows `lookups` such look-ups fetch; 0 where a count is not
 * above 0.
 */
double msim_gather_distinct(double lookups, double table, double skew);

/* ---- transfer ------------------------------------------------------------ */
/*
 * The ways to send the bytes of a collective or a point-to-point transfer, and
 * the time of the fastest.
 *
 * A way is an algorithm (who sends to whom, in how many steps, over which
 * wires) with a protocol (how a step is synchronised). A library takes the
 * fastest way, and so does the law:
 *
 *   time = t0 + min over ways of (hops * steps + wire / (link * efficiency))
 *
 *   algorithm  steps of r ranks        a rank's wire, over the buffer
 *   ring       2 (r - 1) or r - 1      2 (r - 1) / r or (r - 1) / r
 *   tree       2 log2 r or log2 r      2 (r - 1) / r or 1
 *   in-switch  2                       1 (the switch adds)
 *   pairwise   1 inside a node         (r - 1) / r
 *   one-shot   1                       r - 1 (each rank reads all others)
 *   two-shot   2                       2 (r - 1) / r
 *
 * Where there are two figures, the first is that of all-reduce (nccl-tests,
 * doc/PERFORMANCE.md, derives the wires). Protocols: LL sends a flag with every
 * 4 bytes and needs no fence; LL128 sends one with every 120 bytes and needs
 * NVLink; Simple has a fence in every step. Their hops are in proportion 0.6,
 * 1.9 and 3.4 (NCCL, src/graph/tuning.cc, hwLat for rings over NVLink).
 *
 * Between nodes, each node sends its share over the network cards that its
 * ranks can use. All-reduce, broadcast and reduce are a tree of nodes,
 * all-gather and reduce-scatter a ring, all-to-all a message to each rank of
 * other nodes.
 */

enum msim_transfer_param {
    MSIM_TRANSFER_T0,
    MSIM_TRANSFER_HOP,
    MSIM_TRANSFER_LL,
    MSIM_TRANSFER_LINK,
    MSIM_TRANSFER_SWITCH,
    MSIM_TRANSFER_CROWD,
    MSIM_TRANSFER_NET_HOP,
    MSIM_TRANSFER_NET,
    MSIM_TRANSFER_PARAMS
};
extern const struct msim_param MSIM_TRANSFER[MSIM_TRANSFER_PARAMS];

/* A way and its time. */
struct msim_transfer {
    const char *algorithm, *protocol;
    double us;
};

/* The fastest way for a work of the family collective. */
struct msim_transfer msim_transfer_choose(const struct msim_data_sheet *s,
                                          const struct msim_work *w,
                                          const double *params);

/* The time of its wire inside a node at the full rate of the link,
 * microseconds. */
double msim_transfer_wire_us(const struct msim_data_sheet *s,
                             const struct msim_work *w, const double *params);

/* Whether its ranks are more than the pair of GPUs that an NVLink bridge
 * joins. */
bool msim_transfer_leaves_pair(const struct msim_data_sheet *s,
                               const struct msim_work *w);
/* Whether its ranks share a PCIe tree. */
bool msim_transfer_on_pcie(const struct msim_data_sheet *s,
                           const struct msim_work *w);

/* ---- attention law ------------------------------------------------------- */
/* The law of attention as one kernel. */

/* Which of the sizes is the logarithm of the heads of keys. */
enum { MSIM_ATTENTION_SIZE_KV_HEADS = 2 };

/* "prefill", "decode" or "encoder": the key of the fits. */
const char *msim_attention_phase_text(const struct msim_work *w);

/* ---- collective law ------------------------------------------------------ */
/* The law of collectives and transfers. */

/*
 * The key of the fits for work `w` over `interconnect` by `algorithm` ("": not
 * known), which stand in for those that `w` names.
 */
void msim_collective_key(char *text, size_t size, const char *interconnect,
                         const char *algorithm, const struct msim_work *w);

/* Whether a key is of groups on several nodes. */
bool msim_collective_key_is_over_nodes(const char *key);

/* ---- conv law ------------------------------------------------------------ */
/* The law of convolutions on GPUs. */

/* "forward", "backward_data" or "backward_weight": the first part of the keys
 * of fits. */
const char *msim_conv_key_pass(enum msim_conv_pass pass);

/* ---- dispatch law -------------------------------------------------------- */
/* The law of tokens sent to the ranks of their experts. */

/* Ranks that share the experts, at least 2. */
double msim_dispatch_ranks(const struct msim_work *w);

/* Messages that a token is sent as, in the mean. */
double msim_dispatch_messages(const struct msim_work *w);

/* SMs that send. */
double msim_dispatch_sms(const struct msim_data_sheet *s,
                         const struct msim_work *w);

/* ---- gemm law ------------------------------------------------------------ */
/* The law of matrix products on GPUs. */

/*
 * The word for how a product is computed, by which fits are told apart: a
 * packed format by its name ("fp8_block"), any other by the rate that it runs
 * at ("half", "tf32").
 */
const char *msim_gemm_kind(const struct msim_work *w, enum msim_rate rate);

/* ---- moe law ------------------------------------------------------------- */
/* The law of one rank's share of a layer of experts. */

/* The first features tell models apart: hidden size, experts, experts a
 * token. */
#define MSIM_MOE_NAMES 3

/* Ranks that split the matrices of an expert, at least 1. */
double msim_moe_tp(const struct msim_work *w);

/* The number format that fits are told apart by: the work's variant, else its
 * dtype. */
const char *msim_moe_type(const struct msim_work *w);

/* The kernels behind the work's back end ("triton", "cutlass", ...); NULL where
 * its name does not say. */
const char *msim_moe_kernels(const struct msim_work *w);

/* ---- scatter law --------------------------------------------------------- */
/*
 * Convolutions by a product and a pass over its larger side, which has an
 * element for each filter tap: data gradients, and with them transposed
 * convolutions, whose products are added up in memory, and forward passes whose
 * image is copied into columns.
 */

/*
 * Microseconds that the additions take. Each element of the gradient is the sum
 * of a product for each tap of the filter that meets it: 27 / 8 of them for a
 * filter of 3 x 3 x 3 and strides of 2. Example: 252 million elements of such a
 * gradient are 850 million additions, which take 20 ms on an RTX A6000.
 */
double msim_scatter_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* Microseconds that a forward pass takes to copy the image into columns, for
 * the whole batch (Im2Col). */
double msim_columns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* ---- vector law ---------------------------------------------------------- */
/* The law of operators that move bytes and compute little. */

/* Whether it reads its input twice: statistics over a batch's channels are
 * wanted before the first result is written. */
bool msim_vector_is_read_twice(const struct msim_work *w);

/* Bytes that it moves, at least 1. */
double msim_vector_bytes(const struct msim_work *w);

/* The grid of a reduction whose direction (u.vector.fold) is known. */
struct msim_reduce_grid msim_vector_grid(const struct msim_data_sheet *s,
                                         const struct msim_work *w);

#endif
