/*
 * core/read/reader.h - what the readers of all formats share.
 */
#ifndef MSIM_CORE_READ_READER_H
#define MSIM_CORE_READ_READER_H
#include "core/base/containers.h"
#include "core/stream/json_sax.h"
#include "core/trace/trace_columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- format -------------------------------------------------------------- */
/* The formats of trace files, and how they are to be read. */

enum msim_format { MSIM_FORMAT_ET, MSIM_FORMAT_KINETO, MSIM_FORMAT_CHAKRA };
const char *msim_format_text(enum msim_format f);

#define MSIM_OWN_COMMS_MAX 32

struct msim_load_options {
    bool salvage;       /* keep the complete records of a broken file */
    bool stand_for_all; /* ranks that are not there do as these do */
    bool keep_source;   /* keep a Chakra file's messages for writing it again */
    bool fold;          /* keep the trace of ranks that are all equal once:
                           struct msim_job_member of core/job/job.h */
    bool details;       /* of an ET: schemas, strides and value ranges, which
                           replay needs and costs do not */
    uint64_t memory;    /* bytes that may be taken; 0: half the machine's, since
                           the graph and its runs take as much again */
    uint32_t threads;   /* that read files, each its own; of one file, or of
                           pipes: 1 inflates and parses in turn, 2 overlap */
    /* Called now and then, by one thread at a time, with bytes of input read so
     * far and in all (0: not known); NULL: silence. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* Patterns of kernels that are communication, besides those whose names
     * are known. */
    const char *communication[MSIM_OWN_COMMS_MAX];
    uint32_t n_communication;
};

/* ---- keyword ------------------------------------------------------------- */
/*
 * Which of a fixed set of words a text is, in a few cycles.
 *
 * Readers see millions of object keys out of some dozens. A set is built once
 * per reader from a static list. A text's first and last eight bytes (which
 * overlap in short ones) are its fingerprint; up to sixteen bytes they are
 * all of it, so that a look-up is two loads, a multiply and two comparisons.
 */

struct msim_keyword {
    const char *text;
    uint8_t id; /* 1 .. 255; 0 means "none of them" */
};

#define MSIM_KEYWORD_SLOTS 512

struct msim_keyset {
    struct {
        uint64_t head, tail;
        const char *text;
        uint32_t len;
        uint8_t id;
    } slots[MSIM_KEYWORD_SLOTS];
};

/* `list` ends with a NULL text and must outlive the set; at most 256 words. */
void msim_keyset_init(struct msim_keyset *set, const struct msim_keyword *list);

static inline void msim_keyword_ends(const char *s, size_t len, uint64_t *head,
                                     uint64_t *tail)
{
    uint32_t a, b;

    if (len >= 8) {
        memcpy(head, s, 8);
        memcpy(tail, s + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + len - 4, 4);
        *head = a;
        *tail = b;
    } else {
        *tail = 0;
        *head = len == 0 ? 0
                         : (uint64_t)(unsigned char)s[0] << 16 |
                               (uint64_t)(unsigned char)s[len / 2] << 8 |
                               (unsigned char)s[len - 1];
    }
}

static inline uint32_t msim_keyword_slot(uint64_t head, uint64_t tail,
                                         size_t len)
{
    head = (head ^ (tail * 0x9e3779b97f4a7c15u) ^ len) * 0xff51afd7ed558ccdu;
    return (uint32_t)(head >> 40) & (MSIM_KEYWORD_SLOTS - 1);
}

/* The id of the word, or 0. */
static inline uint8_t msim_keyset_find(const struct msim_keyset *set,
                                       const char *s, size_t len)
{
    uint64_t head, tail;
    uint32_t i;

    msim_keyword_ends(s, len, &head, &tail);
    i = msim_keyword_slot(head, tail, len);
    for (; set->slots[i].id; i = (i + 1) & (MSIM_KEYWORD_SLOTS - 1))
        if (set->slots[i].len == len && set->slots[i].head == head &&
            set->slots[i].tail == tail &&
            (len <= 16 || !memcmp(set->slots[i].text, s, len)))
            return set->slots[i].id;
    return 0;
}

