/*
 * core/read/read_state.h - what the files of the reader share; for read_*.c
 * only.
 */
#ifndef MSIM_CORE_READ_READ_STATE_H
#define MSIM_CORE_READ_READ_STATE_H
#include "core/base/idmap.h"
#include "core/base/json_sax.h"
#include "core/base/keyword.h"
#include "core/base/vec.h"
#include "core/read/read.h"
#include "core/trace/argpool.h"

struct msim_kineto; /* read_kineto.c */
struct msim_et;     /* read_et.c */
struct msim_chakra; /* read_chakra.c */

/* Group definitions, which both formats have (read_groups.c). */
struct msim_group_spec {
    uint32_t name, alias; /* strings; alias: a 1.0.2 file's pointer */
    uint32_t size;
    bool listed;           /* a list of ranks was given, if an empty one */
    struct msim_vec ranks; /* int32_t */
};

struct msim_reader {
    struct msim_read_result *out;
    struct msim_trace *trace;
    struct msim_strtab *strings;
    struct msim_sax *sax;
    struct msim_argpool pool;
    struct msim_idmap group_names; /* string number -> group */
    struct msim_kineto *kineto;
    struct msim_et *et;
    struct msim_chakra *chakra;
    struct msim_error problem; /* of a callback; the offset comes later */
    uint64_t complete;         /* records taken whole */
    bool salvage;              /* what is complete is kept anyway */
    bool keep;                 /* msim_load_options.keep_source */
    bool decided;              /* JSON or not; until then `head` has it all */
    struct msim_vec head;

    /* The top level (read_file.c). */
    struct msim_keyset keys;
    uint8_t place, key;
    uint32_t depth;
    int64_t base_ns;         /* baseTimeNanoseconds */
    bool whole;              /* the top-level value is complete */
    struct msim_vec devices; /* struct msim_device_spec */
    struct msim_group_spec group;
};

struct msim_device_spec {
    int64_t id;
    struct msim_gpu_properties p;
};

/* Note a problem with a record; returns its status for the callback. */
int msim_read_problem(struct msim_reader *r, enum msim_status status,
                      const char *fmt, ...) MSIM_PRINTF(3, 4);

int msim_read_string(struct msim_reader *r, const char *s, size_t len,
                     uint32_t *id);

/* The row of a launch configuration: they repeat as argument lists do. */
enum msim_status msim_read_config(struct msim_trace *t,
                                  struct msim_idmap *known,
                                  const struct msim_launch_config *c,
                                  uint32_t *config);

extern const struct msim_sax_handler msim_read_top_handler;
extern const struct msim_sax_handler msim_read_kineto_handler;
extern const struct msim_sax_handler msim_read_et_handler;

enum msim_status msim_kineto_new(struct msim_reader *r);
/* All records are in: order, nest and link them. */
enum msim_status msim_kineto_finish(struct msim_reader *r);
void msim_kineto_free(struct msim_kineto *k);

enum msim_status msim_et_new(struct msim_reader *r);
enum msim_status msim_et_finish(struct msim_reader *r);
void msim_et_free(struct msim_et *e);

/* ---- groups ------------------------------------------------------------- */

/* The group called `name`, made if it is new. */
enum msim_status msim_group_get(struct msim_reader *r, uint32_t name,
                                uint32_t *group);
/* What is known of a group: fill in what is not known yet. */
enum msim_status msim_group_define(struct msim_reader *r,
                                   const struct msim_group_spec *spec);
/* Numbers of a text like "[0, 1, 2]"; a list cut by "..." gives none. */
int msim_group_parse_ranks(struct msim_group_spec *spec, const char *s,
                           size_t len);
/* The list of groups in a `## process_group:init ##` string. */
enum msim_status msim_group_parse_list(struct msim_reader *r, const char *s,
                                       size_t len);
void msim_group_spec_reset(struct msim_group_spec *spec);

/* Handlers of one key of a group's object; shared with read_file.c. */
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
