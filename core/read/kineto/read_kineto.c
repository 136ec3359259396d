/*
 * core/read/kineto/read_kineto.c - the events of torch.profiler's trace.
 *
 * Each is gathered in one msim_kineto_event and becomes a row of a column when
 * its object ends; nothing is allocated per event. Events of no use here
 * (flows, stacks, Python frames) are skipped once their category is known.
 */
#include "core/read/kineto/read_kineto.h"

#include "core/base/texts.h"
#include "core/read/kineto/read_kineto_internal.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- one event ---------------------------------------------------------- */

static void event_reset(struct msim_kineto *k)
{
    k->ev = (struct msim_kineto_event){
        .external = 0,
        .device = -1,
        .stream = -1,
        .wait_stream = -1,
        .seq = -1,
        .src_rank = -1,
        .dst_rank = -1,
        .comm_seq = -1,
        .device_type = -1,
        .device_id = -1,
    };
    k->dims.n = k->strides.n = k->types_in.n = k->values.n = k->text.n = 0;
    k->key = k->arg_key = K_OTHER;
}

/* Skip the rest of an event that makes no row. What begins and ends as two
 * events counts them all; of an instant and metadata the name decides. */
static int skip_if_dropped(const struct msim_kineto *k)
{
    const struct msim_kineto_event *ev = &k->ev;

    if (!ev->ph || ev->ph == 'B' || ev->ph == 'E')
        return 0;
    if (ev->ph == 'i' || ev->ph == 'M')
        return (ev->have & MSIM_KHAVE_NAME) && !msim_kineto_is_of_use(k)
                   ? MSIM_SAX_SKIP
                   : 0;
    return ev->cat == MSIM_KCAT_DROP || ev->ph != 'X' ? MSIM_SAX_SKIP : 0;
}

static int kineto_key(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;
    struct msim_kineto *k = msim_kineto_of(r);
    uint8_t key = msim_kineto_key_of(k, k->depth, s, len);

    if (k->depth == 1)
        k->key = key;
    else
        k->arg_key = key;
    msim_kineto_alike_key(&k->alike, key);
    return key || k->alike.event ? 0 : MSIM_SAX_SKIP;
}

static int event_number(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    bool ok = true;

    switch (msim_kineto_of(r)->key) {
    case K_TS:
        ok = msim_decimal_us(s, len, &ev->ts_us, &ev->ts_ps);
        ev->have |= MSIM_KHAVE_TS;
        break;
    case K_DUR:
        ok = msim_decimal_us(s, len, &ev->dur_us, &ev->dur_ps);
        ev->have |= MSIM_KHAVE_DUR;
        break;
    case K_PID:
        ev->pid = msim_kineto_int(s, len);
        break;
    case K_TID:
        ev->tid = msim_kineto_int(s, len);
        break;
    default:
        break;
    }
    if (!ok)
        msim_kineto_no_time(r, msim_kineto_of(r)->key == K_TS ? "ts" : "dur", s,
                            len);
    return 0;
}

