/*
 * models/platform/platform.h - platforms: a data sheet and all fits of one GPU,
 * found by name, with the networks it may have.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_H
#define MSIM_MODELS_PLATFORM_PLATFORM_H
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/trace/trace.h"
#include "models/platform/sm_clock.h"

#include <stdbool.h>

/* ---- data path ----------------------------------------------------------- */
/*
 * The files of data/platforms, data/hosts and data/networks by their names.
 *
 * A kind is the word for one such thing ("host"); its files are
 * DATA_DIR/KINDs/NAME.json.
 */

/* Whether `name` is the path of a file: it holds a '/' or ends in .json. */
bool msim_data_is_path(const char *name);

/*
 * The names of the files of a kind, sorted by their bytes; `*names` is an array
 * of `*n` texts, all owned by `arena`. EIO where the folder cannot be opened.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_list(struct msim_arena *arena, const char *data_dir,
                                const char *kind, const char *const **names,
                                uint32_t *n, struct msim_error *err);

/* Put base + tail into `path`; true where that is a data folder: it holds
 * platforms/. */
bool msim_data_folder(char *path, size_t size, const char *base,
                      const char *tail);

/* The error EUNKNOWN for `name`, which says the one that it was meant to be and
 * lists the `n` known names. */
MSIM_MUST_CHECK
enum msim_status msim_data_unknown(const char *kind, const char *name,
                                   const char *const *names, uint32_t n,
                                   struct msim_error *err);

/*
 * The path of the file `name`: `name` itself where it is a path, else that of
 * the file with this name in upper or lower case. EUNKNOWN where there is none.
 */
MSIM_MUST_CHECK
enum msim_status msim_data_path(char *path, size_t size, const char *data_dir,
                                const char *kind, const char *name,
                                struct msim_error *err);

/* ---- network ------------------------------------------------------------- */
/*
 * The network between nodes, which is described apart from the GPU.
 *
 * Read from data/networks/NAME.json, where every figure has its provenance. A
 * file has "parameters" of the network, or "cells" (fits) of collectives that
 * were measured (`mystique-sim calibrate` writes them, with the data sheet that
 * their laws use), or both.
 */

struct msim_network {
    char name[48], title[96], path[1400];
    bool measured; /* the file is also a platform, with fits of collectives */
    /* All 0: the file has no "parameters". */
    double card_rate;      /* bytes/s of one network card, one direction */
    double cards_per_node; /* that collectives can use at once */
    double gpus_per_node;
    double latency_us; /* of a message, as a library sees it */
};

/*
 * Load a network by name (case-insensitive) from `data_dir`/networks, or by
 * file path (a name that holds a '/' or ends in .json). An unknown name is
 * EUNKNOWN and `err` lists the known ones; EFORMAT names what is missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_network_load(struct msim_network *out,
                                   const char *data_dir, const char *name,
                                   struct msim_error *err);

/* ---- platform ------------------------------------------------------------ */
/*
 * A platform: a GPU or a CPU, with the links between several, as a data sheet
 * and fits of laws.
 *
 * Read from data/platforms/NAME.json, where every figure has its value, unit
 * and provenance (data sheet or fit, rows, range, residual). A new GPU is one
 * more such file: data/platforms/README.md. A platform without fits of its own
 * uses those of other platforms that stand in for it (fit.h).
 *
 * Estimates read a platform only, so that several threads can share it. Not
 * thread-safe while one of the functions that take it without const is called.
 */

struct msim_platform; /* opaque */

/*
 * Load a platform by name, by alias (both in upper or lower case) or by file
 * path (it holds a '/' or ends in .json), with a stack or without one
 * ("h100@pytorch-2.9", core/work/data_sheet.h). Names are those of
 * `data_dir`/platforms. EUNKNOWN where a name is unknown; `err` lists the known
 * ones. On success `*out` is the caller's, to free with msim_platform_free();
 * on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);
/* Accepts NULL. */
void msim_platform_free(struct msim_platform *p);

