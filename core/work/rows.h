/*
 * core/work/rows.h - rows of a table of measured times as works.
 *
 * The columns of its header, in any order, decide which table it is; further
 * columns are ignored:
 *   gemm             m n k dtype [batch] [layout]
 *   attention        phase batch heads kv_heads q_len kv_len head_dim dtype
 *                    [v_head_dim] [kv_dtype] [window] [pass: forward, backward]
 *   vector           op dtype shape [bytes]
 *   collective       collective ranks bytes [nodes] [interconnect]
 *                    [algorithm] [setting] [dtype]
 *   conv             n c h w k r s stride pad [groups] [op] [dtype]
 *   moe              tokens hidden inter topk experts dtype [tp] [ep]
 *                    [distribution: balanced, power_law_ALPHA, random] [gated]
 *   expert_dispatch  collective tokens hidden topk experts [ranks] [sms]
 * and with each of them source, framework, version, backend.
 */
#ifndef MSIM_CORE_WORK_ROWS_H
#define MSIM_CORE_WORK_ROWS_H
#include "core/base/csv.h"
#include "core/work/work.h"

/* X(name, the word). What is timed and is no row of a table: copies between
 * memories, latencies, and what dispatching an operator takes of the host
 * (profilers/experiment.h). */
#define MSIM_TABLE_MAP(X)                                                      \
    X(GEMM, "gemm")                                                            \
    X(ATTENTION, "attention")                                                  \
    X(VECTOR, "vector")                                                        \
    X(CONV, "conv")                                                            \
    X(COLLECTIVE, "collective")                                                \
    X(MOE, "moe")                                                              \
    X(EXPERT_DISPATCH, "expert_dispatch")                                      \
    X(COPY, "copy")                                                            \
    X(LATENCY, "latency")                                                      \
    X(DISPATCH, "dispatch")

enum msim_table {
#define X(name, text) MSIM_TABLE_##name,
    MSIM_TABLE_MAP(X)
#undef X
        MSIM_TABLE_COUNT
};
const char *msim_table_text(enum msim_table t);
/* The table with this word, or MSIM_TABLE_COUNT; `text` may be NULL. */
enum msim_table msim_table_parse(const char *text);

#define MSIM_ROW_COLUMNS 48

/* Which column of a table holds what; made by msim_row_map_init(). */
struct msim_row_map {
    enum msim_table table;
    uint32_t column[MSIM_ROW_COLUMNS]; /* UINT32_MAX: absent */
};

/*
 * Find the columns of `csv`. EFORMAT, listing what was wanted, where the
 * header is that of no table.
 */
MSIM_MUST_CHECK
enum msim_status msim_row_map_init(struct msim_row_map *map,
                                   struct msim_csv *csv,
                                   struct msim_error *err);

/*
 * The work of one row. Returns NULL, or why the row cannot be a work ("m is
 * 'x', want a whole number above 0"), in `reason` (at least 128 bytes). Texts
 * of the work point into `fields`.
 */
const char *msim_row_work(const struct msim_row_map *map, char *const *fields,
                          struct msim_work *w, char *reason, size_t size);

#endif
