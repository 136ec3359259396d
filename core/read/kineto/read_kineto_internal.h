/*
 * core/read/kineto/read_kineto_internal.h - what the files of core/read/kineto
 * share; no other room includes it.
 */
#ifndef MSIM_CORE_READ_KINETO_READ_KINETO_INTERNAL_H
#define MSIM_CORE_READ_KINETO_READ_KINETO_INTERNAL_H
#include "core/base/containers.h"
#include "core/read/read_alike.h"
#include "core/read/reader.h"

/* ---- kineto -------------------------------------------------------------- */
/* The Kineto reader's own state. */

/* What an event's category makes of it. */
enum msim_kineto_cat {
    MSIM_KCAT_UNSEEN, /* no category yet */
    MSIM_KCAT_OP,
    MSIM_KCAT_ANNOTATION,
    MSIM_KCAT_CALL,
    MSIM_KCAT_KERNEL,
    MSIM_KCAT_MEMCPY,
    MSIM_KCAT_MEMSET,
    MSIM_KCAT_SYNC,
    MSIM_KCAT_OTHER, /* not known: it is counted and said */
    MSIM_KCAT_DROP,  /* of no use: see msim_kineto_event.needless */
};

/* Fields of the current event; `have` has a bit for each that was there. */
#define MSIM_KHAVE_TS   (1u << 0)
#define MSIM_KHAVE_DUR  (1u << 1)
#define MSIM_KHAVE_NAME (1u << 2)
#define MSIM_KHAVE_ARGS (1u << 3) /* Input Dims, types or values */
#define MSIM_KHAVE_COMM (1u << 4) /* collective metadata */
#define MSIM_KHAVE_GRID (1u << 5)
#define MSIM_KHAVE_FWD  (1u << 6)
#define MSIM_KHAVE_NONE (1u << 7) /* a time that is no number: k->no_time */
#define MSIM_KHAVE_HELD (1u << 8) /* a total of allocated memory */
#define MSIM_KHAVE_KEPT (1u << 9) /* a total of reserved memory */

struct msim_kineto_event {
    uint32_t have;
    char ph;
    uint8_t cat;
    uint8_t sync_kind;
    uint8_t needless;  /* msim_import_kind, of MSIM_KCAT_DROP */
    uint32_t name;     /* string */
    uint32_t category; /* string, of MSIM_KCAT_OTHER */
    int64_t pid, tid, ts_us, dur_us;
    int32_t ts_ps, dur_ps;
    int64_t external, correlation, device, stream, bytes;
    int64_t wait_stream, record_correlation;
    int64_t rf_id, seq, fwd_thread;
    struct msim_launch_config config;
    /* collectives */
    uint64_t in_elems, out_elems;
    int64_t src_rank, dst_rank, comm_seq, group_size;
    uint8_t collective, dtype;
    bool has_group;
    /* memory */
    int64_t device_type, device_id, allocated, reserved;
};

/* Half of an event: it has begun. */
struct msim_kineto_open {
    int64_t pid, tid, ts_us;
    int32_t ts_ps;
    uint32_t name;
    uint32_t row; /* that it has made, or NONE */
    uint8_t cat;
};

/* A thread's name from a metadata event. */
struct msim_kineto_label {
    int64_t pid, tid;
    uint32_t name;
};

/* Events that were read, for those that are like one of them
 * (kineto_alike.c). */
struct msim_kineto_alike {
    struct msim_alike texts;
    struct msim_vec made; /* of those that are kept */
    uint64_t at;          /* offset in the file of the event at hand */
    const char *event;    /* its text; NULL: nobody keeps it */
    uint64_t keys;        /* of its args and its own that came, by their bits */
    uint32_t args;        /* block of one that is a copy, else NONE */
};

