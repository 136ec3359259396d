/*
 * profilers/ask/shell.c - command lines of the shell.
 */
#include "profilers/ask/shell.h"

#include "core/base/print.h"

#include <stdlib.h>
#include <string.h>

struct line {
    char *text;
    size_t used, size;
    bool full;
};

static void to_line(void *ctx, const char *bytes, size_t n)
{
    struct line *l = ctx;

    l->full |= n >= l->size - l->used;
    if (l->full)
        return;
    memcpy(l->text + l->used, bytes, n);
    l->used += n;
}

/* In single quotes nothing has a meaning but the quote, which stands outside
 * of them. The other bytes are those of a file's name and stay. */
static void put_word(const struct msim_printer *p, const char *text, size_t n)
{
    const char *end = text + n;

    p->bytes(p->ctx, "'", 1);
    while (text < end) {
        size_t plain = strcspn(text, "'");

        p->bytes(p->ctx, text, plain);
        text += plain;
        if (text < end)
            p->bytes(p->ctx, "'\\''", 4);
        text += text < end;
    }
    p->bytes(p->ctx, "'", 1);
}

bool msim_shell_print(char *to, size_t size, const char *fmt, ...)
{
    struct line l = {to, 0, size, false};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&(struct msim_printer){&l, to_line, put_word}, fmt, args);
    va_end(args);
    to[l.full ? 0 : l.used] = '\0';
    return !l.full;
}

bool msim_shell_succeeds(const char *command)
{
    static const char QUIETLY[] = "(%s) </dev/null >/dev/null 2>&1";
    size_t size = strlen(command) + sizeof(QUIETLY);
    char *line = malloc(size);
    bool succeeds;

    if (!line)
        return false;
    snprintf(line, size, QUIETLY, command);
    succeeds = system(line) == 0;
    free(line);
    return succeeds;
}
