/*
 * tests/unit/written_text.h - what a writer writes, as a text.
 *
 *     struct written w = written_begin();
 *
 *     write_something(w.out);
 *     WRITTEN(&w, "what it should be");
 */
#ifndef MSIM_TESTS_UNIT_WRITTEN_TEXT_H
#define MSIM_TESTS_UNIT_WRITTEN_TEXT_H
#include "tests/check.h"

#include <stdlib.h>

struct written {
    FILE *out;
    char **text; /* once it has ended */
    size_t *size;
};

static inline struct written written_begin(void)
{
    struct written w = {.text = calloc(1, sizeof(*w.text)),
                        .size = calloc(1, sizeof(*w.size))};

    w.out = w.text && w.size ? open_memstream(w.text, w.size) : NULL;
    if (!CHECK(w.out != NULL))
        abort();
    return w;
}

/* The text, which the caller frees. */
static inline char *written_end(struct written *w)
{
    char *text;

    fclose(w->out);
    text = *w->text;
    free(w->text);
    free(w->size);
    return text;
}

#define WRITTEN(w, want)                                                       \
    do {                                                                       \
        char *written_ = written_end(w);                                       \
        CHECK_STR(written_, (want));                                           \
        free(written_);                                                        \
    } while (0)

#endif
