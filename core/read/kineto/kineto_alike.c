/*
 * core/read/kineto/kineto_alike.c - events that are one that was read, but for
 * numbers: when, and of which correlation.
 *
 * Those are directly in it or in its args, under keys whose numbers are set
 * below or that nobody reads. Sizes, threads and what else is told by numbers
 * in lists or under other keys is the same in all that are alike.
 */
#include "core/base/hash.h"
#include "core/lex/json_lexer.h"
#include "core/read/kineto/read_kineto_internal.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED_AT 1024u /* bytes of an event's beginning */

/* What an event that is kept has made. */
struct made {
    struct msim_kineto_event ev;
    uint32_t args;
    uint64_t untyped; /* see msim_read_result */
};

/* Its name and the sizes of its inputs: of few events that differ they are the
 * same. */
static uint64_t kind_of(const char *p, size_t len)
{
    const char *end = p + (len < LOOKED_AT ? len : LOOKED_AT);
    const char *closes = memchr(p, '}', (size_t)(end - p));
    uint64_t hash = MSIM_HASH_START;

    end = closes ? closes : end;
    hash = msim_alike_hash(hash, "name\":", &p, end);
    return msim_alike_hash(hash, "Dims\":", &p, end);
}

void msim_kineto_alike_init(struct msim_kineto_alike *a)
{
    a->texts.kind = kind_of;
    a->texts.last = MSIM_NONE;
}

void msim_kineto_alike_release(struct msim_kineto_alike *a)
{
    msim_alike_release(&a->texts);
    free(a->made.data);
}

/* ---- an event like one that was read ------------------------------------- */

/* What number of an event may differ, and is its field then. */
static bool set(struct msim_kineto_event *ev, uint32_t key,
                struct msim_spot_value v)
{
    switch (key) {
    case K_TS:
        ev->ts_us = v.whole;
        ev->ts_ps = v.part;
        return true;
    case K_DUR:
        ev->dur_us = v.whole;
        ev->dur_ps = v.part;
        return true;
    case K_EXTERNAL:
        ev->external = v.whole;
        return true;
    case K_CORRELATION:
        ev->correlation = v.whole;
        return true;
    case K_BYTES:
        ev->bytes = v.whole;
        return true;
    case K_RF_ID:
        ev->rf_id = v.whole;
        return true;
    case K_SEQ:
        ev->seq = v.whole;
        return true;
    case K_RECORD:
        ev->record_correlation = v.whole;
        return true;
    default:
        return key == K_OTHER; /* nobody asks for it */
    }
}

static void copy(struct msim_kineto *k, uint32_t like,
                 const struct msim_spot_value *values)
{
    const struct made *made = (const struct made *)k->alike.made.data + like;
    uint32_t n;
    const struct msim_spot *spots = msim_alike_spots(&k->alike.texts, like, &n);

    k->ev = made->ev;
    for (uint32_t i = 0; i < n; i++)
        set(&k->ev, spots[i].kind, values[i]);
    k->alike.args = made->args;
}

/* What cannot be is for the one who reads it to say. */
int msim_kineto_alike_take(struct msim_reader *r, const char *text, size_t len,
                           size_t *taken)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_kineto_alike *a = &k->alike;
    struct msim_spot_value values[MSIM_ALIKE_SPOTS];
    const char *behind;
    uint32_t like;

    a->event = NULL;
    if (msim_alike_is_vain(&a->texts))
        return MSIM_OK;
    a->event = text;
    a->keys = 0;
    a->texts.spots.n = 0;
    a->at = msim_sax_offset(r->sax);
    like = msim_alike_find(&a->texts, text, len, &behind, values);
    if (like == MSIM_NONE)
        return MSIM_OK;
    copy(k, like, values);
    if (msim_kineto_makes_row(&k->ev) && !msim_kineto_is_plain(k))
        return MSIM_OK;
    r->out->untyped += ((const struct made *)a->made.data)[like].untyped;
    *taken = (size_t)(behind - text);
    return msim_kineto_event_end(r);
}

