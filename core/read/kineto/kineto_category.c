/*
 * core/read/kineto/kineto_category.c - what the category of an event says.
 *
 * The runtime of each device has a category of its own: xpu_runtime,
 * privateuse1_driver. What is not known is counted: it may have run on a device
 * that is not.
 */
#include "core/read/kineto/read_kineto_internal.h"

#include <string.h>

/* The id of a category of no use, whose events are counted as this. */
#define NEEDLESS(kind) (MSIM_KCAT_DROP + MSIM_IMPORT_##kind)

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
    {"python_function", NEEDLESS(PYTHON)},
    {"python_call", NEEDLESS(PYTHON)},
    {"gpu_user_annotation", NEEDLESS(GPU_LABEL)},
    {"cpu_instant_event", NEEDLESS(INSTANT)},
    {"overhead", NEEDLESS(OVERHEAD)},
    {"cuda_profiler_range", NEEDLESS(RANGE)},
    {"Trace", NEEDLESS(WINDOW)},
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
    if (ev->cat >= MSIM_KCAT_DROP) {
        ev->needless = (uint8_t)(ev->cat - MSIM_KCAT_DROP);
        ev->cat = MSIM_KCAT_DROP;
    }
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
             begins(s, len, "PLACE_HOLDER")) {
        ev->cat = MSIM_KCAT_DROP; /* no work */
        ev->needless = MSIM_IMPORT_QUEUE_WAIT;
    }
}

/* What events of a phase are, all of which have no duration. */
static const struct {
    char phases[4];
    uint8_t kind;
} PHASES[] = {
    {"stf", MSIM_IMPORT_FLOW},
    {"M", MSIM_IMPORT_METADATA},
    {"iIn", MSIM_IMPORT_INSTANT},
    {"C", MSIM_IMPORT_COUNTER},
};

static enum msim_status count_phase(struct msim_reader *r, char ph)
{
    char name[2] = {ph, '\0'};

    for (size_t i = 0; i < sizeof(PHASES) / sizeof(PHASES[0]); i++)
        if (strchr(PHASES[i].phases, ph)) {
            msim_read_count(r, (enum msim_import_kind)PHASES[i].kind);
            return MSIM_OK;
        }
    return msim_read_count_name(r, MSIM_IMPORT_PHASE, name, 0);
}

enum msim_status msim_kineto_unread(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    uint64_t us = ev->dur_us > 0 ? (uint64_t)ev->dur_us : 0;

    if (is_flow(ev))
        return count_phase(r, ev->ph);
    if (ev->ph && ev->cat == MSIM_KCAT_OTHER)
        return msim_read_count_name(r, MSIM_IMPORT_CATEGORY,
                                    msim_strtab_text(r->strings, ev->category),
                                    us);
    msim_read_count(r, !ev->ph ? MSIM_IMPORT_NO_PHASE
                       : ev->cat == MSIM_KCAT_UNSEEN
                           ? MSIM_IMPORT_NO_CATEGORY
                           : (enum msim_import_kind)ev->needless);
    if (ev->ph && ev->cat == MSIM_KCAT_UNSEEN)
        r->trace->import.rows[MSIM_IMPORT_NO_CATEGORY].us += us;
    return MSIM_OK;
}
