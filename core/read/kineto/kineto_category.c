/*
 * core/read/kineto/kineto_category.c - what the category of an event says.
 *
 * The runtime of each device has a category of its own: xpu_runtime,
 * privateuse1_driver. What is not known is counted: it may have run on a device
 * that is not.
 */
#include "core/read/kineto/kineto.h"

#include <stdio.h>
#include <string.h>

static const struct msim_keyword categories[] = {
    {"cpu_op", MSIM_KCAT_OP},
    {"Operator", MSIM_KCAT_OP},
    {"operator", MSIM_KCAT_OP},
    {"user_annotation", MSIM_KCAT_ANNOTATION},
    {"Runtime", MSIM_KCAT_CALL},
    {"runtime", MSIM_KCAT_CALL},
    {"kernel", MSIM_KCAT_KERNEL},
    {"Kernel", MSIM_KCAT_KERNEL},
    {"hpu_op", MSIM_KCAT_KERNEL},
    {"gpu_memcpy", MSIM_KCAT_MEMCPY},
    {"Memcpy", MSIM_KCAT_MEMCPY},
    {"gpu_memset", MSIM_KCAT_MEMSET},
    {"Memset", MSIM_KCAT_MEMSET},
    {"cuda_sync", MSIM_KCAT_SYNC},
    {"python_function", MSIM_KCAT_DROP},
    {"python_call", MSIM_KCAT_DROP},
    {"gpu_user_annotation", MSIM_KCAT_DROP},
    {"cpu_instant_event", MSIM_KCAT_DROP},
    {"overhead", MSIM_KCAT_DROP},
    {"cuda_profiler_range", MSIM_KCAT_DROP},
    {"Trace", MSIM_KCAT_DROP},
    {NULL, 0},
};

void msim_kineto_categories_init(struct msim_kineto *k)
{
    msim_keyset_init(&k->cats, categories);
}

static bool ends(const char *s, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && !memcmp(s + len - n, with, n);
}

static bool begins(const char *s, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && !memcmp(s, with, n);
}

/* Neither a whole event nor one that begins, as far as is known. */
static bool is_flow(const struct msim_kineto_event *ev)
{
    return ev->ph && ev->ph != 'X' && ev->ph != 'B';
}

enum msim_status msim_kineto_category(struct msim_reader *r, const char *s,
                                      size_t len)
{
    struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;

    ev->cat = msim_keyset_find(&msim_kineto_of(r)->cats, s, len);
    if (ev->cat)
        return MSIM_OK;
    if (ends(s, len, "_runtime") || ends(s, len, "_driver")) {
        ev->cat = MSIM_KCAT_CALL;
        return MSIM_OK;
    }
    ev->cat = MSIM_KCAT_OTHER;
    return is_flow(ev)
               ? MSIM_OK
               : (enum msim_status)msim_read_string(r, s, len, &ev->category);
}

void msim_kineto_task(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;

    if (ev->cat != MSIM_KCAT_UNSEEN && ev->cat != MSIM_KCAT_OTHER)
        return;
    if (begins(s, len, "AI_") || begins(s, len, "MIX_") ||
        begins(s, len, "KERNEL") || begins(s, len, "HCCL"))
        ev->cat = MSIM_KCAT_KERNEL;
    else if (begins(s, len, "SDMA") || begins(s, len, "MEMCPY"))
        ev->cat = MSIM_KCAT_MEMCPY;
    else if (begins(s, len, "EVENT") || begins(s, len, "NOTIFY") ||
             begins(s, len, "PLACE_HOLDER"))
        ev->cat = MSIM_KCAT_DROP; /* waits: no work */
}

/* Events that have a duration, of a category that is not known or absent, or
 * that have it in another way. */
enum msim_status msim_kineto_unread(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    const char *of = msim_strtab_text(r->strings, ev->category);
    char what[128];
    uint32_t id;

    r->out->dropped++;
    if (!ev->ph)
        return MSIM_OK;
    if (!is_flow(ev) && ev->cat == MSIM_KCAT_OTHER)
        snprintf(what, sizeof(what), "category '%.80s'", of);
    else if (!is_flow(ev) && ev->cat == MSIM_KCAT_UNSEEN)
        snprintf(what, sizeof(what), "no category");
    else if (strchr("beSF", ev->ph))
        snprintf(what, sizeof(what), "phase '%c'", ev->ph);
    else
        return MSIM_OK;
    MSIM_TRY(msim_read_string(r, what, strlen(what), &id));
    msim_read_unread(r, id, ev->dur_us > 0 ? (uint64_t)ev->dur_us : 0);
    return MSIM_OK;
}
