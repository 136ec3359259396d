/*
 * profilers/gpu_trace.c - what a GPU did, written as a Kineto trace.
 */
#include "profilers/gpu_trace.h"

#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_gpu_trace_new(struct msim_gpu_trace **out)
{
    struct msim_gpu_trace *t = calloc(1, sizeof(*t));
    enum msim_status status;

    *out = NULL;
    if (!t)
        return MSIM_ENOMEM;
    status = msim_strtab_new(&t->strings);
    if (status != MSIM_OK)
        free(t);
    else
        *out = t;
    return status;
}

enum msim_status msim_gpu_trace_add(struct msim_gpu_trace *t,
                                    const struct msim_gpu_event *event,
                                    const char *name)
{
    uint32_t id;

    MSIM_TRY(msim_strtab_add(t->strings, name, strlen(name), &id));
    MSIM_TRY(msim_grow((void **)&t->events, &t->cap_events, t->n_events,
                       sizeof(*t->events)));
    t->events[t->n_events] = *event;
    t->events[t->n_events++].name = id;
    return MSIM_OK;
}

enum msim_status msim_gpu_trace_device(struct msim_gpu_trace *t,
                                       const struct msim_gpu_device *device,
                                       const char *name)
{
    struct msim_gpu_device *to = &t->devices[t->n_devices];

    for (uint32_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].id == device->id)
            return MSIM_OK;
    if (t->n_devices == MSIM_GPU_DEVICES)
        return MSIM_OK;
    *to = *device;
    MSIM_TRY(msim_strtab_add(t->strings, name, strlen(name), &to->name));
    t->n_devices++;
    return MSIM_OK;
}

void msim_gpu_trace_clear(struct msim_gpu_trace *t)
{
    t->n_events = 0;
}

/* ---- calls of the driver inside calls of the runtime --------------------- */

struct correlations {
    uint32_t *ids; /* of the runtime's calls, sorted */
    uint32_t n;
};

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return MSIM_ORDER(x, y);
}

static enum msim_status find_calls(struct correlations *c,
                                   const struct msim_gpu_trace *t)
{
    c->n = 0;
    c->ids = malloc((t->n_events + 1u) * sizeof(*c->ids));
    if (!c->ids)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_events; i++)
        if (t->events[i].kind == MSIM_GPU_EVENT_CALL)
            c->ids[c->n++] = t->events[i].correlation;
    qsort(c->ids, c->n, sizeof(*c->ids), by_id);
    return MSIM_OK;
}

static bool is_inside(const struct correlations *c,
                      const struct msim_gpu_event *e)
{
    return e->kind == MSIM_GPU_EVENT_DRIVER &&
           bsearch(&e->correlation, c->ids, c->n, sizeof(*c->ids), by_id);
}

/* ---- the file ------------------------------------------------------------ */

struct writing {
    const struct msim_gpu_trace *t;
    struct correlations calls;
    uint64_t base_ns; /* the first start */
    struct msim_json j;
};

static const char *text(const struct writing *w, uint32_t id)
{
    return msim_strtab_text(w->t->strings, id);
}

static void write_device(struct writing *w, const struct msim_gpu_device *d)
{
    msim_json_open(&w->j, NULL, '{', false);
    msim_json_unsigned(&w->j, "id", d->id);
    msim_json_text(&w->j, "name", text(w, d->name));
    msim_json_unsigned(&w->j, "totalGlobalMem", d->memory_bytes);
    msim_json_unsigned(&w->j, "computeMajor", d->major);
    msim_json_unsigned(&w->j, "computeMinor", d->minor);
    msim_json_unsigned(&w->j, "maxThreadsPerBlock", d->threads_a_block);
    msim_json_unsigned(&w->j, "maxThreadsPerMultiprocessor", d->threads_an_sm);
    msim_json_unsigned(&w->j, "regsPerBlock", d->registers_a_block);
    msim_json_unsigned(&w->j, "warpSize", d->warp);
    msim_json_unsigned(&w->j, "sharedMemPerBlock", d->shared_a_block);
    msim_json_unsigned(&w->j, "numSms", d->sms);
    msim_json_unsigned(&w->j, "regsPerMultiprocessor", d->registers_an_sm);
    msim_json_unsigned(&w->j, "sharedMemPerMultiprocessor", d->shared_an_sm);
    msim_json_close(&w->j);
}

static void write_head(struct writing *w)
{
    const struct msim_gpu_trace *t = w->t;

    msim_json_integer(&w->j, "schemaVersion", 1);
    msim_json_open(&w->j, "deviceProperties", '[', false);
    for (uint32_t i = 0; i < t->n_devices; i++)
        write_device(w, &t->devices[i]);
    msim_json_close(&w->j);
    if (t->cupti_version)
        msim_json_unsigned(&w->j, "cupti_version", t->cupti_version);
    msim_json_text(&w->j, "displayTimeUnit", "ms");
    msim_json_unsigned(&w->j, "baseTimeNanoseconds", w->base_ns);
    if (t->dropped)
        msim_json_unsigned(&w->j, "dropped_events", t->dropped);
}

static void write_three(struct msim_json *j, const char *key,
                        const uint32_t v[3])
{
    msim_json_open(j, key, '[', false);
    for (int i = 0; i < 3; i++)
        msim_json_unsigned(j, NULL, v[i]);
    msim_json_close(j);
}

