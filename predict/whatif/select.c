/*
 * predict/whatif/select.c - selections that select nothing.
 */
#include "predict/whatif/whatif.h"

#include "core/base/texts.h"
#include "core/graph/graph.h"
#include "core/report/write/report.h"

#include <fnmatch.h>
#include <inttypes.h>
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

static void offer(struct near *near, const char *asked, const char *shown)
{
    unsigned d, at;

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
    snprintf(near->name[at], MSIM_PART_BYTES, "%s", shown);
    near->n += near->n < NEAR;
}

/* By the name that reports show. */
static void offer_shown(struct near *near, const char *asked, const char *name)
{
    char shown[MSIM_PART_BYTES];

    msim_format_op(shown, sizeof(shown), name, MSIM_PART_BYTES - 1);
    offer(near, asked, shown);
}

#define NEAR_TEXT (NEAR * (MSIM_PART_BYTES + 4) + 32)

static void list_near(char out[NEAR_TEXT], const struct near *near)
{
    size_t used = (size_t)snprintf(
        out, NEAR_TEXT, near->n ? "near it are " : "there is none at all");

    for (uint32_t i = 0; i < near->n; i++)
        used += (size_t)snprintf(out + used, NEAR_TEXT - used, "%s'%s'",
                                 i ? ", " : "", near->name[i]);
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
        offer_shown(near, asked, msim_strtab_text(strings, name));
    }
    free(seen);
    return MSIM_OK;
}

/* The letters of a pattern. */
static void letters(char out[MSIM_PART_BYTES], const char *glob, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length && n + 1 < MSIM_PART_BYTES; i++)
        if (!strchr("*?[]", glob[i]))
            out[n++] = glob[i];
    out[n] = '\0';
}

static enum msim_status no_match(const struct msim_scale *s,
                                 const struct msim_predict_settings *settings,
                                 const struct msim_graph *g,
                                 struct msim_error *err)
{
    bool host = s->select == MSIM_SELECT_HOST_OP;
    struct near near = {.n = 0};
    char asked[MSIM_PART_BYTES], names[NEAR_TEXT];

    letters(asked, s->glob, (size_t)s->glob_length);
    MSIM_TRY(offer_all(&near, asked, g, host));
    list_near(names, &near);
    return msim_fail(err, MSIM_EUSAGE, settings->paths[0], MSIM_OFFSET_NONE,
                     "'%s' selects nothing: no topmost operator with %s has "
                     "a name that matches '%.*s'; %s",
                     s->text, host ? "time on the host" : "GPU work",
                     s->glob_length, s->glob, names);
}

/* Is `word` one of those in `list`, with blanks between them? */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Streams that have work, as far as they fit. */
static enum msim_status no_stream(const struct msim_scale *s,
                                  const struct msim_predict_settings *settings,
                                  const struct msim_graph *g,
                                  struct msim_error *err)
{
    char all[200] = "", id[MSIM_LANE_NAME];
    size_t used = 0;

    for (uint32_t i = 0; i < g->n_lanes; i++) {
        if (!g->lanes[i].device)
            continue;
        msim_stream_id(id, g, i);
        if (used + strlen(id) + 4 > sizeof(all) || has_word(all, id))
            continue;
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 used ? " " : "", id);
    }
    return msim_fail(err, MSIM_EUSAGE, settings->paths[0], MSIM_OFFSET_NONE,
                     "'%s' selects nothing: no stream '%.*s'%s has GPU work; "
                     "there %s %s",
                     s->text, s->glob_length, s->glob,
                     s->one_rank ? " of that rank" : "", used ? "are" : "is",
                     used ? all : "none at all");
}

/* ---- a part of the run ----------------------------------------------------
 */

/* An option that names operators of a part. */
struct pattern {
    const char *option, *glob;
    bool labels;         /* names of labels count, too */
    const char *instead; /* what else its value could have been, or "" */
};

/* The strings that are names of what a pattern could match. */
static enum msim_status names_for(bool **used, const struct msim_job *job,
                                  const struct pattern *p)
{
    *used = calloc((size_t)msim_strtab_count(job->strings) + 1, sizeof(**used));
    if (!*used)
        return MSIM_ENOMEM;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        for (uint32_t i = 0; i < job->ranks[r]->n_ops; i++) {
            const struct msim_op *op = &job->ranks[r]->ops[i];

            if (p->labels || op->kind == MSIM_OP_OPERATOR)
                (*used)[op->name] = true;
        }
    return MSIM_OK;
}

