/*
 * core/job/read_top.c - the top level of a JSON trace file.
 */
#include "core/job/job_internal.h"

#include "core/base/texts.h"
#include "core/read/et/read_et.h"
#include "core/read/kineto/read_kineto.h"

#include <stdlib.h>

enum place { START, TOP, DEVICES, DEVICE, DISTRIBUTED, GROUPS, GROUP, RANKS };

enum key {
    KEY_OTHER,
    KEY_NODES,
    KEY_EVENTS,
    KEY_SCHEMA,
    KEY_VERSION,
    KEY_BASE,
    KEY_HOST,
    KEY_DEVICES,
    KEY_DISTRIBUTED,
    KEY_RANK,
    KEY_WORLD,
    KEY_GROUPS,
    KEY_ID,
    KEY_NAME,
    KEY_MEMORY,
    KEY_MAJOR,
    KEY_MINOR,
    KEY_SMS,
};

static const struct msim_keyword words[] = {
    {"nodes", KEY_NODES},
    {"traceEvents", KEY_EVENTS},
    {"schema", KEY_SCHEMA},
    {"schemaVersion", KEY_VERSION},
    {"baseTimeNanoseconds", KEY_BASE},
    {"host_name", KEY_HOST},
    {"deviceProperties", KEY_DEVICES},
    {"distributedInfo", KEY_DISTRIBUTED},
    {"rank", KEY_RANK},
    {"world_size", KEY_WORLD},
    {"pg_config", KEY_GROUPS},
    {"id", KEY_ID},
    {"name", KEY_NAME},
    {"totalGlobalMem", KEY_MEMORY},
    {"computeMajor", KEY_MAJOR},
    {"computeMinor", KEY_MINOR},
    {"numSms", KEY_SMS},
    MSIM_GROUP_KEYS,
    {NULL, 0},
};

static int begin_records(struct msim_read_top *top,
                         const struct msim_read_format *format)
{
    struct msim_reader *r = &top->reader;

    if (r->out->trace)
        return msim_read_problem(r, MSIM_EFORMAT,
                                 "a second list of records, want one of "
                                 "'nodes' or 'traceEvents'");
    msim_sax_use(r->sax, format->handler);
    return msim_read_begin(r, format);
}

static int top_key(void *p, const char *s, size_t len)
{
    struct msim_read_top *top = p;

    top->key = msim_keyset_find(&top->keys, s, len);
    return top->key ? 0 : MSIM_SAX_SKIP;
}

static uint32_t small(const char *s, size_t len)
{
    int64_t n;

    return msim_decimal_int(s, len, &n) && n > 0 && n < UINT32_MAX ? (uint32_t)n
                                                                   : 0;
}

static int device_number(struct msim_read_top *top, const char *s, size_t len)
{
    struct msim_device_spec *all = top->devices.data;
    struct msim_device_spec *d = &all[top->devices.n - 1];
    int64_t n;

    switch (top->key) {
    case KEY_ID:
        if (msim_decimal_int(s, len, &n))
            d->id = n;
        break;
    case KEY_MEMORY:
        if (msim_decimal_int(s, len, &n) && n > 0)
            d->p.memory_bytes = (uint64_t)n;
        break;
    case KEY_MAJOR:
        d->p.cc_major = small(s, len);
        break;
    case KEY_MINOR:
        d->p.cc_minor = small(s, len);
        break;
    case KEY_SMS:
        d->p.sms = small(s, len);
        break;
    default:
        break;
    }
    return 0;
}

static int top_number(void *p, const char *s, size_t len)
{
    struct msim_read_top *top = p;
    int64_t n;

    if (top->place == DEVICE)
        return device_number(top, s, len);
    if (top->place == GROUP || top->place == RANKS)
        return msim_group_spec_number(&top->reader, &top->group, top->key, s,
                                      len);
    if (top->place == TOP &&
        (top->key == KEY_VERSION || top->key == KEY_SCHEMA))
        return msim_read_string(&top->reader, s, len,
                                &top->reader.out->version);
    if (!msim_decimal_int(s, len, &n))
        return 0;
    if (top->place == TOP && top->key == KEY_BASE)
        top->reader.base_ns = n;
    else if (top->place == DISTRIBUTED && top->key == KEY_RANK && n >= 0)
        top->reader.out->rank = n;
    else if (top->place == DISTRIBUTED && top->key == KEY_WORLD)
        top->reader.trace->world_size = small(s, len);
    return 0;
}

