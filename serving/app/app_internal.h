/*
 * serving/app/app_internal.h - what the files of serving/app share; no other
 * room includes it.
 */
#ifndef MSIM_SERVING_APP_APP_INTERNAL_H
#define MSIM_SERVING_APP_APP_INTERNAL_H
#include "core/json/fields.h"
#include "serving/app/app.h"

/* What the readers of APP.json's parts share. */

/* More is a mistake, or made to fill the memory. */
#define MSIM_APP_MOST_CLASSES  1000
#define MSIM_APP_MOST_PROMISES 10000
#define MSIM_APP_MOST_STAGES   1000
#define MSIM_APP_MOST_EDGES    20000

/* Room in the arena; NULL with ENOMEM in `f`. */
void *msim_app_room(struct msim_app *app, struct msim_fields *f, size_t n,
                    size_t bytes);
/* A copy in the arena; NULL with ENOMEM in `f`. */
const char *msim_app_copy(struct msim_app *app, struct msim_fields *f,
                          const char *text);
/* A path of the file: a relative one begins in the folder of the file. */
const char *msim_app_join(struct msim_app *app, struct msim_fields *f,
                          const char *path);
/* A member that the file does not have: `member` of `f`. */
void msim_app_assume(struct msim_app *app, const struct msim_fields *f,
                     const char *member, const char *value, const char *why);

/* Refuse a name, of member `key`, with characters that cannot be shown: it
 * would not come back from CSV, and two could look alike. */
void msim_app_check_name(struct msim_fields *f, const char *key,
                         const char *name);

/* A DIST of values from 0; NONE where it is absent. */
struct msim_dist msim_app_dist(struct msim_app *app, struct msim_fields *f,
                               const char *key);

/* Members of `f`, all of APP.json; errors stay in it. */
void msim_app_read_classes(struct msim_app *app, struct msim_fields *f);
void msim_app_read_promises(struct msim_app *app, struct msim_fields *f);
void msim_app_read_arrivals(struct msim_app *app, struct msim_fields *f);
void msim_app_read_stages(struct msim_app *app, struct msim_fields *f);
void msim_app_read_flow(struct msim_app *app, struct msim_fields *f);

/* What model and llm stages have beside the others; `f` is the stage. */
void msim_app_read_llm(struct msim_app *app, struct msim_stage *s,
                       struct msim_fields *f);

/* The member `key`, a list of recorded passes; none where it is absent. */
void msim_app_read_recorded(struct msim_app *app, struct msim_recorded *r,
                            struct msim_fields *f, const char *key);

#endif
