/*
 * core/work/kernel_fact.c - which row of a figure holds.
 */
#include "core/work/kernel_fact.h"

#include <string.h>

/* Is `word` one of " a b "? */
static bool names(const char *words, const char *word)
{
    size_t n = strlen(word);
    const char *at = n > 0 ? strstr(words, word) : NULL;

    while (at && !(at[-1] == ' ' && at[n] == ' '))
        at = strstr(at + n, word);
    return at != NULL;
}

static bool holds(const struct msim_data_sheet *s,
                  const struct msim_fact_row *row)
{
    if ((row->gpus || row->amd) && !(row->amd && s->miopen) &&
        !(row->gpus && names(row->gpus, s->generation)))
        return false;
    if (row->until > 0 && !(s->pytorch > 0 && s->pytorch < row->until))
        return false;
    return s->pytorch >= row->since;
}

double msim_fact_choose(const struct msim_data_sheet *s,
                        const struct msim_fact_row *row)
{
    while (!holds(s, row)) {
        if (!row->more)
            return 0;
        row++;
    }
    return row->value;
}