/* ---- an event is kept ---------------------------------------------------- */

int msim_kineto_alike_note(struct msim_kineto *k, uint8_t key, const char *s,
                           size_t len)
{
    struct msim_kineto_event ev;
    struct msim_kineto_alike *a = &k->alike;
    struct msim_spot *spot;

    if (!a->event || !set(&ev, key, (struct msim_spot_value){0}))
        return MSIM_OK;
    spot = msim_vec_add(&a->texts.spots, sizeof(*spot));
    if (!spot)
        return MSIM_ENOMEM;
    *spot = (struct msim_spot){
        .at = (uint32_t)((uintptr_t)s - (uintptr_t)a->event),
        .len = (uint32_t)len,
        .kind = key,
        .decimal = key == K_OTHER || key == K_TS || key == K_DUR,
    };
    return MSIM_OK;
}

/* All numbers of an event that nothing is made of, of which not all were
 * reported. `*plain`: all of it was understood. */
static enum msim_status note_all(struct msim_kineto *k, const char *text,
                                 size_t len, bool *plain)
{
    struct msim_lexer l = {.at = text,
                           .end = text + len,
                           .place = MSIM_LEXER_BRACKET,
                           .depth = 1,
                           .closes = {0, '}'}};

    k->alike.event = text;
    k->alike.texts.spots.n = 0;
    *plain = true;
    while (*plain && l.depth) {
        enum msim_token token = msim_lexer_next(&l);

        *plain = token > MSIM_TOKEN_ODD_STRING;
        if (token == MSIM_TOKEN_NUMBER)
            MSIM_TRY(msim_kineto_alike_note(k, K_OTHER, l.text, l.len));
    }
    return MSIM_OK;
}

/* May others be copied from it? Collectives and halves of events have more to
 * them than their row. */
static bool is_kept(const struct msim_kineto *k, bool row, bool dropped)
{
    const struct msim_kineto_event *ev = &k->ev;

    if (!k->alike.event || dropped)
        return k->alike.event;
    return ev->ph == 'X' && (row || !msim_kineto_makes_row(ev)) &&
           !(ev->have & (MSIM_KHAVE_COMM | MSIM_KHAVE_NONE)) &&
           !msim_kineto_is_odd(k);
}

static enum msim_status keep(struct msim_kineto_alike *a, const char *text,
                             size_t len, const struct made *made)
{
    struct made *to;
    uint32_t k;

    MSIM_TRY(msim_alike_keep(&a->texts, text, len, &k));
    if (k == MSIM_NONE)
        return MSIM_OK;
    msim_alike_room(&a->made, sizeof(*to));
    to = msim_vec_add(&a->made, sizeof(*to));
    if (!to)
        return MSIM_ENOMEM;
    *to = *made;
    return MSIM_OK;
}

enum msim_status msim_kineto_alike_keep(struct msim_reader *r, bool row,
                                        bool dropped, uint64_t untyped)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const struct msim_trace *t = r->trace;
    struct made made = {.ev = k->ev, .args = MSIM_NONE, .untyped = untyped};
    const char *text = NULL;
    bool plain = true;
    size_t len;

    if (is_kept(k, row, dropped))
        text = msim_sax_since(r->sax, k->alike.at, &len);
    if (text && dropped)
        MSIM_TRY(note_all(k, text, len, &plain));
    k->alike.event = NULL;
    if (!text || !plain) {
        k->alike.texts.last = MSIM_NONE;
        return MSIM_OK;
    }
    if (row && (k->ev.have & MSIM_KHAVE_ARGS) &&
        k->ev.cat <= MSIM_KCAT_ANNOTATION)
        made.args = t->ops[t->n_ops - 1].args;
    return keep(&k->alike, text, len, &made);
}
