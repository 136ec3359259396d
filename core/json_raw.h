/*
 * core/json_raw.h - lists and objects that are handed out as text, and those
 * that come again.
 *
 * Argument lists of operators repeat byte for byte. A text that was checked
 * once need not be checked again: a slot, chosen by how a text begins, keeps
 * the last one, and what lies in the input is compared with it as a whole.
 * Such a text is complete in itself, from its bracket to its bracket, so the
 * comparison proves where it ends. For json_sax.c only.
 */
#ifndef MSIM_CORE_JSON_RAW_H
#define MSIM_CORE_JSON_RAW_H
#include "core/json_token.h"

#define MSIM_JSON_RAW_LEN   256
#define MSIM_JSON_RAW_SLOTS 1024

struct msim_json_raw_slot {
    char text[MSIM_JSON_RAW_LEN];
    uint32_t len; /* 0: empty */
    uint32_t tag; /* the handler's */
};

struct msim_json_raw {
    bool on;          /* inside such a text */
    const char *from; /* its begin in the piece at hand */
    char *kept;       /* what pieces before brought of it */
    size_t kept_len, kept_cap;
    struct msim_json_raw_slot *slots, *slot; /* slot: for this text, or NULL */
};

static inline void msim_json_raw_release(struct msim_json_raw *w)
{
    free(w->kept);
    free(w->slots);
}

static inline void msim_json_raw_forget(struct msim_json_raw *w)
{
    int i;

    for (i = 0; w->slots && i < MSIM_JSON_RAW_SLOTS; i++)
        w->slots[i].len = 0;
    w->slot = NULL;
}

/*
 * Begin at r->p. The slot if the text is the one it keeps, with r->p behind
 * it; else NULL, and the text is to be gone through. Without memory there are
 * no slots and every text is gone through.
 */
static inline struct msim_json_raw_slot *
msim_json_raw_begin(struct msim_json_raw *w, struct msim_json_range *r)
{
    uint64_t h = 0, word;
    int i;

    w->slot = NULL;
    if (!w->slots)
        w->slots = calloc(MSIM_JSON_RAW_SLOTS, sizeof *w->slots);
    if (w->slots && r->end - r->p >= MSIM_JSON_RAW_LEN) {
        for (i = 0; i < 4; i++) {
            memcpy(&word, r->p + i * 8, 8);
            h = (h ^ word) * 0xff51afd7ed558ccdu;
            h ^= h >> 31;
        }
        w->slot = &w->slots[h & (MSIM_JSON_RAW_SLOTS - 1)];
        if (w->slot->len && !memcmp(w->slot->text, r->p, w->slot->len)) {
            r->p += w->slot->len;
            return w->slot;
        }
    }
    w->on = true;
    w->from = r->p;
    w->kept_len = 0;
    return NULL;
}

/* Keep what this piece, up to `end`, has of the text. */
static inline int msim_json_raw_keep(struct msim_json_raw *w, const char *end)
{
    size_t len = (size_t)(end - w->from);

    if (msim_json_room(&w->kept, &w->kept_cap, w->kept_len + len))
        return MSIM_ENOMEM;
    if (len)
        memcpy(w->kept + w->kept_len, w->from, len);
    w->kept_len += len;
    w->from = end;
    return 0;
}

/* The text ends at `end`: all of it, and where its tag is. */
static inline int msim_json_raw_end(struct msim_json_raw *w, const char *end,
                                    const char **text, size_t *len,
                                    uint32_t **tag)
{
    w->on = false;
    *text = w->from;
    *len = (size_t)(end - w->from);
    if (w->kept_len) {
        if (msim_json_raw_keep(w, end))
            return MSIM_ENOMEM;
        *text = w->kept;
        *len = w->kept_len;
    }
    *tag = NULL;
    if (!w->slot || *len > MSIM_JSON_RAW_LEN)
        return 0;
    memcpy(w->slot->text, *text, *len);
    w->slot->len = (uint32_t)*len;
    w->slot->tag = 0;
    *tag = &w->slot->tag;
    return 0;
}

#endif
