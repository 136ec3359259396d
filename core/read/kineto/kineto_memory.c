/*
 * core/read/kineto/kineto_memory.c - what the allocators of PyTorch hold, which
 * profile_memory=True records.
 */
#include "core/base/containers.h"
#include "core/read/kineto/read_kineto_internal.h"

#include <stdio.h>

enum place { NOWHERE, HOST, DEVICE };

/* By PyTorch's numbers of devices (c10/core/DeviceType.h): whose memory it
 * is. */
static const uint8_t PLACES[] = {
    [0] = HOST,    /* CPU */
    [1] = DEVICE,  /* CUDA */
    [6] = DEVICE,  /* HIP */
    [12] = DEVICE, /* XPU */
    [13] = DEVICE, /* MPS */
    [15] = DEVICE, /* HPU */
    [19] = DEVICE, /* MTIA */
    [20] = DEVICE, /* PrivateUse1: Ascend and others */
};

static enum place place_of(int64_t type)
{
    return type >= 0 && type < (int64_t)sizeof(PLACES)
               ? (enum place)PLACES[type]
               : NOWHERE;
}

static enum msim_status count_other(struct msim_reader *r, int64_t type)
{
    char name[24];

    snprintf(name, sizeof(name), "%lld", (long long)type);
    return msim_read_count_name(r, MSIM_IMPORT_OTHER_MEMORY, name, 0);
}

static enum msim_status add_row(struct msim_reader *r)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_trace *t = r->trace;

    MSIM_TRY(msim_grow((void **)&t->memory, &t->cap_memory, t->n_memory,
                       sizeof(*t->memory)));
    t->memory[t->n_memory++] = (struct msim_memory_total){
        .at = (k->ev.ts_us - k->base_us) * MSIM_PS_PER_US + k->ev.ts_ps,
        .device = k->ev.device_id,
        .pid = k->ev.pid,
        .allocated = (uint64_t)k->ev.allocated,
        .reserved = k->ev.have & MSIM_KHAVE_KEPT ? (uint64_t)k->ev.reserved
                                                 : MSIM_BYTES_UNKNOWN,
    };
    k->n_rows++;
    t->import.read++;
    return MSIM_OK;
}

/* More than a pebibyte is on no device. */
static bool is_total(int64_t bytes)
{
    return bytes >= 0 && bytes <= INT64_C(1) << 50;
}

enum msim_status msim_kineto_add_memory(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    enum place place = place_of(ev->device_type);

    if (place == NOWHERE)
        return count_other(r, ev->device_type);
    if (place == HOST || !(ev->have & MSIM_KHAVE_HELD)) {
        msim_read_count(r, place == HOST ? MSIM_IMPORT_HOST_MEMORY
                                         : MSIM_IMPORT_MEMORY_CHANGE);
        return MSIM_OK;
    }
    if (!is_total(ev->allocated) || !is_total(ev->reserved)) {
        msim_read_leave_out(r,
                            "event %llu '[memory]': a total is no number of "
                            "bytes that there can be",
                            (unsigned long long)r->trace->import.records);
        return MSIM_OK;
    }
    return msim_kineto_sound(r) ? add_row(r) : MSIM_OK;
}