static uint32_t clamped(int64_t n)
{
    return n <= 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static void memory_number(struct msim_kineto_event *ev, uint8_t key, int64_t n)
{
    if (key == K_DEVICE_TYPE)
        ev->device_type = n;
    else if (key == K_DEVICE_ID)
        ev->device_id = n;
    else if (key == K_RESERVED) {
        ev->reserved = n;
        ev->have |= MSIM_KHAVE_KEPT;
    } else if (key == K_ALLOCATED) {
        ev->allocated = n;
        ev->have |= MSIM_KHAVE_HELD;
    }
}

/* Of collectives, and of memory. */
static void rare_number(struct msim_kineto *k, int64_t n)
{
    struct msim_kineto_event *ev = &k->ev;

    switch (k->arg_key) {
    case K_IN_ELEMS:
        ev->in_elems = n > 0 ? (uint64_t)n : 0;
        break;
    case K_OUT_ELEMS:
        ev->out_elems = n > 0 ? (uint64_t)n : 0;
        break;
    case K_GROUP_SIZE:
        ev->group_size = n;
        break;
    case K_GROUP_START:
        k->group.start = n < 0 || n > INT32_MAX ? -1 : n;
        break;
    case K_GROUP_STRIDE:
        k->group.stride = n < 0 || n > INT32_MAX ? -1 : n;
        break;
    case K_SRC:
        ev->src_rank = n;
        break;
    case K_DST:
        ev->dst_rank = n;
        break;
    case K_COMM_SEQ:
        ev->comm_seq = n;
        break;
    default:
        memory_number(ev, k->arg_key, n);
        break;
    }
}

/* A number directly in args. */
static int arg_number(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_kineto_event *ev = &k->ev;
    int64_t n = msim_kineto_int(s, len);

    switch (k->arg_key) {
    case K_EXTERNAL:
        ev->external = n;
        break;
    case K_CORRELATION:
        ev->correlation = n;
        break;
    case K_DEVICE:
        ev->device = n;
        break;
    case K_STREAM:
        ev->stream = n;
        break;
    case K_BYTES:
        ev->bytes = n;
        break;
    case K_RF_ID:
        ev->rf_id = n;
        break;
    case K_SEQ:
        ev->seq = n;
        break;
    case K_FWD:
        ev->fwd_thread = n;
        ev->have |= MSIM_KHAVE_FWD;
        break;
    case K_REGISTERS:
        ev->config.registers = clamped(n);
        break;
    case K_SHARED:
        ev->config.shared_bytes = clamped(n);
        break;
    case K_WAIT_STREAM:
        ev->wait_stream = n;
        break;
    case K_RECORD:
        ev->record_correlation = n;
        break;
    case K_GROUP_NAME:
        ev->has_group = true;
        return msim_read_string(r, s, len, &k->group.name);
    default:
        rare_number(k, n);
        break;
    }
    return 0;
}

static bool is_sizes(uint8_t key)
{
    return key == K_DIMS || key == K_STRIDES;
}

/* To the current list of sizes or strides. */
static int add_size(struct msim_kineto *k, int64_t value)
{
    int64_t *d =
        msim_vec_add(k->arg_key == K_DIMS ? &k->dims : &k->strides, sizeof(*d));

    if (!d)
        return MSIM_ENOMEM;
    *d = value;
    return 0;
}

/* A number in an array in args. */
static int list_number(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    int64_t n;

    switch (k->arg_key) {
    case K_DIMS:
    case K_STRIDES:
        n = msim_kineto_int(s, len);
        return add_size(k, n < 0 ? 0 : n);
    case K_GRID:
        if (k->grid_at < 3)
            k->ev.config.grid[k->grid_at++] = clamped(msim_kineto_int(s, len));
        break;
    case K_BLOCK:
        if (k->grid_at < 3)
            k->ev.config.block[k->grid_at++] = clamped(msim_kineto_int(s, len));
        break;
    case K_GROUP_RANKS:
        return msim_group_spec_number(r, &k->group, MSIM_GKEY_RANKS, s, len);
    default:
        break;
    }
    return 0;
}

/* What stands in the place of an event and is none. */
static int no_object(struct msim_reader *r)
{
    if (msim_kineto_of(r)->depth)
        return 0;
    r->trace->import.records++;
    msim_read_count(r, MSIM_IMPORT_ENTRY);
    return 0;
}

static int kineto_null(void *p)
{
    return no_object(p);
}

static int kineto_boolean(void *p, bool value)
{
    (void)value;
    return no_object(p);
}

static int kineto_number(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;

    struct msim_kineto *k = msim_kineto_of(r);
    uint8_t key = k->depth == 1 ? k->key : k->arg_key;

    if (k->depth > 2)
        return list_number(r, s, len);
    if (!k->depth)
        return no_object(r);
    MSIM_TRY(msim_kineto_alike_note(k, key, s, len));
    if (!key)
        return 0;
    return k->depth == 1 ? event_number(r, s, len) : arg_number(r, s, len);
}

static int event_string(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_kineto_event *ev = &k->ev;

    switch (k->key) {
    case K_PH:
        ev->ph = len == 1 ? *s : '?';
        return skip_if_dropped(k);
    case K_CAT:
        MSIM_TRY(msim_kineto_category(r, s, len));
        return skip_if_dropped(k);
    case K_NAME:
        if (ev->ph == 'M' && (len != 11 || memcmp(s, "thread_name", 11)))
            return MSIM_SAX_SKIP; /* there may be as many as of all others */
        ev->have |= MSIM_KHAVE_NAME;
        MSIM_TRY(msim_read_string(r, s, len, &ev->name));
        return ev->ph == 'X' ? 0 : skip_if_dropped(k);
    case K_PID:
    case K_TID:
    case K_TS:
    case K_DUR:
        return event_number(r, s, len);
    default:
        return 0;
    }
}

static int label_thread(struct msim_reader *r, const char *s, size_t len)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_kineto_label *l;

    if (ev->ph != 'M')
        return 0;
    l = msim_vec_add(&msim_kineto_of(r)->labels, sizeof(*l));
    if (!l)
        return MSIM_ENOMEM;
    l->pid = ev->pid;
    l->tid = ev->tid;
    return msim_read_string(r, s, len, &l->name);
}