struct msim_kineto {
    struct msim_keyset keys, cats, types;
    struct msim_kineto_event ev;
    uint32_t depth; /* 0: between events, 1: in one, 2: in its args */
    uint8_t key, arg_key, grid_at;
    bool based;
    int64_t base_us; /* subtracted from every time stamp */
    uint64_t n_rows; /* events that have made one, later given up or not */
    uint64_t n_far;  /* events more than a day later */
    char no_time[64];
    /* strings: names of instants and of metadata that are of use */
    uint32_t memory, thread_name;
    struct msim_idmap threads, streams, configs;
    struct msim_idmap correlations; /* those of more than 32 bits */
    uint32_t n_correlations;
    uint32_t thread; /* of the last event that has one, NONE at first */
    /* One operator's inputs, as they come. */
    struct msim_vec dims;     /* int64_t and the marks below */
    struct msim_vec strides;  /* the same, as many where they were recorded */
    struct msim_vec types_in; /* uint8_t type codes */
    struct msim_vec values;   /* struct msim_text_piece of text */
    struct msim_vec text;
    struct msim_vec args; /* struct msim_arg being built */
    struct msim_vec labels;
    struct msim_vec open; /* struct msim_kineto_open, innermost last */
    struct msim_group_spec group;
    /* uint32_t threads, for each GPU activity and each synchronisation: of the
     * last event before it in the file that has one. */
    struct msim_vec before_gpu, before_sync;
    struct msim_kineto_alike alike;
};

#define MSIM_KDIMS_OPEN  INT64_MIN
#define MSIM_KDIMS_CLOSE (INT64_MIN + 1)

static inline struct msim_kineto *msim_kineto_of(const struct msim_reader *r)
{
    return r->state;
}

/* What the category `s` makes of the current event (kineto_category.c). */
enum msim_status msim_kineto_category(struct msim_reader *r, const char *s,
                                      size_t len);
/* The same of what Ascend's tools write instead: "AI_CORE", a task's type. */
void msim_kineto_task(struct msim_reader *r, const char *s, size_t len);
void msim_kineto_categories_init(struct msim_kineto *k);
/* Count the current event, of which nothing is made. */
enum msim_status msim_kineto_unread(struct msim_reader *r);
/* Is the current instant, or metadata, of the name that is of use? */
static inline bool msim_kineto_is_of_use(const struct msim_kineto *k)
{
    return (k->ev.have & MSIM_KHAVE_NAME) &&
           k->ev.name == (k->ev.ph == 'M' ? k->thread_name : k->memory);
}
/* The row of what a GPU holds, or what else it is (kineto_memory.c). */
enum msim_status msim_kineto_add_memory(struct msim_reader *r);
/* The current event, 'B', has begun; the last row of its category is its, if
 * `row`. 'E' ends the innermost of its thread (kineto_pairs.c). */
enum msim_status msim_kineto_begin(struct msim_reader *r, bool row);
void msim_kineto_end(struct msim_reader *r);
/* All events are in: leave out what has no end. */
void msim_kineto_end_all(struct msim_reader *r);
/* Note that `s` is no time, which the event at hand has as its `key`. */
void msim_kineto_no_time(struct msim_reader *r, const char *key, const char *s,
                         size_t len);
/* Can the current event be? If not, it is left out, and counted
 * (kineto_sound.c). */
bool msim_kineto_sound(struct msim_reader *r);
/* Can the current event be, as nearly all can: at a glance. */
bool msim_kineto_is_plain(const struct msim_kineto *k);
/* Does the current event make a row, if it can be? */
static inline bool msim_kineto_makes_row(const struct msim_kineto_event *ev)
{
    return (ev->ph == 'X' || ev->ph == 'B') && ev->cat > MSIM_KCAT_UNSEEN &&
           ev->cat < MSIM_KCAT_OTHER;
}
/* The current event is in: add its row, if it makes one, and count it
 * (kineto_rows.c). */