/* ---- reader -------------------------------------------------------------- */
/*
 * One trace file on its way from bytes to columns: what all formats need, and
 * none in particular.
 *
 * A format is a struct msim_read_format: a few functions, and a state of its
 * own that hangs on the reader. core/job/read_file.c picks one by the content
 * of a file and drives it:
 *
 *     begin --> callbacks of `handler`, or feed --> finish --> free
 *
 * Private to core/read and core/job.
 */

/* A name of an element type that is not known, and tensors of it. */
struct msim_odd_type {
    uint32_t name; /* string */
    uint64_t n;
};
/* The last slot counts all that find no other; its name is then 0. */
#define MSIM_READ_ODD_TYPES 16

/* What was found in a file; of its records, see the trace's log. */
struct msim_read_result {
    struct msim_trace *trace; /* owned by the caller; NULL: not a trace */
    /* Owned by the caller, too: further processes that the file holds. */
    struct msim_trace **others;
    uint32_t n_others;
    enum msim_format format;
    uint32_t version; /* string */
    int64_t rank;     /* -1 unknown */
    struct msim_odd_type odd_types[MSIM_READ_ODD_TYPES];
    uint64_t untyped; /* tensors whose element type the file does not name */
    struct msim_json_repairs repairs; /* of what was read with `repair` */
    /* Where the trace's time 0 lies on the writer's clock. */
    bool has_origin;
    int64_t origin_us;
    int32_t origin_ps;
    char note[128]; /* msim_input_note() */
    bool salvaged;
    uint64_t broken;          /* salvaged: records passed over */
    struct msim_error damage; /* salvaged: what was wrong */
};

/* Free the traces. */
void msim_read_result_release(struct msim_read_result *read);

struct msim_reader;

/*
 * The functions that read the records of one format. The callbacks of
 * `handler` get the reader as their context. A function that fails may explain
 * it in reader->problem (msim_read_problem()).
 */
struct msim_read_format {
    enum msim_format id;
    const char *records; /* what a file consists of, in messages: "nodes" */

    /* Makes reader->state; ENOMEM. */
    enum msim_status (*begin)(struct msim_reader *r);

    /* JSON: what is reported of the array of records; it ends with
     * msim_read_records_end(). NULL: not JSON, feed() gets the bytes. */
    const struct msim_sax_handler *handler;
    /* The next bytes of the file; `len` 0: there are no more. */
    enum msim_status (*feed)(struct msim_reader *r, const char *bytes,
                             size_t len);
    /* Offset in the file of the byte that a failed feed() is about. */
    uint64_t (*offset)(const struct msim_reader *r);

    /* A record was broken, the next begins: forget it. NULL: what follows a
     * broken record is not read. */
    void (*forget)(void *state);

    /* All records are in: order, nest and link them. */
    enum msim_status (*finish)(struct msim_reader *r);
    void (*free)(void *state); /* accepts NULL */
};

struct msim_reader {
    struct msim_read_result *out;
    struct msim_trace *trace;
    struct msim_strtab *strings;
    struct msim_sax *sax;
    const struct msim_sax_handler *top; /* for everything but records */
    struct msim_argpool pool;
    struct msim_idmap group_names;         /* string number -> group */
    const struct msim_read_format *format; /* NULL: not known yet */
    void *state;                           /* the format's */
    struct msim_error problem; /* of a callback; the offset comes later */
    uint64_t complete;         /* records taken whole */
    bool in_records;           /* between their begin and their end */
    bool keep_source;          /* of msim_load_options */
    bool details;              /* of msim_load_options */
    int64_t base_ns;           /* baseTimeNanoseconds at the top level */
};