static int arg_string(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_kineto_event *ev = &k->ev;

    switch (k->arg_key) {
    case K_OTHER:
        return 0;
    case K_NAME:
        return label_thread(r, s, len);
    case K_SYNC_KIND:
        ev->sync_kind = (uint8_t)msim_name_sync(s, len);
        return 0;
    case K_TASK_TYPE:
        msim_kineto_task(r, s, len);
        return 0;
    case K_COLLECTIVE:
        ev->collective = (uint8_t)msim_name_collective(s, len);
        ev->have |= MSIM_KHAVE_COMM;
        return 0;
    case K_DTYPE:
        ev->dtype = (uint8_t)msim_name_dtype(s, len);
        return 0;
    case K_GROUP_NAME:
        ev->has_group = true;
        return msim_read_string(r, s, len, &k->group.name);
    case K_GROUP_RANKS:
        return msim_group_parse_ranks(&k->group, s, len);
    case K_DIMS:
    case K_STRIDES:
    case K_TYPES:
    case K_VALUES:
        return 0;
    default:
        return arg_number(r, s, len);
    }
}

/* A string in an array in args. */
static int list_string(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_text_piece *piece;
    uint8_t *type;

    if (k->arg_key == K_TYPES) {
        type = msim_vec_add(&k->types_in, sizeof(*type));
        if (!type)
            return MSIM_ENOMEM;
        return msim_kineto_type(r, s, len, type);
    } else if (k->arg_key == K_VALUES) {
        piece = msim_vec_add(&k->values, sizeof(*piece));
        if (!piece)
            return MSIM_ENOMEM;
        return msim_vec_text(&k->text, s, len, piece);
    }
    return 0;
}

static int kineto_string(void *p, const char *s, size_t len)
{
    struct msim_reader *r = p;

    if (msim_kineto_of(r)->depth == 1)
        return event_string(r, s, len);
    if (msim_kineto_of(r)->depth == 2)
        return arg_string(r, s, len);
    return msim_kineto_of(r)->depth ? list_string(r, s, len) : no_object(r);
}

static int kineto_whole(void *p, const char *text, size_t len, size_t *taken)
{
    struct msim_reader *r = p;

    return msim_kineto_of(r)->depth
               ? 0
               : msim_kineto_alike_take(r, text, len, taken);
}

static int kineto_map_begin(void *p)
{
    struct msim_reader *r = p;
    struct msim_kineto *k = msim_kineto_of(r);

    if (k->depth == 0) {
        event_reset(k);
        k->alike.args = MSIM_NONE;
        msim_group_spec_reset(&k->group);
        k->depth = 1;
        return 0;
    }
    if (k->depth == 1 && k->key == K_ARGS) {
        k->depth = 2;
        return 0;
    }
    return MSIM_SAX_SKIP;
}

