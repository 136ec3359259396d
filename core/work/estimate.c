/*
 * core/work/estimate.c - the words for what an estimate stands on.
 */
#include "core/work/estimate.h"

const char *msim_source_text(enum msim_source s)
{
    static const char *const TEXT[] = {
        [MSIM_SOURCE_MEASURED] = "measured", [MSIM_SOURCE_TABLE] = "table",
        [MSIM_SOURCE_LAW] = "law",           [MSIM_SOURCE_SCALED] = "scaled",
        [MSIM_SOURCE_INFERRED] = "launch",   [MSIM_SOURCE_BOUND] = "bound",
        [MSIM_SOURCE_CLASS] = "class",       [MSIM_SOURCE_NOT_RUN] = "not run",
        [MSIM_SOURCE_NEAREST] = "nearest",
    };

    return TEXT[s];
}

const char *msim_bounded_text(enum msim_bounded b)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_BOUNDED_MAP(X)
#undef X
    };

    return TEXT[b];
}
