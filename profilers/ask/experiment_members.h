/*
 * profilers/ask/experiment_members.h - the members of an experiment's line, for
 * whoever asks.
 *
 * One function lists them; what writes, hashes and describes an experiment
 * visits that list, so that all agree.
 */
#ifndef MSIM_PROFILERS_ASK_EXPERIMENT_MEMBERS_H
#define MSIM_PROFILERS_ASK_EXPERIMENT_MEMBERS_H
#include "profilers/experiment.h"

/* A text, or a number where that is NULL. */
struct msim_member {
    const char *key, *text;
    double number;
};

/* Visit the members that profilers/experiment.h reads, but what runs beside. */
void msim_experiment_visit(const struct msim_experiment *e, void *ctx,
                           void (*visit)(void *ctx,
                                         const struct msim_member *m));

/* They as an object of the caller's; NULL without memory. */
cJSON *msim_experiment_json(const struct msim_experiment *e);

#endif