/*
 * A copy of a platform, to set in other ways, as it was loaded: before it was
 * paired. It shares the fits of `p`, which must outlive it. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_copy(struct msim_platform **out,
                                    const struct msim_platform *p);

/*
 * Pair two platforms whose ratio scales measured times from one to the other.
 * Where one has no fit, the other's fit stands in before those of all others:
 * its error then is in both estimates and not in their ratio. Both must live as
 * long as either is used. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_pair(struct msim_platform *a,
                                    struct msim_platform *b);

/* Use the network `n` between nodes, instead of the network that the platform
 * was measured with. One with the figures of its data sheet is that network:
 * what was measured over it still counts. */
void msim_platform_join(struct msim_platform *p, const struct msim_network *n);
/* Estimate collectives by the fits of `links` where it has such fits, instead
 * of by those of `p`. `links` must live as long as `p` is used. */
void msim_platform_link(struct msim_platform *p,
                        const struct msim_platform *links);
/*
 * Both, by what the file of `n` has: its cards, what was measured over it, or
 * each. `p` owns what is read for it (from `n->path`, whose errors these are);
 * collectives of `p` are as before on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_connect(struct msim_platform *p,
                                       const struct msim_network *n,
                                       const char *data_dir,
                                       struct msim_error *err);

/*
 * Set the clock of the SMs of `p`, or a power cap. Statuses as those of
 * msim_clock_solve(); on failure `p` is unchanged.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_set_clock(struct msim_platform *p,
                                         const struct msim_clock_wish *w,
                                         struct msim_error *err);
/* Set the skew of look-ups into tables, as in msim_gather_hits(). */
void msim_platform_set_index_skew(struct msim_platform *p, double skew);
/* The clock of the SMs; ratio 0: the usual one. */
const struct msim_sm_clock *msim_platform_clock(const struct msim_platform *p);

const char *msim_platform_name(const struct msim_platform *p);
/* The product's name, as "NVIDIA A100-SXM4-80GB". */
const char *msim_platform_title(const struct msim_platform *p);
/* "hopper": GPUs that run the same kernels. */
const char *msim_platform_generation(const struct msim_platform *p);
/* GPUs that are linked without a network between nodes: 72 where the maker
 * names a rack of 72, else those of a usual server. */
uint32_t msim_platform_gpus_a_node(const struct msim_platform *p);
/* Rows of measured operators and collectives on it that its fits saw; 0: it
 * goes by fits of others. */
uint64_t msim_platform_rows(const struct msim_platform *p);
/* The platform that it was made from, with what traces say; "" for others. */
const char *msim_platform_base(const struct msim_platform *p);
/* The file that it was read from. */
const char *msim_platform_file(const struct msim_platform *p);

/* Whether it is a CPU, on which an operator runs in the thread that calls it.
 */
bool msim_platform_is_host(const struct msim_platform *p);
/* Dense peak rate in FLOP/s for the dtype; of fp32 plain, or with variant
 * "tf32" that of TF32. */
double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype, const char *variant);
/* Peak rate of device memory, bytes/s. */
double msim_platform_bandwidth(const struct msim_platform *p);
/* Memory of the GPU, bytes. */
double msim_platform_memory_bytes(const struct msim_platform *p);
/* What programs get of it: what its traces state, else all of it. */
double msim_platform_usable_bytes(const struct msim_platform *p);
/* What one GPU sends to others inside a node, bytes/s. */
double msim_platform_link_rate(const struct msim_platform *p);
uint32_t msim_platform_sms(const struct msim_platform *p);
/*
 * The 90 % interval, as a factor up and down, of the ratio of all kernels' time
 * on one machine to the prediction for its GPU, where a trace of another
 * machine tells the times; else models/estimate/model.h says. Machines
 * differ in clocks, power, other users and libraries.
 */
