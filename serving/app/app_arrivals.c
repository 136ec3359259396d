/*
 * serving/app/app_arrivals.c - the member "arrivals": how requests come.
 */
#include "serving/app/app_internal.h"

#include <math.h>
#include <stdio.h>

/* Of an MMPP that is not described further. */
#define USUAL_FACTOR 2
#define USUAL_ON_S   5
#define USUAL_OFF_S  15

#define LEAST_RATE 1e-6 /* a simulation ends with some 100 days */

static bool read_point(const cJSON *item, struct msim_profile_point *p)
{
    const cJSON *first = cJSON_IsArray(item) ? item->child : NULL;
    const cJSON *second = first ? first->next : NULL;

    if (!cJSON_IsNumber(first) || !cJSON_IsNumber(second) || second->next)
        return false;
    p->t_s = first->valuedouble;
    p->factor = second->valuedouble;
    return p->t_s >= 0 && p->t_s <= 1e9 && p->factor >= 0 && p->factor <= 1e6;
}

/* The rate must not be 0 for ever. */
static void check_profile(const struct msim_arrivals *a, struct msim_fields *f)
{
    if (a->n_profile && a->profile[a->n_profile - 1].factor <= 0)
        msim_field_refuse_item(f, "profile", a->n_profile - 1,
                               "a factor above 0 at the end, which goes on");
}

static void read_profile(struct msim_app *app, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "profile"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list), i = 0;
    struct msim_profile_point *p;

    if (n == 0 || f->status != MSIM_OK)
        return;
    p = msim_app_room(app, f, n, sizeof(*p));
    if (!p)
        return;
    cJSON_ArrayForEach(item, list)
    {
        if (!read_point(item, &p[i]) || (i && p[i].t_s <= p[i - 1].t_s)) {
            msim_field_refuse_item(f, "profile", i,
                                   "[seconds, factor of the rate]: seconds "
                                   "from 0 and above the ones before, factor "
                                   "from 0");
            return;
        }
        i++;
    }
    app->arrivals.profile = p;
    app->arrivals.n_profile = n;
    check_profile(&app->arrivals, f);
}

/* The rate between bursts is what is left of the mean: it has to be there. */
static void read_mmpp(struct msim_app *app, struct msim_fields *f)
{
    static const char *const USUAL[][2] = {
        {"factor", "2"}, {"on_s", "5"}, {"off_s", "15"}};
    struct msim_arrivals *a = &app->arrivals;
    double most;
    char want[128];

    for (size_t i = 0; i < sizeof(USUAL) / sizeof(*USUAL); i++)
        if (!msim_field_json(f, USUAL[i][0]))
            msim_app_assume(app, f, USUAL[i][0], USUAL[i][1], "not stated");

    a->factor = msim_field_between(f, "factor", 1, 1e6, USUAL_FACTOR);
    a->on_s = msim_field_between(f, "on_s", 0.01, 1e9, USUAL_ON_S);
    a->off_s = msim_field_between(f, "off_s", 0.01, 1e9, USUAL_OFF_S);
    most = (a->on_s + a->off_s) / a->on_s;
    snprintf(want, sizeof(want),
             "at most (on_s + off_s) / on_s, which is %.6g: \"rate\" is the "
             "mean of both",
             most);
    if (a->factor > most)
        msim_field_refuse(f, "factor", want);
}

/* What goes with one process is refused beside another. */
static void check_members(const struct msim_arrivals *a, struct msim_fields *f)
{
    static const struct {
        const char *member;
        enum msim_arrival_process process;
    } OWN[] = {
        {"cv", MSIM_ARRIVAL_GAMMA},           {"factor", MSIM_ARRIVAL_MMPP},
        {"on_s", MSIM_ARRIVAL_MMPP},          {"off_s", MSIM_ARRIVAL_MMPP},
        {"concurrency", MSIM_ARRIVAL_CLOSED}, {"think_ms", MSIM_ARRIVAL_CLOSED},
        {"file", MSIM_ARRIVAL_LOG},
    };
    char want[96];

    for (size_t i = 0; i < sizeof(OWN) / sizeof(*OWN); i++) {
        if (a->process == OWN[i].process || !msim_field_json(f, OWN[i].member))
            continue;
        snprintf(want, sizeof(want), "none: it belongs to process \"%s\"",
                 msim_arrival_process_text(OWN[i].process));
        msim_field_refuse(f, OWN[i].member, want);
    }
    if ((a->process == MSIM_ARRIVAL_CLOSED || a->process == MSIM_ARRIVAL_LOG) &&
        msim_field_json(f, "profile"))
        msim_field_refuse(f, "profile",
                          "none: a log has its own times, and closed arrivals "
                          "have no rate");
    if (a->process == MSIM_ARRIVAL_CLOSED && msim_field_json(f, "rate"))
        msim_field_refuse(f, "rate",
                          "none: it is what comes out of closed "
                          "arrivals");
}

static void read_process(struct msim_app *app, struct msim_fields *f)
{
    struct msim_arrivals *a = &app->arrivals;
    const char *file = msim_field_text(f, "file");

    a->cv = 1;
    switch (a->process) {
    case MSIM_ARRIVAL_GAMMA:
        a->cv = msim_field_between(f, "cv", 0.001, 100, 1);
        if (!msim_field_json(f, "cv"))
            msim_app_assume(app, f, "cv", "1", "not stated");
        break;
    case MSIM_ARRIVAL_MMPP:
        read_mmpp(app, f);
        break;
    case MSIM_ARRIVAL_CLOSED:
        a->concurrency = msim_field_int(f, "concurrency", 1, 0);
        a->think_ms = msim_app_dist(app, f, "think_ms");
        break;
    case MSIM_ARRIVAL_LOG:
        if (file)
            a->log = msim_app_join(app, f, file);
        else
            msim_field_refuse(f, "file", "the name of a request log");
        break;
    default:
        break;
    }
}

void msim_app_read_arrivals(struct msim_app *app, struct msim_fields *f)
{
#define X(name, text) text,
    static const char *const PROCESSES[] = {MSIM_ARRIVAL_PROCESS_MAP(X) NULL};
#undef X
    static const char *const KEYS[] = {
        "process", "rate",   "cv",   "concurrency", "think_ms", "file",
        "profile", "factor", "on_s", "off_s",       NULL};
    struct msim_fields in = msim_fields_open(f, "arrivals");

    if (in.object)
        msim_fields_only(&in, KEYS);
    app->arrivals.process = (enum msim_arrival_process)msim_field_word(
        &in, "process", PROCESSES, MSIM_ARRIVAL_POISSON);
    app->arrivals.rate = msim_field_real(&in, "rate", 0);
    if (app->arrivals.rate > 0 && app->arrivals.rate < LEAST_RATE)
        msim_field_refuse(&in, "rate", "at least one in 10^6 s");
    check_members(&app->arrivals, &in);
    read_process(app, &in);
    read_profile(app, &in);
    msim_fields_close(f, &in);
}