/* The records of `format` begin: the file is a trace of that format. */
enum msim_status msim_read_begin(struct msim_reader *r,
                                 const struct msim_read_format *format);
/* The array of records has ended: report to r->top again. */
void msim_read_records_end(struct msim_reader *r);

/* Note a problem with a record; returns `status` for the callback. */
int msim_read_problem(struct msim_reader *r, enum msim_status status,
                      const char *fmt, ...) MSIM_PRINTF(3, 4);

/* Leave out the record at hand, which says what cannot be. */
void msim_read_leave_out(struct msim_reader *r, const char *fmt, ...)
    MSIM_PRINTF(2, 3);

/* Count the record at hand as one of `kind`, which makes no row. */
void msim_read_count(struct msim_reader *r, enum msim_import_kind kind);
/* The same of a kind that counts by name. */
enum msim_status msim_read_count_name(struct msim_reader *r,
                                      enum msim_import_kind kind,
                                      const char *name, uint64_t us);

/* The slot of an element type of that name, which is not known. */
MSIM_MUST_CHECK
enum msim_status msim_read_odd_type(struct msim_reader *r, const char *s,
                                    size_t len, uint8_t *slot);

int msim_read_string(struct msim_reader *r, const char *s, size_t len,
                     uint32_t *id);

/* The row of configs that equals `c`, made if it is new: launch configurations
 * repeat as argument lists do. */
enum msim_status msim_read_config(struct msim_trace *t,
                                  struct msim_idmap *known,
                                  const struct msim_launch_config *c,
                                  uint32_t *config);

/* ---- groups ------------------------------------------------------------- */

/* A group's definition while it is read; ET and Kineto have them
 * (read_groups.c). */
struct msim_group_spec {
    uint32_t name, alias; /* strings; alias: a 1.0.2 file's pointer */
    uint32_t size;
    int64_t start, stride; /* of its ranks: stride < 0 no one, 0 not said */
    bool listed;           /* a list of ranks was given, if an empty one */
    bool cut;              /* by the recorder: `ranks` are the first of it */
    struct msim_vec ranks; /* int32_t */
};

/* The group called `name`, made if it is new. */
enum msim_status msim_group_get(struct msim_reader *r, uint32_t name,
                                uint32_t *group);
/* The group of the name and the list of `spec`, with what was not known of it
 * yet. A list that was cut is completed to the group's size where its ranks lie
 * regularly. */
enum msim_status msim_group_define(struct msim_reader *r,
                                   struct msim_group_spec *spec,
                                   uint32_t *group);
/* Numbers of a text like "[0, 1, 2]", or of "[0, 1, ...]" the first. */
int msim_group_parse_ranks(struct msim_group_spec *spec, const char *s,
                           size_t len);
/* The list of groups in a `## process_group:init ##` string. */
enum msim_status msim_group_parse_list(struct msim_reader *r, const char *s,
                                       size_t len);
void msim_group_spec_reset(struct msim_group_spec *spec);

/* Handlers of one key of a group's object; shared with read_top.c. */
int msim_group_spec_number(struct msim_reader *r, struct msim_group_spec *spec,
                           uint8_t key, const char *s, size_t len);
int msim_group_spec_string(struct msim_reader *r, struct msim_group_spec *spec,
                           uint8_t key, const char *s, size_t len);

enum msim_group_key {
    MSIM_GKEY_NAME = 200,
    MSIM_GKEY_RANKS,
    MSIM_GKEY_SIZE,
    MSIM_GKEY_BACKEND_ID,
};
#define MSIM_GROUP_KEYS                                                        \
    {"pg_name", MSIM_GKEY_NAME}, {"ranks", MSIM_GKEY_RANKS},                   \
        {"pg_size", MSIM_GKEY_SIZE}, {"group_size", MSIM_GKEY_SIZE},           \
    {                                                                          \
        "backend_id", MSIM_GKEY_BACKEND_ID                                     \
    }

#endif
