/*
 * core/read/keyword.h - which of a fixed set of words a text is, in a few
 * cycles.
 *
 * Readers see millions of object keys out of some dozens. A set is built once
 * per reader from a static list. A text's first and last eight bytes (which
 * overlap in short ones) are its fingerprint; up to sixteen bytes they are
 * all of it, so that a look-up is two loads, a multiply and two comparisons.
 */
#ifndef MSIM_CORE_READ_KEYWORD_H
#define MSIM_CORE_READ_KEYWORD_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct msim_keyword {
    const char *text;
    uint8_t id; /* 1 .. 255; 0 means "none of them" */
};

#define MSIM_KEYWORD_SLOTS 512

struct msim_keyset {
    struct {
        uint64_t head, tail;
        const char *text;
        uint32_t len;
        uint8_t id;
    } slots[MSIM_KEYWORD_SLOTS];
};

/* `list` ends with a NULL text and must outlive the set; at most 256 words. */
void msim_keyset_init(struct msim_keyset *set, const struct msim_keyword *list);

static inline void msim_keyword_ends(const char *s, size_t len, uint64_t *head,
                                     uint64_t *tail)
{
    uint32_t a, b;

    if (len >= 8) {
        memcpy(head, s, 8);
        memcpy(tail, s + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + len - 4, 4);
        *head = a;
        *tail = b;
    } else {
        *tail = 0;
        *head = len == 0 ? 0
                         : (uint64_t)(unsigned char)s[0] << 16 |
                               (uint64_t)(unsigned char)s[len / 2] << 8 |
                               (unsigned char)s[len - 1];
    }
}

static inline uint32_t msim_keyword_slot(uint64_t head, uint64_t tail,
                                         size_t len)
{
    head = (head ^ (tail * 0x9e3779b97f4a7c15u) ^ len) * 0xff51afd7ed558ccdu;
    return (uint32_t)(head >> 40) & (MSIM_KEYWORD_SLOTS - 1);
}

/* The id of the word, or 0. */
static inline uint8_t msim_keyset_find(const struct msim_keyset *set,
                                       const char *s, size_t len)
{
    uint64_t head, tail;
    uint32_t i;

    msim_keyword_ends(s, len, &head, &tail);
    i = msim_keyword_slot(head, tail, len);
    for (; set->slots[i].id; i = (i + 1) & (MSIM_KEYWORD_SLOTS - 1))
        if (set->slots[i].len == len && set->slots[i].head == head &&
            set->slots[i].tail == tail &&
            (len <= 16 || !memcmp(set->slots[i].text, s, len)))
            return set->slots[i].id;
    return 0;
}

#endif
