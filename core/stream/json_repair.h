/*
 * core/stream/json_repair.h - a filter in front of the parser: what PyTorch is
 * known to write and JSON does not allow becomes JSON.
 *
 * Each kind has been seen in files of PyTorch's profiler:
 *
 *   number    inf, nan, Infinity: pytorch/kineto#105
 *   escape    C:\Users in a stack of Windows: pytorch/kineto#336,
 *             pytorch/pytorch#98432
 *   control   a line feed or another control character in the name of a Python
 *             function: pytorch/pytorch#113001, #130622
 *   utf8      a byte that is not UTF-8 in a name: pytorch/kineto#80, #988,
 *             pytorch/pytorch#113564, #136180
 *
 * What is put in their place is as long, so that offsets stay those of the
 * file. All other faults pass through, for the parser to refuse.
 */
#ifndef MSIM_CORE_STREAM_JSON_REPAIR_H
#define MSIM_CORE_STREAM_JSON_REPAIR_H
#include "core/base/vec.h"

#include <stdbool.h>

/* In the order of their kinds in core/trace/import_log.h, which has words for
 * them. */
enum msim_json_repair {
    MSIM_JSON_REPAIR_NUMBER,
    MSIM_JSON_REPAIR_ESCAPE,
    MSIM_JSON_REPAIR_CONTROL,
    MSIM_JSON_REPAIR_UTF8,
    MSIM_JSON_REPAIR_KINDS,
};

struct msim_json_repairs {
    uint64_t count[MSIM_JSON_REPAIR_KINDS];
    uint64_t first[MSIM_JSON_REPAIR_KINDS]; /* offset, where count is not 0 */
};

/* All zero: nothing was read yet. */
struct msim_json_filter {
    struct msim_json_repairs repairs;
    struct msim_vec held;  /* bytes that are not passed on yet */
    struct msim_vec noted; /* what was put right in the last call */
    uint64_t at;           /* offset of the first of them */
    uint32_t passed;       /* how many of them have been, by now */
    bool in_string;
    char last; /* byte before, outside strings and not blank */
};

/*
 * The next bytes of the file; `len` 0: there are no more. `*out` are those to
 * be parsed: they live until the next call. What could be the beginning of a
 * fault, at the end of a piece, waits for the next one. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_filter_feed(struct msim_json_filter *f,
                                       const char *bytes, size_t len,
                                       const char **out, size_t *out_len);

/*
 * Where the bytes passed on last were taken for what they are not: take back
 * those from `from` on, which is in a string, and look at them again.
 */
void msim_json_filter_again(struct msim_json_filter *f, const char *from,
                            const char **out, size_t *out_len);

/* What was put right in the last call from offset `at` on is not counted:
 * nobody reads it. */
void msim_json_filter_uncount(struct msim_json_filter *f, uint64_t at);

void msim_json_filter_release(struct msim_json_filter *f);

#endif