enum msim_status msim_kineto_event_end(struct msim_reader *r);
/* Build the argument block of the current operator (kineto_args.c). */
enum msim_status msim_kineto_args(struct msim_reader *r, uint32_t *block);
/* Has the current operator an input of a type that nobody knows? */
bool msim_kineto_is_odd(const struct msim_kineto *k);
/* A number, as itself or in a string: "stream 7", "3340707648". Any other text
 * still tells threads apart. */
int64_t msim_kineto_int(const char *s, size_t len);
/* The code of an `Input type`; for types_in. */
int msim_kineto_type(struct msim_reader *r, const char *s, size_t len,
                     uint8_t *code);
void msim_kineto_types_init(struct msim_kineto *k);
/* A file that holds several processes: one trace for each, the first in
 * r->trace and the rest in r->out->others (kineto_split.c). */
enum msim_status msim_kineto_split(struct msim_reader *r);
/* An event that begins: take it whole, where it is like one that was read
 * (kineto_alike.c). */
int msim_kineto_alike_take(struct msim_reader *r, const char *text, size_t len,
                           size_t *taken);
/* Note a number that is directly in the current event, or in its args. */
int msim_kineto_alike_note(struct msim_kineto *k, uint8_t key, const char *s,
                           size_t len);
/* A key of the current event: one that comes twice is not kept. */
static inline void msim_kineto_alike_key(struct msim_kineto_alike *a,
                                         uint8_t key)
{
    if (key && a->keys >> key & 1)
        a->event = NULL;
    a->keys |= UINT64_C(1) << key;
}
/* The current event is read: keep it for others. `row`: it has made the last
 * one of its category; `dropped`: nothing is made of it; `untyped`: tensors of
 * it that are. */
enum msim_status msim_kineto_alike_keep(struct msim_reader *r, bool row,
                                        bool dropped, uint64_t untyped);
void msim_kineto_alike_init(struct msim_kineto_alike *a);
void msim_kineto_alike_release(struct msim_kineto_alike *a);
/* All events are in: order, nest and link them (kineto_finish.c). */
enum msim_status msim_kineto_finish(struct msim_reader *r);

/* ---- kineto keys --------------------------------------------------------- */
/* The keys of an event and of its arguments. */

enum msim_kineto_key {
    K_OTHER,
    K_PH,
    K_CAT,
    K_NAME,
    K_PID,
    K_TID,
    K_TS,
    K_DUR,
    K_ARGS,
    K_EXTERNAL,
    K_CORRELATION,
    K_DEVICE,
    K_STREAM,
    K_BYTES,
    K_RF_ID,
    K_SEQ,
    K_FWD,
    K_DIMS,
    K_STRIDES,
    K_TYPES,
    K_VALUES,
    K_GRID,
    K_BLOCK,
    K_REGISTERS,
    K_SHARED,
    K_SYNC_KIND,
    K_WAIT_STREAM,
    K_RECORD,
    K_COLLECTIVE,
    K_DTYPE,
    K_IN_ELEMS,
    K_OUT_ELEMS,
    K_GROUP_SIZE,
    K_GROUP_START,
    K_GROUP_STRIDE,
    K_GROUP_NAME,
    K_GROUP_RANKS,
    K_SRC,
    K_DST,
    K_COMM_SEQ,
    K_TASK_TYPE,
    K_DEVICE_TYPE,
    K_DEVICE_ID,
    K_ALLOCATED,
    K_RESERVED,
};

void msim_kineto_keys_init(struct msim_keyset *keys);

/* The key in an event (`depth` 1) or in its args (2), K_OTHER where that says
 * nothing there. */
static inline uint8_t msim_kineto_key_of(const struct msim_kineto *k,
                                         uint32_t depth, const char *s,
                                         size_t len)
{
    uint8_t key = msim_keyset_find(&k->keys, s, len);

    if (depth == 1)
        return key > K_ARGS ? K_OTHER : key;
    return key < K_EXTERNAL && key != K_NAME ? K_OTHER : key;
}

#endif
