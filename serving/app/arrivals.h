/*
 * serving/app/arrivals.h - requests as they arrive: when, of which class, how
 * long, how large, and what of the prompt was seen before.
 *
 * | process | time from one request to the next |
 * | poisson | exponential |
 * | gamma | gamma with that cv: above 1 it comes in bursts |
 * | constant | all the same |
 * | mmpp | exponential, at a rate that changes: `factor` times the mean for
 *   on_s seconds, then as much below it for off_s seconds, so that the mean
 *   stays `rate`. Both times are exponential with those means (a
 *   Markov-modulated Poisson process; Fischer and Meier-Hellstern, 1993) |
 * | log | that of the log, scaled to a rate where one is asked for |
 * | closed | the simulator's: `concurrency` clients, each with one request at a
 *   time, the first at once, the next a think time after the answer |
 *
 * With a profile the rate is that of the moment: gaps are drawn for a rate of
 * one and stretched, so that the integral of the rate over a gap is what was
 * drawn (Cinlar, 1975, "Introduction to stochastic processes", 4.7).
 *
 * The i-th request is a function of the seed and i (its time of those before it
 * too), whatever the rate: at another rate the same requests come faster.
 */
#ifndef MSIM_SERVING_APP_ARRIVALS_H
#define MSIM_SERVING_APP_ARRIVALS_H
#include "serving/app/app.h"

struct msim_request_log; /* serving/log/request_log.h */

struct msim_arrival {
    uint64_t index; /* from 0 */
    double t_s;     /* from the start; 0 of closed arrivals */
    uint32_t cls;
    uint32_t input_tokens, output_tokens; /* from 1; 0: the class has none */
    double size;                          /* mean 1 */
    /* Prompts with the same number are the same, those of one group begin with
     * the same `shared_tokens`; 0: nothing is known, and none are alike. */
    uint64_t prompt, group;
    uint32_t shared_tokens;
    const uint64_t *blocks; /* of a log; see struct msim_logged */
    uint32_t n_blocks;
};

struct msim_arrival_how {
    uint64_t seed;
    double rate;         /* a second; 0: the application's */
    int64_t concurrency; /* above 0: closed, instead of the application's */
    const char *log;     /* a path, instead of the application's; or NULL */
};

struct msim_arrival_source; /* opaque; one a thread */

/*
 * Begin at the first request. `app` is kept. EFORMAT where there is no rate, or
 * a class of the log is none of the application's; what reading a log fails
 * with; ENOMEM. On success `*out` is the caller's.
 */
MSIM_MUST_CHECK
enum msim_status msim_arrival_source_new(struct msim_arrival_source **out,
                                         const struct msim_app *app,
                                         const struct msim_arrival_how *how,
                                         struct msim_error *err);
void msim_arrival_source_free(struct msim_arrival_source *s); /* or NULL */
/* From the first request again, with that seed. */
void msim_arrival_source_rewind(struct msim_arrival_source *s, uint64_t seed);

/* The next request; false after the last of a log. */
bool msim_arrival_source_next(struct msim_arrival_source *s,
                              struct msim_arrival *a);

/* Clients of closed arrivals; 0: they are open. */
int64_t msim_arrival_source_clients(const struct msim_arrival_source *s);
/* From the answer to the request of that index to its client's next one. */
double msim_arrival_source_think_ms(const struct msim_arrival_source *s,
                                    uint64_t index);
/* Requests of the log; 0: there is no last one. */
uint32_t msim_arrival_source_count(const struct msim_arrival_source *s);

/*
 * Hashes of the prompt's whole units of `unit` tokens, each of its unit and all
 * before it: `room` of them at most. Returns how many; 0 where prompts are not
 * alike.
 */
uint32_t msim_arrival_hashes(const struct msim_arrival *a, uint32_t unit,
                             uint64_t *hashes, uint32_t room);

#endif
