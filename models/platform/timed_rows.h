/*
 * models/platform/timed_rows.h - operators that a calibration timed on its
 * machine, each with its shape: the answer for exactly that operator and shape,
 * whatever a law says, and also where its kind has too few rows for a law.
 *
 * In a platform file,
 *   "timed": [{"law", "framework", "key", "dtype": texts,
 *              "sizes": those of core/work/work.h,
 *              "bytes": that the row counts as read and written,
 *              "us", "low_us", "high_us"}, ...]
 */
#ifndef MSIM_MODELS_PLATFORM_TIMED_ROWS_H
#define MSIM_MODELS_PLATFORM_TIMED_ROWS_H
#include "core/base/json.h"
#include "core/work/estimate.h"

struct msim_timed_row;

/* Sorted by what they answer; zeros: none. */
struct msim_timed_rows {
    struct msim_timed_row *list; /* owned */
    uint32_t n;
};

/*
 * A row for `w` on a CPU (`host`) or a GPU with the members from "law" to
 * "sizes", the caller's to add the others to. NULL where a shape does not say
 * all of it, no law is for it, or there is no memory.
 */
cJSON *msim_timed_row_new(const struct msim_work *w, bool host);

/* Read "timed" of a platform file, if it has any. EFORMAT, naming `file`, or
 * ENOMEM; on failure there are none. Release them. */
MSIM_MUST_CHECK
enum msim_status msim_timed_rows_read(struct msim_timed_rows *out,
                                      const cJSON *platform, const char *file,
                                      struct msim_error *err);
void msim_timed_rows_release(struct msim_timed_rows *rows);

/*
 * The time of a work on the machine, a CPU (`host`) or a GPU, that the rows are
 * of. Of a work without a framework PyTorch's own row comes before those of
 * other backends. False where there is none.
 */
bool msim_timed_rows_ask(const struct msim_timed_rows *rows, bool host,
                         const struct msim_work *w, struct msim_estimate *out);

#endif
