/*
 * core/read/keyword.c - which of a fixed set of words a text is, in a few
 * cycles.
 */
#include "core/read/reader.h"

void msim_keyset_init(struct msim_keyset *set, const struct msim_keyword *list)
{
    memset(set, 0, sizeof(*set));
    for (; list->text; list++) {
        size_t len = strlen(list->text);
        uint64_t head, tail;
        uint32_t i;

        msim_keyword_ends(list->text, len, &head, &tail);
        i = msim_keyword_slot(head, tail, len);
        while (set->slots[i].id)
            i = (i + 1) & (MSIM_KEYWORD_SLOTS - 1);
        set->slots[i].text = list->text;
        set->slots[i].len = (uint32_t)len;
        set->slots[i].id = list->id;
        set->slots[i].head = head;
        set->slots[i].tail = tail;
    }
}
