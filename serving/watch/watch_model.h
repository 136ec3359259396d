/*
 * serving/watch/watch_model.h - trees that say how likely a violation is, and
 * what the next second's p99 will be.
 *
 * Two forests (models/forest/forest.h) of the same numbers of a second: the
 * log odds of a violation within the horizon, and the logarithm of the next
 * second's p99 over the mean of the last three. The first numbers are those of
 * watch_features.h; a model of one application goes on with numbers of single
 * stages. data/laws/watch.json was fitted to runs of many applications and is
 * asked where there is no model of this one; its answer is a number of those
 * models.
 *
 * Trees of all applications take the noise of some for growth, again and again.
 * So their log odds of a violation are
 *
 *     said x (what they say) + usually x (what they usually say) + plus
 *
 * Usually they say the 95 % quantile of what they said in the seconds of the
 * last two minutes after which nothing came within the horizon.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_MODEL_H
#define MSIM_SERVING_WATCH_WATCH_MODEL_H
#include "models/forest/forest.h"
#include "serving/watch/watch_features.h"

#define MSIM_WATCH_MODEL_SCHEMA "mystique-sim/watch-model/1"
#define MSIM_WATCH_COLUMNS_MAX  128 /* what trees can split */

/* A number of one stage. */
struct msim_watch_column {
    uint32_t stage;
    enum msim_stage_feature feature;
};

/* Of what trees say, as of what they usually say: what is fitted to (learn),
 * and what is read (watch). */
#define MSIM_WATCH_USUALLY 0.95

/* What trees said of an application in the seconds kept, the last one last. */
struct msim_watch_said {
    double log_odds[MSIM_HISTORY_KEPT];
    bool late[MSIM_HISTORY_KEPT]; /* the second violates */
    uint32_t n;
};

void msim_watch_said_add(struct msim_watch_said *s, double log_odds, bool late);

/* The log odds of a violation from those of the trees. */
struct msim_watch_odds {
    double said, usually, plus;
    double begin; /* what trees usually say where nothing is known of that */
};

struct msim_watch_model {
    double horizon_s;
    struct msim_watch_odds odds;
    struct msim_watch_column columns[MSIM_WATCH_COLUMNS_MAX - MSIM_FEATURES];
    uint32_t n_columns; /* behind MSIM_FEATURES */
    struct msim_forest violation, next;
};

/*
 * Read a model file; `app` is NULL for a model of all applications, else the
 * one that it must be of. On failure `m` holds nothing: EIO, ESYNTAX, EFORMAT.
 */
MSIM_MUST_CHECK
enum msim_status msim_watch_model_read(struct msim_watch_model *m,
                                       const char *path,
                                       const struct msim_app *app,
                                       struct msim_error *err);
void msim_watch_model_release(struct msim_watch_model *m);

/* The same of a file that was read already. */
MSIM_MUST_CHECK
enum msim_status msim_watch_model_parse(struct msim_watch_model *m,
                                        const cJSON *json, const char *path,
                                        const struct msim_app *app,
                                        struct msim_error *err);

/* The number of numbers of a second, and all of them; `x` begins with those of
 * msim_features_of(). */
static inline uint32_t msim_watch_model_width(const struct msim_watch_model *m)
{
    return MSIM_FEATURES + m->n_columns;
}
void msim_watch_model_columns(const struct msim_watch_model *m, double *x,
                              const struct msim_history *h, double limit_ms);

/* What trees usually say, as far as that is known: `begin` counts as ten
 * seconds of it. */
double msim_watch_said_usually(const struct msim_watch_said *s,
                               double horizon_s, double begin);
/* The log odds of a violation within the model's horizon, from what its trees
 * say and usually say. */
double msim_watch_model_odds(const struct msim_watch_model *m, double trees,
                             double usually);
/* The probability within `horizon_s` (for another one than the model's as if
 * each second were as likely). */
double msim_watch_model_chance(const struct msim_watch_model *m,
                               double log_odds, double horizon_s);
/* The next second's p99 in ms (NAN: there was none yet). */
double msim_watch_model_next(const struct msim_watch_model *m, const double *x,
                             double limit_ms);

#endif
