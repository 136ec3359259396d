/*
 * core/report/page/page_timeline.c - the bars of a run as columns.
 */
#include "core/report/page/page_internal.h"

#include "core/base/containers.h"
#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

#define UNIT (MSIM_PS_PER_US / 1000)

struct columns {
    const struct msim_timeline *t;
    struct msim_strtab *names, *kinds;
    uint32_t *bars; /* one a lane */
    struct msim_bytes *out;
};

static int64_t units(msim_ps time)
{
    return time / UNIT;
}

static enum msim_status number_of(struct msim_strtab *of, const char *text,
                                  uint32_t *id)
{
    return msim_strtab_add(of, text, strlen(text), id);
}

static void put_gaps(struct columns *c)
{
    uint32_t lane = UINT32_MAX;
    int64_t end = 0;

    for (uint32_t i = 0; i < c->t->n_spans; i++) {
        const struct msim_span *s = &c->t->spans[i];

        if (s->lane != lane)
            end = 0;
        lane = s->lane;
        msim_bytes_put_signed(c->out, units(s->start) - end);
        end = units(s->start + s->dur);
        c->bars[lane]++;
    }
}

static void put_lengths(struct columns *c)
{
    for (uint32_t i = 0; i < c->t->n_spans; i++) {
        const struct msim_span *s = &c->t->spans[i];

        msim_bytes_put_number(
            c->out, (uint64_t)(units(s->start + s->dur) - units(s->start)));
    }
}

static enum msim_status put_words(struct columns *c)
{
    uint32_t id;

    for (uint32_t i = 0; i < c->t->n_spans; i++) {
        MSIM_TRY(number_of(c->names, c->t->spans[i].name, &id));
        msim_bytes_put_number(c->out, id);
    }
    for (uint32_t i = 0; i < c->t->n_spans; i++) {
        MSIM_TRY(number_of(c->kinds, c->t->spans[i].category, &id));
        msim_bytes_put_number(c->out, 2 * id + c->t->spans[i].critical);
    }
    return c->out->failed ? MSIM_ENOMEM : MSIM_OK;
}

/* ---- the head ------------------------------------------------------------ */

static void write_words(struct msim_json *j, const char *key,
                        const struct msim_strtab *of)
{
    msim_json_open(j, key, '[', false);
    for (uint32_t i = 0; i < msim_strtab_count(of); i++)
        msim_json_text(j, NULL, msim_strtab_text(of, i));
    msim_json_close(j);
}

static void write_rank(struct msim_json *j, int64_t rank)
{
    if (rank >= 0)
        msim_json_integer(j, "rank", rank);
    else
        msim_json_text(j, "rank", NULL);
}

static void write_lanes(struct msim_json *j, const struct columns *c)
{
    msim_json_open(j, "lanes", '[', true);
    for (uint32_t i = 0; i < c->t->n_lanes; i++) {
        msim_json_open(j, NULL, '{', false);
        write_rank(j, c->t->lanes[i].rank);
        msim_json_bool(j, "device", c->t->lanes[i].device);
        msim_json_text(j, "name", c->t->lanes[i].name);
        msim_json_unsigned(j, "n", c->bars[i]);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_steps(struct msim_json *j, const struct msim_timeline *t)
{
    msim_json_open(j, "steps", '[', true);
    for (uint32_t i = 0; i < t->n_steps; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", t->steps[i].name);
        write_rank(j, t->steps[i].rank);
        msim_json_integer(j, "start", units(t->steps[i].start));
        msim_json_integer(j, "length", units(t->steps[i].dur));
        msim_json_close(j);
    }
    msim_json_close(j);
}

static enum msim_status write_head(struct msim_bytes *head,
                                   const struct columns *c)
{
    struct msim_json j;

    msim_json_begin(&j, msim_bytes_sink, head);
    msim_json_open(&j, NULL, '{', true);
    msim_json_integer(&j, "unit_ps", UNIT);
    write_words(&j, "names", c->names);
    write_words(&j, "kinds", c->kinds);
    write_lanes(&j, c);
    write_steps(&j, c->t);
    return msim_json_end(&j);
}

enum msim_status msim_page_timeline(struct msim_bytes *head,
                                    struct msim_bytes *columns,
                                    const struct msim_timeline *t)
{
    struct columns c = {.t = t, .out = columns};
    enum msim_status status = MSIM_ENOMEM;

    c.bars = calloc((size_t)t->n_lanes + 1, sizeof(*c.bars));
    if (c.bars && msim_strtab_new(&c.names) == MSIM_OK &&
        msim_strtab_new(&c.kinds) == MSIM_OK) {
        put_gaps(&c);
        put_lengths(&c);
        status = put_words(&c);
    }
    if (status == MSIM_OK)
        status = write_head(head, &c);
    msim_strtab_free(c.names);
    msim_strtab_free(c.kinds);
    free(c.bars);
    return status;
}
