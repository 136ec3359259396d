/*
 * profilers/cuda/cupti/cupti_inject.c - libmystique-cupti.so, which the CUDA
 * driver loads into a program:
 *
 *     CUDA_INJECTION64_PATH=libmystique-cupti.so PROGRAM
 *
 * When the program ends, what the GPU did is written as a trace to the file
 * that MSIM_CUPTI_OUT names (.gz: compressed; %p: the process's number)
 * [default: mystique-trace-%p.json]. A program that is killed leaves none.
 */
#include "core/base/print.h"
#include "profilers/cuda/cupti/cuda_list.h"
#include "profilers/cuda/cupti/cupti_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "mystique-trace-%p.json"

/* What the driver calls, once, before anything else. */
__attribute__((visibility("default"))) int InitializeInjection(void);

static void complain(const char *what, const struct msim_error *err,
                     enum msim_status status)
{
    msim_print(stderr, "mystique-cupti: %s: %s\n", what,
               err->text[0] ? err->text : msim_status_text(status));
}

/* MSIM_CUPTI_OUT with every %p replaced. */
static void make_path(char *to, size_t size)
{
    const char *from = getenv("MSIM_CUPTI_OUT");
    size_t at = 0;

    if (!from || !*from)
        from = DEFAULT_PATH;
    for (; *from && at + 1 < size; from++) {
        if (from[0] == '%' && from[1] == 'p') {
            at += (size_t)snprintf(to + at, size - at, "%ld", (long)getpid());
            at = at < size ? at : size - 1;
            from++;
        } else {
            to[at++] = *from;
        }
    }
    to[at] = '\0';
}

static enum msim_status write_trace(const char *path, struct msim_error *err)
{
    enum msim_status lost, status;
    struct msim_gpu_trace *t = msim_cupti_lock(&lost);

    status = t ? msim_cuda_list(t) : MSIM_OK;
    if (t && status == MSIM_OK)
        status = msim_gpu_trace_write(t, path, err);
    msim_cupti_unlock();
    return status == MSIM_OK ? lost : status;
}

static void at_exit(void)
{
    struct msim_error err = {0};
    enum msim_status status = msim_cupti_flush(true, &err);
    char path[4096];

    if (status != MSIM_OK)
        complain("some records may be missing", &err, status);
    err = (struct msim_error){0};
    make_path(path, sizeof(path));
    status = write_trace(path, &err);
    if (status != MSIM_OK)
        complain(path, &err, status);
}

int InitializeInjection(void)
{
    struct msim_error err = {0};
    enum msim_status status = msim_cupti_begin(true, &err);

    if (status != MSIM_OK)
        complain("nothing is recorded", &err, status);
    else if (atexit(at_exit) != 0)
        complain("nothing is recorded: atexit", &err, MSIM_ENOMEM);
    return 1; /* the program goes on, whatever happens */
}
