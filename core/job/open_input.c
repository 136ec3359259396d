/*
 * core/job/open_input.c - a file of a job as bytes.
 */
#include "core/job/open_input.h"

#include "core/job/memory.h"
#include "core/read/nsys/nsys.h"

#include <stdlib.h>

enum msim_status msim_open_input(struct msim_input **out, char **text,
                                 const struct msim_job_text *from,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err)
{
    bool threaded = opt->threads > 1;
    uint64_t most = opt->memory ? opt->memory : msim_memory_there() / 2;
    enum msim_status status;
    size_t size;

    *text = NULL;
    *out = NULL;
    if (from->bytes)
        return msim_input_memory(out, from->name, from->bytes, from->len,
                                 threaded, err);
    if (!msim_nsys_is(from->name))
        return msim_input_open(out, from->name, threaded, err);
    MSIM_TRY(msim_nsys_read(text, &size, from->name, (size_t)most, err));
    status = msim_input_memory(out, from->name, *text, size, threaded, err);
    if (status != MSIM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
