/*
 * The top level of a trace file, and the loop that feeds the parser.
 *
 * The first bytes tell Chakra's protobuf from JSON (chakra_wire.h).
 * An ET is an object with `nodes`, a Kineto trace one with `traceEvents`, or
 * (2020) a bare array of events. Members come in any order, so the array of
 * records switches the handler by its key and switches back when it ends.
 */
#include "core/base/decimal.h"
#include "core/read/chakra/chakra_wire.h"
#include "core/read/chakra/read_chakra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the top level ------------------------------------------------------ */

static int begin_records(struct msim_reader *r, enum msim_format format)
{
    if (r->out->trace)
        return msim_read_problem(r, MSIM_EFORMAT,
                                 "a second list of records, want one of "
                                 "'nodes' or 'traceEvents'");
    r->out->trace = r->trace;
    r->out->format = format;
    if (format == MSIM_FORMAT_ET) {
        msim_sax_use(r->sax, &msim_read_et_handler);
        return msim_et_new(r);
    }
    msim_sax_use(r->sax, &msim_read_kineto_handler);
    return msim_kineto_new(r);
}

static int top_key(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;

    r->key = msim_keyset_find(&r->keys, s, len);
    return r->key ? 0 : MSIM_SAX_SKIP;
}

static uint32_t small(const char *s, size_t len)
{
    int64_t n;

    return msim_decimal_int(s, len, &n) && n > 0 && n < UINT32_MAX ? (uint32_t)n
                                                                   : 0;
}