static void write_where(struct msim_json *j, const struct msim_gpu_event *e)
{
    msim_json_unsigned(j, "device", e->device);
    msim_json_unsigned(j, "context", e->context);
    msim_json_unsigned(j, "stream", e->stream);
    msim_json_unsigned(j, "correlation", e->correlation);
    if (e->graph_node) {
        msim_json_unsigned(j, "graph id", e->graph);
        msim_json_unsigned(j, "graph node id", e->graph_node);
    }
}

static void write_args(struct msim_json *j, const struct msim_gpu_event *e)
{
    double ns = (double)(e->end_ns - e->start_ns);

    switch ((enum msim_gpu_event_kind)e->kind) {
    case MSIM_GPU_EVENT_KERNEL:
        msim_json_integer(j, "queued", 0);
        write_where(j, e);
        msim_json_unsigned(j, "registers per thread", e->registers);
        msim_json_unsigned(j, "shared memory", e->shared_bytes);
        write_three(j, "grid", e->grid);
        write_three(j, "block", e->block);
        break;
    case MSIM_GPU_EVENT_COPY:
    case MSIM_GPU_EVENT_SET:
        write_where(j, e);
        msim_json_unsigned(j, "bytes", e->bytes);
        msim_json_number(j, "memory bandwidth (GB/s)",
                         ns > 0 ? (double)e->bytes / ns : 0);
        break;
    default:
        msim_json_unsigned(j, "correlation", e->correlation);
        break;
    }
}

static void write_event(struct writing *w, const struct msim_gpu_event *e)
{
    static const char *const CATEGORY[] = {
        [MSIM_GPU_EVENT_KERNEL] = "kernel",
        [MSIM_GPU_EVENT_COPY] = "gpu_memcpy",
        [MSIM_GPU_EVENT_SET] = "gpu_memset",
        [MSIM_GPU_EVENT_CALL] = "cuda_runtime",
        [MSIM_GPU_EVENT_DRIVER] = "cuda_driver",
    };
    uint64_t dur = e->end_ns > e->start_ns ? e->end_ns - e->start_ns : 0;

    msim_json_open(&w->j, NULL, '{', false);
    msim_json_text(&w->j, "ph", "X");
    msim_json_text(&w->j, "cat", CATEGORY[e->kind]);
    msim_json_text(&w->j, "name", text(w, e->name));
    msim_json_unsigned(&w->j, "pid", e->device);
    msim_json_unsigned(&w->j, "tid", e->stream);
    msim_json_time(&w->j, "ts", (msim_ps)(e->start_ns - w->base_ns) * 1000);
    msim_json_time(&w->j, "dur", (msim_ps)dur * 1000);
    msim_json_open(&w->j, "args", '{', false);
    write_args(&w->j, e);
    msim_json_close(&w->j);
    msim_json_close(&w->j);
}

/* Viewers show these in the place of the bare numbers. */
static void write_label(struct writing *w, uint32_t pid, const char *label)
{
    msim_json_open(&w->j, NULL, '{', false);
    msim_json_text(&w->j, "ph", "M");
    msim_json_text(&w->j, "name", "process_labels");
    msim_json_unsigned(&w->j, "pid", pid);
    msim_json_unsigned(&w->j, "tid", 0);
    msim_json_integer(&w->j, "ts", 0);
    msim_json_open(&w->j, "args", '{', false);
    msim_json_text(&w->j, "labels", label);
    msim_json_close(&w->j);
    msim_json_close(&w->j);
}

static void write_all(struct writing *w)
{
    const struct msim_gpu_trace *t = w->t;
    char label[32];

    msim_json_open(&w->j, NULL, '{', true);
    write_head(w);
    msim_json_open(&w->j, "traceEvents", '[', true);
    for (uint32_t i = 0; i < t->n_events; i++)
        if (!is_inside(&w->calls, &t->events[i]))
            write_event(w, &t->events[i]);
    write_label(w, t->process, "CPU");
    for (uint32_t i = 0; i < t->n_devices; i++) {
        snprintf(label, sizeof(label), "GPU %u", t->devices[i].id);
        write_label(w, t->devices[i].id, label);
    }
    msim_json_close(&w->j);
    msim_json_close(&w->j);
}

static uint64_t first_start(const struct msim_gpu_trace *t)
{
    uint64_t first = t->n_events ? t->events[0].start_ns : 0;

    for (uint32_t i = 1; i < t->n_events; i++)
        if (t->events[i].start_ns < first)
            first = t->events[i].start_ns;
    return first;
}

static enum msim_status write_file(struct writing *w, const char *path,
                                   struct msim_error *err)
{
    size_t length = strlen(path);
    bool gzip = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, path, &(struct msim_file_how){.gzip = gzip},
                            err));
    msim_json_begin(&w->j, msim_file_write, file);
    write_all(w);
    status = msim_json_end(&w->j);
    return msim_file_close(file, status, err);
}

enum msim_status msim_gpu_trace_write(const struct msim_gpu_trace *t,
                                      const char *path, struct msim_error *err)
{
    struct writing *w = calloc(1, sizeof(*w));
    enum msim_status status;

    if (!w)
        return MSIM_ENOMEM;
    w->t = t;
    w->base_ns = first_start(t);
    status = find_calls(&w->calls, t);
    if (status == MSIM_OK)
        status = write_file(w, path, err);
    free(w->calls.ids);
    free(w);
    return status;
}