static int kineto_map_end(void *p)
{
    struct msim_reader *r = p;
    struct msim_kineto *k = msim_kineto_of(r);

    uint64_t rows = k->n_rows, untyped = r->out->untyped;

    if (k->depth == 2) {
        k->depth = 1;
        k->key = K_OTHER;
        return 0;
    }
    k->depth = 0;
    MSIM_TRY(msim_kineto_event_end(r));
    return msim_kineto_alike_keep(r, k->n_rows > rows, skip_if_dropped(k),
                                  r->out->untyped - untyped);
}

static int kineto_array_begin(void *p)
{
    struct msim_reader *r = p;
    struct msim_kineto *k = msim_kineto_of(r);

    if (k->depth < 2) {
        no_object(r);
        return MSIM_SAX_SKIP;
    }
    if (k->depth == 2) {
        switch (k->arg_key) {
        case K_GRID:
        case K_BLOCK:
            k->ev.have |= MSIM_KHAVE_GRID;
            k->grid_at = 0;
            break;
        case K_DIMS:
        case K_STRIDES:
        case K_TYPES:
        case K_VALUES:
            k->ev.have |= MSIM_KHAVE_ARGS;
            break;
        case K_GROUP_RANKS:
            k->group.listed = true;
            break;
        default:
            return MSIM_SAX_SKIP;
        }
    } else if (is_sizes(k->arg_key)) {
        MSIM_TRY(add_size(k, MSIM_KDIMS_OPEN));
    } else {
        return MSIM_SAX_SKIP;
    }
    k->depth++;
    return 0;
}

static int kineto_array_end(void *p)
{
    struct msim_reader *r = p;
    struct msim_kineto *k = msim_kineto_of(r);

    if (k->depth == 0) {
        msim_read_records_end(r);
        return 0;
    }
    k->depth--;
    if (k->depth > 2 && is_sizes(k->arg_key))
        return add_size(k, MSIM_KDIMS_CLOSE);
    return 0;
}

static const struct msim_sax_handler handler = {
    .null = kineto_null,
    .boolean = kineto_boolean,
    .number = kineto_number,
    .string = kineto_string,
    .key = kineto_key,
    .map_begin = kineto_map_begin,
    .map_end = kineto_map_end,
    .array_begin = kineto_array_begin,
    .array_end = kineto_array_end,
    .whole = kineto_whole,
};

static enum msim_status kineto_begin(struct msim_reader *r)
{
    struct msim_kineto *k = calloc(1, sizeof(*k));

    if (!k)
        return MSIM_ENOMEM;
    k->thread = MSIM_NONE;
    msim_kineto_alike_init(&k->alike);
    msim_kineto_keys_init(&k->keys);
    msim_kineto_categories_init(k);
    msim_kineto_types_init(k);
    r->state = k;
    MSIM_TRY(msim_read_string(r, "[memory]", 8, &k->memory));
    return msim_read_string(r, "thread_name", 11, &k->thread_name);
}

static void kineto_forget(void *state)
{
    ((struct msim_kineto *)state)->depth = 0;
}

static void kineto_free(void *state)
{
    struct msim_kineto *k = state;

    if (!k)
        return;
    msim_idmap_release(&k->threads);
    msim_idmap_release(&k->streams);
    msim_idmap_release(&k->configs);
    msim_idmap_release(&k->correlations);
    free(k->dims.data);
    free(k->strides.data);
    free(k->types_in.data);
    free(k->values.data);
    free(k->text.data);
    free(k->args.data);
    free(k->labels.data);
    free(k->open.data);
    free(k->group.ranks.data);
    free(k->before_gpu.data);
    free(k->before_sync.data);
    msim_kineto_alike_release(&k->alike);
    free(k);
}

const struct msim_read_format msim_kineto_format = {
    .id = MSIM_FORMAT_KINETO,
    .records = "events",
    .begin = kineto_begin,
    .handler = &handler,
    .forget = kineto_forget,
    .finish = msim_kineto_finish,
    .free = kineto_free,
};
