/*
 * core/report/write/short_names.h - the names of one page, each as short as its
 * column wants it, and no two alike.
 *
 * A name that is too long loses its middle. Where two names would then read the
 * same, the part that is kept is the one in which they differ:
 *
 *     gemm<bf16, Tile<128, 64>, Epilogue>  ->  gemm...Tile<128, 64>, ...
 *     gemm<bf16, Tile<128, 32>, Epilogue>  ->  gemm...Tile<128, 32>, ...
 *
 * Names that no window tells apart are numbered. Not thread-safe.
 */
#ifndef MSIM_CORE_REPORT_WRITE_SHORT_NAMES_H
#define MSIM_CORE_REPORT_WRITE_SHORT_NAMES_H
#include <stdint.h>

#define MSIM_SHORT_NAMES   160 /* of one page */
#define MSIM_SHORT_COLUMNS 96  /* of a name at most */
#define MSIM_SHORT_BYTES   (4 * MSIM_SHORT_COLUMNS + 1)

struct msim_shortened {
    const char *name; /* the caller's */
    char text[MSIM_SHORT_BYTES];
    unsigned columns;
};

/* {.n = 0} is empty. */
struct msim_short_names {
    struct msim_shortened of[MSIM_SHORT_NAMES];
    uint32_t n;
    char spare[MSIM_SHORT_BYTES];
};

/* `name` will be asked for; further names than there is room for are shortened
 * without regard to others. It must outlive `s`. NULL is left out. */
void msim_short_names_add(struct msim_short_names *s, const char *name);

/* Shorten all names to at most `columns` (12 to SHORT_COLUMNS). */
void msim_short_names_fit(struct msim_short_names *s, unsigned columns);

/*
 * The short form of `name`, and its columns. Valid until the next call. A name
 * that was not added is cut at `columns`.
 */
const char *msim_short_name(struct msim_short_names *s, const char *name,
                            unsigned columns, unsigned *used);

/* The columns of the longest short form; 0 where there is none. */
unsigned msim_short_names_widest(const struct msim_short_names *s);

#endif
