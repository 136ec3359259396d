/*
 * core/json_memo.h - keys that were seen before, recognised as a whole.
 *
 * A memo is a key as it was written, from the comma or brace in front of it
 * up to its value: blanks, name, colon, blanks. Records of one writer repeat
 * these byte for byte and in the same order, so the key to come is guessed
 * from the one before it and compared at once: no tokens, no look-up. A wrong
 * guess costs one comparison. For json_sax.c only.
 */
#ifndef MSIM_CORE_JSON_MEMO_H
#define MSIM_CORE_JSON_MEMO_H
#include "core/json_sax.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MSIM_JSON_MEMO_LEN 64
#define MSIM_JSON_MEMOS    256

struct msim_json_memo {
    char text[MSIM_JSON_MEMO_LEN];
    uint8_t len, name_at, name_len;
    uint8_t tag;      /* the handler's */
    uint16_t next[2]; /* keys that came after this one, latest first */
    uint16_t inner;   /* the first key of the object that is its value */
};

struct msim_json_memos {
    uint16_t last[MSIM_SAX_MAX_DEPTH + 1]; /* by depth: memo of its last key,
                                              0: none, or one without memo */
    uint32_t n;
    struct msim_json_memo all[MSIM_JSON_MEMOS]; /* 0 stands for none */
};

/*
 * Where the guesses for the key after `last` are kept: there or, at the start
 * of an object, with the key that the object is the value of.
 */
static inline uint16_t *msim_json_memos_after(struct msim_json_memos *m,
                                              uint32_t depth, uint16_t last)
{
    return last ? m->all[last].next : &m->all[m->last[depth - 1]].inner;
}

/* Whether the text at `p`, of which MEMO_LEN bytes can be read, is this. */
static inline bool msim_json_memo_fits(const struct msim_json_memo *m,
                                       const char *p)
{
#ifdef __SSE2__
    size_t len = m->len, at;

    for (at = 0; at < len; at += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
        __m128i b =
            _mm_loadu_si128((const __m128i *)(const void *)(m->text + at));
        unsigned differ =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) ^ 0xffff;

        if (len - at < 16)
            differ &= (1u << (len - at)) - 1;
        if (differ)
            return false;
    }
    return true;
#else
    return !memcmp(m->text, p, m->len);
#endif
}

/* The memo of the key that comes at `p`, if it was guessed; else NULL. */
static inline struct msim_json_memo *
msim_json_memos_guess(struct msim_json_memos *m, uint32_t depth, const char *p,
                      const char *end)
{
    uint16_t last = m->last[depth], *guess, g;

    if (end - p < MSIM_JSON_MEMO_LEN)
        return NULL;
    guess = msim_json_memos_after(m, depth, last);
    g = guess[0];
    if (!g || !msim_json_memo_fits(&m->all[g], p)) {
        if (!last || !guess[1] || !msim_json_memo_fits(&m->all[guess[1]], p))
            return NULL;
        g = guess[1];
        guess[1] = guess[0];
        guess[0] = g;
    }
    m->last[depth] = g;
    return &m->all[g];
}

/* The memo of the text, made if there is room; 0 if there is not. */
static inline uint16_t msim_json_memos_find(struct msim_json_memos *m,
                                            const char *text, size_t len)
{
    uint32_t i;

    for (i = 1; i < m->n; i++)
        if (m->all[i].len == len && !memcmp(m->all[i].text, text, len))
            return (uint16_t)i;
    if (i == MSIM_JSON_MEMOS)
        return 0;
    m->n++;
    memcpy(m->all[i].text, text, len);
    m->all[i].len = (uint8_t)len;
    return (uint16_t)i;
}

/*
 * Keep a key for the next time: `len` bytes from `from` on up to its value,
 * with its name inside, after the key of memo `before`.
 */
static inline void msim_json_memos_keep(struct msim_json_memos *m,
                                        uint32_t depth, uint16_t before,
                                        const char *from, const char *name,
                                        size_t name_len, size_t len,
                                        uint8_t tag)
{
    uint16_t id, *guess;

    if (len > MSIM_JSON_MEMO_LEN)
        return;
    id = msim_json_memos_find(m, from, len);
    if (!id)
        return;
    m->all[id].name_at = (uint8_t)(name - from);
    m->all[id].name_len = (uint8_t)name_len;
    m->all[id].tag = tag;
    guess = msim_json_memos_after(m, depth, before);
    if (before)
        guess[1] = guess[0];
    guess[0] = id;
    m->last[depth] = id;
}

/* Forget what a handler has left. */
static inline void msim_json_memos_untag(struct msim_json_memos *m)
{
    uint32_t i;

    for (i = 0; i < m->n; i++)
        m->all[i].tag = 0;
}

#endif