double msim_platform_trace_factor(const struct msim_platform *p);
/* The time of a kernel that runs concurrently with a collective, over its time
 * alone, 1 or more; 0: not calibrated. */
double msim_platform_slowdown(const struct msim_platform *p);

/* Kinds (enum msim_factor) that tables of operators have rows of on that very
 * GPU: these tell their times better than whole programs do. A bit each, 1 <<
 * kind. */
uint32_t msim_factor_kinds_with_rows(const struct msim_platform *p);

/* ---- platform nearest ---------------------------------------------------- */
/*
 * What stands in for a traced GPU that is not known.
 *
 * The nearest of the known GPUs is one of the same maker with the nearest
 * compute capability, and among these the one whose numbers of multiprocessors
 * and bytes of memory are nearest. Names of kernels and times are not read.
 */

/*
 * The name of the platform that is nearest to the GPU `gpu` with properties
 * `g`, owned by `arena`. NULL where the trace does not have its number of
 * multiprocessors or its compute capability, or where its maker has none.
 */
const char *msim_platform_nearest(struct msim_arena *arena,
                                  const char *data_dir, const char *gpu,
                                  const struct msim_gpu_properties *g);

/*
 * Make a loaded platform the GPU with properties `g` that it is nearest to: as
 * many multiprocessors, rates in proportion, its memory. The bandwidth is not
 * in a trace and stays; the interval of all kernels is wider for that. Its name
 * becomes "near NAME". Before platforms are paired and clocks set.
 */
void msim_platform_liken(struct msim_platform *p,
                         const struct msim_gpu_properties *g);

/* ---- platform find ------------------------------------------------------- */
/* The files of data/platforms by name, alias and device. */

/* The names of the platforms in `data_dir`/platforms, as msim_data_list(). */
MSIM_MUST_CHECK
enum msim_status msim_platform_list(struct msim_arena *arena,
                                    const char *data_dir,
                                    const char *const **names, uint32_t *n,
                                    struct msim_error *err);

/* How a platform is called, by people (an alias) or by traces (a device). */
struct msim_platform_called {
    const char *platform;
    enum msim_called {
        MSIM_CALLED_GENERATION,
        MSIM_CALLED_ALIAS,
        MSIM_CALLED_DEVICE
    } kind;
    const char *name;
    double memory_from, memory_to; /* bytes, of a device */
    double sms;                    /* 0: the file does not say */
};

/*
 * All of that, in the order of platforms' names, from `data_dir`/platforms/
 * names.csv: no platform file is opened but those that the table is not of.
 * `*rows` is the caller's to free(), texts are the arena's. EIO where there is
 * no folder; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_calls(struct msim_arena *arena,
                                     const char *data_dir,
                                     struct msim_platform_called **rows,
                                     uint32_t *n, struct msim_error *err);

/*
 * The name of the platform that a traced GPU is, by its device name, memory and
 * number of SMs (the A100 of 40 GB is not that of 80 GB); 0 bytes or SMs: the
 * trace does not have them. NULL where none matches. The text is owned by
 * `arena`.
 */
const char *msim_platform_match(struct msim_arena *arena, const char *data_dir,
                                const char *gpu, uint64_t memory_bytes,
                                uint32_t sms);

/*
 * The path of the platform `name`: `name` itself where it is a path, else the
 * file with this name, else the file with this alias, in upper or lower case,
 * with blanks or underscores in place of dashes.
 * EUNKNOWN where there is none; `err` lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_find(char *path, size_t size,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);

/* Whether names.csv has `hash` (msim_hash_words()) for the file of `platform`,
 * a path from `data_dir`/platforms without its ".json":
 * it is as it was when the table was written, and looked at. */
bool msim_platform_is_shipped(const char *data_dir, const char *platform,
                              uint64_t hash);

/* The file of platform `name` as a tree, the caller's to delete; NULL where it
 * cannot be read. */
cJSON *msim_platform_json(const char *data_dir, const char *name);

#endif
