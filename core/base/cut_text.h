/*
 * core/base/cut_text.h - a text that is cut to fit where a word ends.
 */
#ifndef MSIM_CORE_BASE_CUT_TEXT_H
#define MSIM_CORE_BASE_CUT_TEXT_H
#include <string.h>

/* `text` into `out`, which has room for `size` bytes, 8 at least: all of it, or
 * its first words and " ...". */
static inline void msim_cut_text(char *out, size_t size, const char *text)
{
    static const char MORE[] = " ...";
    size_t len = strlen(text), room = size - sizeof(MORE);

    if (len < size) {
        memcpy(out, text, len + 1);
        return;
    }
    len = room;
    while (len && text[len] != ' ')
        len--;
    if (!len) /* one long word */
        len = room;
    memcpy(out, text, len);
    memcpy(out + len, MORE, sizeof(MORE));
}

#endif
