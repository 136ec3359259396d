/*
 * replay/validate/system_figures.c - the machine's figures beside a trace.
 *
 * A pass of its own, so that the readers of traces need not know of them: all
 * other members are skipped, and it ends where the figures do. `replay` writes
 * them before the events.
 */
#include "replay/validate/validation.h"

#include "core/base/texts.h"
#include "core/stream/input.h"
#include "core/stream/json_sax.h"

#include <math.h>
#include <string.h>

static const char MEMBER[] = "mystiqueSystem";

struct pass {
    struct msim_system_figures *s;
    char name[MSIM_SYSTEM_NAME]; /* of the next figure */
    unsigned depth;
    bool done;
};

static int on_key(void *ctx, const char *text, size_t len)
{
    struct pass *p = ctx;

    if (p->depth == 1)
        return len == strlen(MEMBER) && memcmp(text, MEMBER, len) == 0
                   ? 0
                   : MSIM_SAX_SKIP;
    if (len >= sizeof(p->name))
        return MSIM_SAX_SKIP;
    memcpy(p->name, text, len);
    p->name[len] = '\0';
    return 0;
}

static int on_number(void *ctx, const char *text, size_t len)
{
    struct pass *p = ctx;
    struct msim_system_figure *f = &p->s->items[p->s->n];

    if (p->depth != 2 || p->s->n == MSIM_SYSTEM_FIGURES ||
        !msim_decimal_real(text, len, &f->value))
        return 0;
    memcpy(f->name, p->name, sizeof(f->name));
    p->s->n++;
    return 0;
}

static int on_map(void *ctx)
{
    struct pass *p = ctx;

    if (p->depth == 2)
        return MSIM_SAX_SKIP;
    p->depth++;
    return 0;
}

static int on_map_end(void *ctx)
{
    struct pass *p = ctx;

    p->depth--;
    p->done = true;
    return 0;
}

static int on_array(void *ctx)
{
    (void)ctx;
    return MSIM_SAX_SKIP;
}

static const struct msim_sax_handler HANDLER = {.number = on_number,
                                                .key = on_key,
                                                .map_begin = on_map,
                                                .map_end = on_map_end,
                                                .array_begin = on_array};

/* To the end of the figures, else of the file, which a reader has to know of: a
 * number may be the last that it was given. */
static enum msim_status feed(struct pass *p, struct msim_sax *sax,
                             struct msim_input *in)
{
    const char *bytes;
    size_t len;

    do {
        MSIM_TRY(msim_input_next(in, &bytes, &len, NULL));
        MSIM_TRY(msim_sax_feed(sax, bytes, len));
    } while (!p->done && len > 0);
    return p->done ? MSIM_OK : msim_sax_end(sax);
}

void msim_system_figures_read(struct msim_system_figures *s, const char *path)
{
    struct pass p = {.s = s};
    struct msim_input *in = NULL;
    struct msim_sax *sax = NULL;
    enum msim_status status = MSIM_EIO;

    s->n = 0;
    if (strcmp(path, "-") != 0 &&
        msim_input_open(&in, path, false, NULL) == MSIM_OK &&
        msim_sax_new(&sax, &HANDLER, &p) == MSIM_OK)
        status = feed(&p, sax, in);
    (void)status; /* what was read before a failure stays */
    msim_sax_free(sax);
    msim_input_close(in);
}

double msim_system_figure(const struct msim_system_figures *s, const char *name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return s->items[i].value;
    return NAN;
}
