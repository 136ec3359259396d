/*
 * replay/emit/python_line.c - lines of a Python program, broken where they are
 * too long.
 */
#include "replay/emit/emit_python_internal.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 96 /* of a line, where a call can be broken */

static void add_indent(struct msim_body *b, unsigned more)
{
    for (unsigned i = 0; i < b->indent + more; i++)
        msim_text_bytes(&b->text, " ", 1);
}

/* Where a line of at most `room` bytes can end: after a comma and blank inside
 * brackets, which Python lets go on, and outside quotes. */
static size_t break_at(const char *s, size_t room, int *depth)
{
    size_t best = 0;
    bool quoted = false;
    int at = *depth;

    for (size_t i = 0; s[i] && i < room; i++) {
        if (quoted && s[i] == '\\') { /* and what it stands before */
            i += s[i + 1] != '\0';
            continue;
        }
        quoted ^= s[i] == '\'';
        at += !quoted && (s[i] == '(' || s[i] == '[');
        at -= !quoted && (s[i] == ')' || s[i] == ']');
        if (!quoted && at > 0 && s[i] == ',' && s[i + 1] == ' ') {
            best = i + 1;
            *depth = at;
        }
    }
    return best;
}

void msim_body_line(struct msim_body *b, const char *s)
{
    size_t n = strlen(s), at, room = WIDTH - b->indent;
    int depth = 0;

    add_indent(b, 0);
    while (n > room && (at = break_at(s, room, &depth)) > 0) {
        msim_text_bytes(&b->text, s, at);
        msim_text_bytes(&b->text, "\n", 1);
        add_indent(b, 4);
        s += at + 1;
        n -= at + 1;
        room = WIDTH - b->indent - 4;
    }
    msim_text_bytes(&b->text, s, n);
    msim_text_bytes(&b->text, "\n", 1);
}

void msim_body_take_line(struct msim_body *b, struct msim_text *line)
{
    if (line->status != MSIM_OK && b->text.status == MSIM_OK)
        b->text.status = line->status;
    msim_body_line(b, msim_text_get(line));
    free(line->bytes.data);
}