static int device_number(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_device_spec *all = r->devices.data;
    struct msim_device_spec *d = &all[r->devices.n - 1];
    int64_t n;

    switch (r->key) {
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
    struct msim_reader *r = p;
    int64_t n;

    if (r->place == DEVICE)
        return device_number(r, s, len);
    if (r->place == GROUP || r->place == RANKS)
        return msim_group_spec_number(r, &r->group, r->key, s, len);
    if (r->place == TOP && (r->key == KEY_VERSION || r->key == KEY_SCHEMA))
        return msim_read_string(r, s, len, &r->out->version);
    if (!msim_decimal_int(s, len, &n))
        return 0;
    if (r->place == TOP && r->key == KEY_BASE)
        r->base_ns = n;
    else if (r->place == DISTRIBUTED && r->key == KEY_RANK && n >= 0)
        r->out->rank = n;
    else if (r->place == DISTRIBUTED && r->key == KEY_WORLD)
        r->trace->world_size = small(s, len);
    return 0;
}

static int top_string(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;
    struct msim_device_spec *d = r->devices.data;

    if (r->place == TOP && r->key == KEY_SCHEMA)
        return msim_read_string(r, s, len, &r->out->version);
    if (r->place == TOP && r->key == KEY_HOST)
        return msim_read_string(r, s, len, &r->trace->host);
    if (r->place == DEVICE && r->key == KEY_NAME)
        return msim_read_string(r, s, len, &d[r->devices.n - 1].p.name);
    if (r->place == GROUP)
        return msim_group_spec_string(r, &r->group, r->key, s, len);
    if (r->place == DISTRIBUTED && (r->key == KEY_RANK || r->key == KEY_WORLD))
        return top_number(p, s, len); /* some writers quote them */
    return 0;
}

static int top_map_begin(void *p)
{
    struct msim_reader *r = p;
    struct msim_device_spec *d;

    if (r->place == START) {
        r->place = TOP;
    } else if (r->place == TOP && r->key == KEY_DISTRIBUTED) {
        r->place = DISTRIBUTED;
    } else if (r->place == DEVICES) {
        d = msim_vec_add(&r->devices, sizeof(*d));
        if (!d)
            return MSIM_ENOMEM;
        *d = (struct msim_device_spec){.id = -1};
        r->place = DEVICE;
    } else if (r->place == GROUPS) {
        msim_group_spec_reset(&r->group);
        r->place = GROUP;
    } else {
        return MSIM_SAX_SKIP;
    }
    r->key = KEY_OTHER;
    return 0;
}

static int top_map_end(void *p)
{
    struct msim_reader *r = p;
    bool group = r->place == GROUP;

    if (r->place == TOP)
        r->whole = true;
    r->place = r->place == DEVICE ? DEVICES : group ? GROUPS : TOP;
    r->key = KEY_OTHER;
    return group ? (int)msim_group_define(r, &r->group) : 0;
}

static int top_array_begin(void *p)
{
    struct msim_reader *r = p;

    if (r->place == START) {
        r->place = TOP;
        return begin_records(r, MSIM_FORMAT_KINETO);
    }
    if (r->place == TOP && r->key == KEY_NODES)
        return begin_records(r, MSIM_FORMAT_ET);
    if (r->place == TOP && r->key == KEY_EVENTS)
        return begin_records(r, MSIM_FORMAT_KINETO);
    if (r->place == TOP && r->key == KEY_DEVICES)
        r->place = DEVICES;
    else if (r->place == DISTRIBUTED && r->key == KEY_GROUPS)
        r->place = GROUPS;
    else if (r->place == GROUP && r->key == MSIM_GKEY_RANKS)
        r->place = RANKS;
    else
        return MSIM_SAX_SKIP;
    if (r->place == RANKS)
        r->group.listed = true;
    return 0;
}

static int top_array_end(void *p)
{
    struct msim_reader *r = p;

    r->place = r->place == DEVICES  ? TOP
               : r->place == GROUPS ? DISTRIBUTED
                                    : GROUP;
    r->key = KEY_OTHER;
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

/* ---- the loop ----------------------------------------------------------- */

/* The first piece says early what is not a trace, in words that help. */
static enum msim_status check_start(const char *name, const char *bytes,
                                    size_t len, struct msim_error *err)
{
    size_t i = 0;
    unsigned char c;

    while (i < len && (bytes[i] == ' ' || bytes[i] == '\t' ||
                       bytes[i] == '\n' || bytes[i] == '\r'))
        i++;
    if (len == 0)
        return msim_fail(err, MSIM_EFORMAT, name, 0,
                         "is empty, want an ET, Kineto or Chakra trace");
    if (i == len || bytes[i] == '{' || bytes[i] == '[')
        return MSIM_OK;
    c = (unsigned char)bytes[i];
    if (c > 0x20 && c < 0x7f)
        return msim_fail(err, MSIM_EFORMAT, name, i,
                         "found '%c', want '{' or '[': not an ET, Kineto or "
                         "Chakra trace",
                         c);
    return msim_fail(err, MSIM_EFORMAT, name, i,
                     "found byte 0x%02x, want '{' or '[': not an ET, Kineto or "
                     "Chakra trace",
                     c);
}

static const char *record_word(const struct msim_reader *r)
{
    return r->out->format == MSIM_FORMAT_KINETO ? "events" : "nodes";
}

/* What can be done about damage, as the end of a sentence; "" for nothing. */
static const char *remedy(const struct msim_reader *r, char text[128])
{
    text[0] = '\0';
    if (r->out->trace && r->complete && !r->salvage)
        snprintf(text, 128, "; --salvage keeps the %llu complete %s before it",
                 (unsigned long long)r->complete, record_word(r));
    return text;
}

/* Put what went wrong into `err`, with place and remedy. */
static enum msim_status explain(struct msim_reader *r, const char *name,
                                enum msim_status status, struct msim_error *err)
{
    uint64_t at = r->chakra ? msim_chakra_offset(r) : msim_sax_offset(r->sax);
    const char *why = r->problem.text;
    char text[128];

    if (r->problem.status && status != MSIM_ENOMEM)
        return msim_fail(err, status, name, at, "%s%s", why, remedy(r, text));
    switch (status) {
    case MSIM_ESYNTAX:
        return msim_fail(err, status, name, at, "broken JSON: %s%s",
                         msim_sax_message(r->sax), remedy(r, text));
    case MSIM_ETRUNCATED:
        return msim_fail(err, status, name, at, "cut: %s%s",
                         msim_sax_message(r->sax), remedy(r, text));
    case MSIM_ENOMEM:
        return msim_fail(err, status, name, MSIM_OFFSET_NONE, "out of memory");
    case MSIM_ELIMIT:
        why = msim_sax_message(r->sax);
        if (!why[0])
            why = "longer than can be counted";
        break;
    default:
        break;
    }
    return msim_fail(err, status, name, at, "%s%s", why, remedy(r, text));
}

/* The input itself is cut or broken; it does not know of records. */
static enum msim_status explain_input(struct msim_reader *r,
                                      enum msim_status status,
                                      struct msim_error *err)
{
    char text[128];
    size_t len = err ? strlen(err->text) : 0;

    if (err && status != MSIM_EIO && status != MSIM_ENOMEM)
        snprintf(err->text + len, sizeof(err->text) - len, "%s",
                 remedy(r, text));
    return status;
}

/* The first bytes, held back until they say what they are. */
static enum msim_status decide(struct msim_reader *r, const char *name,
                               const char **bytes, size_t *len, bool *held,
                               struct msim_error *err)
{
    struct msim_vec *head = &r->head;
    struct msim_text_piece piece;
    enum msim_chakra_guess guess;
    bool end = *len == 0;

    *held = false;
    if (head->n || !end) {
        MSIM_TRY(msim_vec_text(head, *bytes, *len, &piece));
        *bytes = head->data;
        *len = head->n;
    }
    guess = msim_chakra_sniff(*bytes, *len, end);
    if (guess == MSIM_CHAKRA_MORE) {
        *held = true;
        return MSIM_OK;
    }
    r->decided = true;
    if (guess == MSIM_CHAKRA_NO)
        return check_start(name, *bytes, *len, err);
    r->out->trace = r->trace;
    r->out->format = MSIM_FORMAT_CHAKRA;
    return msim_chakra_new(r, r->keep);
}

static enum msim_status feed(struct msim_reader *r, const char *bytes,
                             size_t len)
{
    if (r->chakra)
        return len ? msim_chakra_feed(r, bytes, len) : msim_chakra_end(r);
    return len ? msim_sax_feed(r->sax, bytes, len) : msim_sax_end(r->sax);
}

static enum msim_status feed_piece(struct msim_reader *r, const char *name,
                                   const char *bytes, size_t len,
                                   struct msim_error *err)
{
    bool end = len == 0, held = false;
    enum msim_status status = MSIM_OK;

    if (!r->decided)
        MSIM_TRY(decide(r, name, &bytes, &len, &held, err));
    if (!held)
        status = feed(r, bytes, len);
    if (status == MSIM_OK && end && len && !held)
        status = feed(r, NULL, 0); /* that was all, and all was held back */
    return status == MSIM_OK ? MSIM_OK : explain(r, name, status, err);
}

static enum msim_status feed_all(struct msim_reader *r, struct msim_input *in,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err)
{
    const char *name = msim_input_name(in), *bytes;
    uint64_t done, total;
    size_t len;

    do {
        enum msim_status status = msim_input_next(in, &bytes, &len, err);

        if (status != MSIM_OK)
            return explain_input(r, status, err);
        MSIM_TRY(feed_piece(r, name, bytes, len, err));
        if (opt->progress) {
            msim_input_progress(in, &done, &total);
            opt->progress(opt->progress_ctx, done, total);
        }
    } while (len);
    return MSIM_OK;
}

static bool is_damage(enum msim_status status)
{
    return status == MSIM_ESYNTAX || status == MSIM_ETRUNCATED ||
           status == MSIM_EFORMAT || status == MSIM_ELIMIT;
}

/* The device that was used, or the only one there is: what is visible to a
 * process may be numbered from 0 here and as the machine does in the events. */
static void choose_device(struct msim_reader *r)
{
    const struct msim_device_spec *all = r->devices.data;
    const struct msim_trace *t = r->trace;
    uint32_t i, best = MSIM_NONE, most = 0;

    for (i = 0; i < t->n_streams; i++) {
        uint32_t n = t->streams[i].gpu_end - t->streams[i].gpu_begin;

        if (n > most) {
            most = n;
            best = i;
        }
    }
    for (i = 0; i < r->devices.n; i++)
        if ((best != MSIM_NONE && all[i].id == t->streams[best].device) ||
            r->devices.n == 1) {
            r->trace->gpu_properties = all[i].p;
            break;
        }
}

static enum msim_status finish(struct msim_reader *r, const char *name,
                               struct msim_error *err)
{
    enum msim_status status;

    if (!r->out->trace)
        return MSIM_OK;
    status = r->out->format == MSIM_FORMAT_CHAKRA ? msim_chakra_finish(r)
             : r->out->format == MSIM_FORMAT_ET   ? msim_et_finish(r)
                                                  : msim_kineto_finish(r);
    if (status != MSIM_OK)
        return msim_fail(err, status, name, r->problem.offset, "%s",
                         r->problem.status ? r->problem.text
                                           : msim_status_text(status));
    choose_device(r);
    r->trace->rank = r->out->rank;
    return MSIM_OK;
}

static enum msim_status read_and_finish(struct msim_reader *r,
                                        struct msim_input *in,
                                        const struct msim_load_options *opt,
                                        struct msim_error *err)
{
    const char *name = msim_input_name(in);
    struct msim_error damage = {0};
    enum msim_status status = feed_all(r, in, opt, &damage);

    if (status != MSIM_OK) {
        if (!opt->salvage || !is_damage(status) || !r->complete) {
            if (err && err->status == MSIM_OK)
                *err = damage;
            return status;
        }
        r->out->salvaged = true;
        r->out->damage = damage;
        r->problem = (struct msim_error){0};
    }
    return finish(r, name, err);
}

enum msim_status msim_read(struct msim_read_result *out, struct msim_input *in,
                           struct msim_strtab *strings,
                           const struct msim_load_options *opt,
                           struct msim_error *err)
{
    struct msim_reader r = {.out = out,
                            .strings = strings,
                            .salvage = opt->salvage,
                            .keep = opt->keep_source};
    enum msim_status status = MSIM_ENOMEM;

    *out = (struct msim_read_result){.rank = -1};
    msim_keyset_init(&r.keys, words);
    r.trace = calloc(1, sizeof(*r.trace));
    if (!r.trace || msim_sax_new(&r.sax, &msim_read_top_handler, &r)) {
        msim_fail(err, status, msim_input_name(in), MSIM_OFFSET_NONE,
                  "out of memory");
    } else {
        r.trace->strings = strings;
        msim_argpool_init(&r.pool, r.trace);
        status = read_and_finish(&r, in, opt, err);
    }
    msim_sax_free(r.sax);
    msim_kineto_free(r.kineto);
    msim_et_free(r.et);
    msim_chakra_free(r.chakra);
    free(r.head.data);
    msim_argpool_release(&r.pool);
    msim_idmap_release(&r.group_names);
    free(r.devices.data);
    free(r.group.ranks.data);
    if (status != MSIM_OK || !out->trace) {
        if (r.trace)
            msim_trace_release(r.trace);
        free(r.trace);
        out->trace = NULL;
    }
    return status;
}
