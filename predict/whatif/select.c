/*
 * predict/whatif/select.c - selections that select nothing.
 */
#include "predict/whatif/select.h"

#include "core/base/nearest.h"
#include "core/graph/task_text.h"
#include "core/report/write/report_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 3 /* names that are offered */

/* ---- names that come near --------------------------------------------------
 */

struct near {
    char name[NEAR][MSIM_PART_BYTES];
    unsigned apart[NEAR];
    uint32_t n;
};

static void offer(struct near *near, const char *asked, const char *name)
{
    char shown[MSIM_PART_BYTES];
    unsigned d, at;

    msim_format_op(shown, sizeof(shown), name, MSIM_PART_BYTES - 1);
    for (uint32_t i = 0; i < near->n; i++)
        if (strcmp(near->name[i], shown) == 0)
            return;
    d = msim_part_distance(asked, shown);
    for (at = near->n; at > 0 && near->apart[at - 1] > d; at--)
        if (at < NEAR) {
            near->apart[at] = near->apart[at - 1];
            memcpy(near->name[at], near->name[at - 1], MSIM_PART_BYTES);
        }
    if (at == NEAR)
        return;
    near->apart[at] = d;
    memcpy(near->name[at], shown, MSIM_PART_BYTES);
    near->n += near->n < NEAR;
}

/* Every name of a task that such a selection could match, once. */
static enum msim_status offer_all(struct near *near, const char *asked,
                                  const struct msim_graph *g, bool host)
{
    const struct msim_strtab *strings = g->job->strings;
    bool *seen = calloc((size_t)msim_strtab_count(strings) + 1, sizeof(*seen));

    if (!seen)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        bool gpu = g->kind[t] >= MSIM_TASK_KERNEL;
        uint32_t name = msim_task_topmost(g, t);

        if (!name && gpu)
            name = msim_task_own_name(g, t);
        if (gpu == host || g->kind[t] == MSIM_TASK_JOIN || !name || seen[name])
            continue;
        seen[name] = true;
        offer(near, asked, msim_strtab_text(strings, name));
    }
    free(seen);
    return MSIM_OK;
}

/* The letters of a pattern. */
static void letters(char out[MSIM_PART_BYTES], const struct msim_scale *s)
{
    size_t n = 0;

    for (int i = 0; i < s->glob_length && n + 1 < MSIM_PART_BYTES; i++)
        if (!strchr("*?[]", s->glob[i]))
            out[n++] = s->glob[i];
    out[n] = '\0';
}

static enum msim_status no_match(const struct msim_scale *s,
                                 const struct msim_predict_settings *settings,
                                 const struct msim_graph *g,
                                 struct msim_error *err)
{
    bool host = s->select == MSIM_SELECT_HOST_OP;
    struct near near = {.n = 0};
    char asked[MSIM_PART_BYTES], names[NEAR * (MSIM_PART_BYTES + 4) + 1] = "";
    size_t used = 0;

    letters(asked, s);
    MSIM_TRY(offer_all(&near, asked, g, host));
    for (uint32_t i = 0; i < near.n; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'",
                                 i ? ", " : "", near.name[i]);
    return msim_fail(err, MSIM_EUSAGE, settings->paths[0], MSIM_OFFSET_NONE,
                     "'%s' selects nothing: no topmost operator with %s has "
                     "a name that matches '%.*s'; %s%s",
                     s->text, host ? "time on the host" : "GPU work",
                     s->glob_length, s->glob,
                     near.n ? "near it are " : "there is none at all", names);
}

/* ---- options without effect ------------------------------------------------
 */

static bool is_pattern(const struct msim_scale *s)
{
    return s->select == MSIM_SELECT_OP || s->select == MSIM_SELECT_HOST_OP;
}

const char *msim_select_idle(const struct msim_predict_settings *s,
                             const struct msim_target *to,
                             const struct msim_graph *g)
{
    if (s->peers != MSIM_PEERS_FOLLOW)
        return NULL;
    if (!msim_target_replays(to))
        return "'--peers follow' has no effect: only a run that is replayed on "
               "the GPU that was traced waits for absent ranks as traced";
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (g->releases[i].external)
            return NULL;
    return "'--peers follow' has no effect: no rank without a trace is waited "
           "for";
}

enum msim_status msim_select_check(const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_graph *g,
                                   struct msim_error *err)
{
    for (uint32_t i = 0; i < s->n_scales; i++) {
        const struct msim_scale *one = &s->scales[i];
        uint32_t n;

        MSIM_TRY(msim_scale_count(&n, one, g));
        if (n)
            continue;
        if (is_pattern(one))
            return no_match(one, s, g, err);
        msim_job_warn(in->job,
                      "'--scale %s' has no effect: the job has none "
                      "of that work",
                      one->text);
    }
    return MSIM_OK;
}