/* Does a name match? Else what comes near. */
static bool find_name(struct near *near, const bool *used,
                      const struct msim_job *job, const char *glob)
{
    uint32_t n = msim_strtab_count(job->strings);
    char asked[MSIM_PART_BYTES], name[MSIM_PART_BYTES];

    for (uint32_t i = 0; i <= n; i++)
        if (used[i] && fnmatch(glob, msim_strtab_text(job->strings, i), 0) == 0)
            return true;
    letters(asked, glob, strlen(glob));
    for (uint32_t i = 1; i <= n; i++) {
        if (!used[i])
            continue;
        snprintf(name, sizeof(name), "%s", msim_strtab_text(job->strings, i));
        offer(near, asked, name);
    }
    return false;
}

static enum msim_status check_pattern(const struct pattern *p,
                                      const struct msim_predict_settings *s,
                                      const struct msim_job *job,
                                      struct msim_error *err)
{
    struct near near = {.n = 0};
    char names[NEAR_TEXT];
    bool *used, found;

    if (!p->glob)
        return MSIM_OK;
    MSIM_TRY(names_for(&used, job, p));
    found = find_name(&near, used, job, p->glob);
    free(used);
    if (found)
        return MSIM_OK;
    list_near(names, &near);
    return msim_fail(err, MSIM_EUSAGE, s->paths[0], MSIM_OFFSET_NONE,
                     "'%s %s' selects nothing: %sno operator%s has a name that "
                     "matches; %s",
                     p->option, p->glob, p->instead,
                     p->labels ? " or label" : "", names);
}

/* Parts that are empty only together, or by their nodes. */
static enum msim_status check_part(const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_graph *g,
                                   struct msim_error *err)
{
    const struct msim_choice *c = &s->choice;
    const struct msim_choice kind = {.kind = c->kind};
    uint32_t n;

    MSIM_TRY(msim_choice_count(&n, c, g));
    if (n)
        return MSIM_OK;
    MSIM_TRY(msim_choice_count(&n, &kind, g));
    if (n)
        return msim_fail(
            err, MSIM_EUSAGE, s->paths[0], MSIM_OFFSET_NONE, "%s",
            c->to ? "the options choose no operator of the job: --range wants "
                    "ids of nodes of an execution trace (ET)"
                  : "the options choose no operator of the job, together");
    msim_job_warn(in->job,
                  "'--kind %s' leaves nothing: the job has none of "
                  "that work",
                  MSIM_CHOICE_KINDS[c->kind]);
    return MSIM_OK;
}

static enum msim_status check_choice(const struct msim_predict_settings *s,
                                     const struct msim_inputs *in,
                                     const struct msim_graph *g,
                                     struct msim_error *err)
{
    const struct msim_choice *c = &s->choice;
    const struct pattern patterns[] = {
        {"--subtree", c->subtree, true, ""},
        {"--ops", c->ops, false,
         "there is no file (a table) of that name, and "},
        {"--exclude", c->exclude, true, ""},
    };

    if (msim_choice_is_all(c))
        return MSIM_OK;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        MSIM_TRY(check_pattern(&patterns[i], s, in->job, err));
    return check_part(s, in, g, err);
}

/* ---- options without effect ------------------------------------------------
 */

const char *msim_select_idle(const struct msim_predict_settings *s,
                             const struct msim_target *to,
                             const struct msim_graph *g)
{
    if (s->peers != MSIM_PEERS_FIXED)
        return NULL;
    if (!msim_target_replays(to))
        return "'--peers fixed' has no effect: only a run that is replayed on "
               "the GPU that was traced waits for absent ranks as traced";
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (g->releases[i].external)
            return NULL;
    return "'--peers fixed' has no effect: no rank without a trace is waited "
           "for";
}

static bool has_rank(const struct msim_job *job, int64_t rank)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->rank == rank)
            return true;
    return false;
}

enum msim_status msim_select_check(const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_costs *c,
                                   const struct msim_graph *g,
                                   struct msim_error *err)
{
    for (uint32_t i = 0; i < s->n_scales; i++) {
        const struct msim_scale *one = &s->scales[i];
        uint32_t n;

        MSIM_TRY(msim_scale_count(&n, one, c, g));
        if (n)
            continue;
        if (one->select == MSIM_SELECT_STREAM)
            return no_stream(one, s, g, err);
        if (msim_scale_is_pattern(one))
            return no_match(one, s, g, err);
        if (one->one_rank && !has_rank(in->job, one->rank))
            return msim_fail(
                err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                "'%s' selects nothing: no trace is of rank %lld, want "
                "one of those that 'info' lists",
                one->text, (long long)one->rank);
        msim_job_warn(in->job,
                      "'--scale %s' has no effect: the job has none "
                      "of that work",
                      one->text);
    }
    return check_choice(s, in, g, err);
}