static int top_string(void *p, const char *s, size_t len)
{
    struct msim_read_top *top = p;
    struct msim_device_spec *d = top->devices.data;

    if (top->place == TOP && top->key == KEY_SCHEMA)
        return msim_read_string(&top->reader, s, len,
                                &top->reader.out->version);
    if (top->place == TOP && top->key == KEY_HOST)
        return msim_read_string(&top->reader, s, len, &top->reader.trace->host);
    if (top->place == DEVICE && top->key == KEY_NAME)
        return msim_read_string(&top->reader, s, len,
                                &d[top->devices.n - 1].p.name);
    if (top->place == GROUP)
        return msim_group_spec_string(&top->reader, &top->group, top->key, s,
                                      len);
    if (top->place == DISTRIBUTED &&
        (top->key == KEY_RANK || top->key == KEY_WORLD))
        return top_number(p, s, len); /* some writers quote them */
    return 0;
}

static int top_map_begin(void *p)
{
    struct msim_read_top *top = p;
    struct msim_device_spec *d;

    if (top->place == START) {
        top->place = TOP;
    } else if (top->place == TOP && top->key == KEY_DISTRIBUTED) {
        top->place = DISTRIBUTED;
    } else if (top->place == DEVICES) {
        d = msim_vec_add(&top->devices, sizeof(*d));
        if (!d)
            return MSIM_ENOMEM;
        *d = (struct msim_device_spec){.id = -1};
        top->place = DEVICE;
    } else if (top->place == GROUPS) {
        msim_group_spec_reset(&top->group);
        top->place = GROUP;
    } else {
        return MSIM_SAX_SKIP;
    }
    top->key = KEY_OTHER;
    return 0;
}

static int top_map_end(void *p)
{
    struct msim_read_top *top = p;
    bool group = top->place == GROUP;
    uint32_t made;

    top->place = top->place == DEVICE ? DEVICES : group ? GROUPS : TOP;
    top->key = KEY_OTHER;
    return group ? (int)msim_group_define(&top->reader, &top->group, &made) : 0;
}

static int top_array_begin(void *p)
{
    struct msim_read_top *top = p;

    if (top->place == START) {
        top->place = TOP;
        return begin_records(top, &msim_kineto_format);
    }
    if (top->place == TOP && top->key == KEY_NODES)
        return begin_records(top, &msim_et_format);
    if (top->place == TOP && top->key == KEY_EVENTS)
        return begin_records(top, &msim_kineto_format);
    if (top->place == TOP && top->key == KEY_DEVICES)
        top->place = DEVICES;
    else if (top->place == DISTRIBUTED && top->key == KEY_GROUPS)
        top->place = GROUPS;
    else if (top->place == GROUP && top->key == MSIM_GKEY_RANKS)
        top->place = RANKS;
    else
        return MSIM_SAX_SKIP;
    if (top->place == RANKS)
        top->group.listed = true;
    return 0;
}

static int top_array_end(void *p)
{
    struct msim_read_top *top = p;

    top->place = top->place == DEVICES  ? TOP
                 : top->place == GROUPS ? DISTRIBUTED
                                        : GROUP;
    top->key = KEY_OTHER;
    return 0;
}

const struct msim_sax_handler msim_read_top_handler = {
    .number = top_number,
    .string = top_string,
    .key = top_key,
    .map_begin = top_map_begin,
    .map_end = top_map_end,
    .array_begin = top_array_begin,
    .array_end = top_array_end,
};

void msim_read_top_init(struct msim_read_top *top)
{
    top->reader.top = &msim_read_top_handler;
    msim_keyset_init(&top->keys, words);
}

void msim_read_top_release(struct msim_read_top *top)
{
    free(top->devices.data);
    free(top->group.ranks.data);
}
