/*
 * core/read/format.c - the formats of trace files.
 */
#include "core/read/reader.h"

const char *msim_format_text(enum msim_format f)
{
    return f == MSIM_FORMAT_ET       ? "et"
           : f == MSIM_FORMAT_KINETO ? "kineto"
                                     : "chakra";
}
