/*
 * calibrate/serving/serving_fit.h - the constants of the law of served models,
 * from rows of closed loops.
 *
 * Least mean |log(measured / predicted)| of TPOT, and with less weight of TTFT,
 * by calibrate/steps/steps_fit.h. An engine's factor of a piece is a common
 * one, times one of the engine, times one of both where rows can tell it.
 */
#ifndef MSIM_CALIBRATE_SERVING_SERVING_FIT_H
#define MSIM_CALIBRATE_SERVING_SERVING_FIT_H
#include "serving/llm/llm_law.h"
#include "serving/rows/serve_rows.h"

/* ---- serving rows -------------------------------------------------------- */
/*
 * Rows of measured servers in a closed loop, with what the works of their steps
 * take.
 *
 * The table is read as `serve --rows` reads it (serving/rows), and has ttft_ms
 * and tpot_ms, measured. Disaggregated rows are counted and left out. Works are
 * priced once, so that a fit is a sum of products.
 */

/* A sum of parts, priced. */
struct msim_serving_sum {
    struct msim_llm_pieces pieces;
    double steps, seqs;
};

struct msim_serving_row {
    const struct msim_point_row *of; /* of the table's points */
    uint32_t model, gpu;             /* indices of the table's lists */
    enum msim_llm_engine engine;
    enum msim_quant dense, experts;
    struct msim_closed_loop loop;
    struct msim_llm_rank rank;
    double tpot_ms, ttft_ms; /* measured; 0: not */
    struct msim_serving_sum prefill, decode;
};

#define MSIM_SERVING_NAMES 64

struct msim_serving_table {
    struct msim_point_table points;
    struct msim_serving_row *rows;
    uint32_t n, cap;
    uint32_t left_out; /* disaggregated */
    uint32_t failed;   /* no model, platform, split or price */
    char why[256];     /* of the first that failed */
    char models[MSIM_SERVING_NAMES][64], gpus[MSIM_SERVING_NAMES][64];
    uint32_t n_models, n_gpus;
};

/* Read and price the table at `path`, with the platforms and laws of `data`.
 * Statuses as msim_csv_open(); ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_serving_rows_read(struct msim_serving_table *t,
                                        const char *path, const char *data,
                                        const char *models,
                                        struct msim_error *err);
void msim_serving_rows_release(struct msim_serving_table *t);

/* ---- serving fit --------------------------------------------------------- */

/* The law of the rows that `use` marks; it has their models, GPUs, engines and
 * types. Without memory it is that of nothing fitted. */
void msim_serving_fit(struct msim_llm_law *law,
                      const struct msim_serving_table *t, const uint8_t *use);

/* What the law says of a row, in closed form. */
void msim_serving_predict(struct msim_closed_loop_answer *out,
                          const struct msim_llm_law *law,
                          const struct msim_serving_row *row);

#endif
