/*
 * core/json/fields.h - members of a JSON object, read with errors that name
 * the member by its path: "moe.experts is 0, want a whole number from 1".
 *
 * The first failure stays; later calls return what is harmless. A reader asks
 * for all its members and looks at `status` once.
 */
#ifndef MSIM_CORE_JSON_FIELDS_H
#define MSIM_CORE_JSON_FIELDS_H
#include "core/base/json.h"

struct msim_fields {
    const cJSON *object; /* NULL: none, every member is absent */
    const char *file;    /* for errors; NULL: none */
    char path[128];      /* of the object: "" or "moe." */
    enum msim_status status;
    struct msim_error *err;
};

/* What a member is where the object lacks it. */
#define MSIM_FIELD_WANTED INT64_MIN /* that is an error */

struct msim_fields msim_fields_of(const cJSON *object, const char *file,
                                  struct msim_error *err);
/* The member `key` of `f`, an object; its `object` is NULL where it is absent.
 * Hand its status back with msim_fields_close(). */
struct msim_fields msim_fields_open(struct msim_fields *f, const char *key);
/* Item `index` of the array `key`, an object; closed in the same way. */
struct msim_fields msim_fields_open_item(struct msim_fields *f, const char *key,
                                         uint32_t index, const cJSON *item);
void msim_fields_close(struct msim_fields *f, const struct msim_fields *inner);

/* A whole number from `least` to 10^15. */
int64_t msim_field_int(struct msim_fields *f, const char *key, int64_t least,
                       int64_t missing);
/* A number above 0. */
double msim_field_real(struct msim_fields *f, const char *key, double missing);
/* A number from `least` to `most`, which may be infinite. */
double msim_field_between(struct msim_fields *f, const char *key, double least,
                          double most, double missing);
bool msim_field_bool(struct msim_fields *f, const char *key, bool missing);
/* The index of the member's text in `words`, whose end is NULL. */
int msim_field_word(struct msim_fields *f, const char *key,
                    const char *const *words, int missing);
/* The text, NULL where it is absent. */
const char *msim_field_text(struct msim_fields *f, const char *key);

/* The member as it is; NULL where it is absent or null. */
const cJSON *msim_field_json(const struct msim_fields *f, const char *key);
/* The array, NULL where it is absent. */
const cJSON *msim_field_array(struct msim_fields *f, const char *key);

/* Refuse members that are not among `keys` (the end is NULL), with the nearest
 * one that is. */
void msim_fields_only(struct msim_fields *f, const char *const *keys);

/* Record an error about member `key`: "KEY is FOUND, want WANT". */
void msim_field_refuse(struct msim_fields *f, const char *key,
                       const char *want);
/* Likewise about one item of an array: "KEY[2] is FOUND, want WANT". */
void msim_field_refuse_item(struct msim_fields *f, const char *key,
                            uint32_t index, const char *want);

#endif
