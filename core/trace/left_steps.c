/*
 * core/trace/left_steps.c - steps that a file marks and that are no iteration
 * of the run: which, and why.
 */
#include "core/trace/trace_steps.h"

#include "core/base/containers.h"

#include <stdio.h>

static enum msim_status note_left(struct msim_trace *t,
                                  struct msim_left_step left)
{
    MSIM_TRY(msim_grow((void **)&t->left_steps, &t->cap_left_steps,
                       t->n_left_steps, sizeof(*t->left_steps)));
    t->left_steps[t->n_left_steps++] = left;
    return MSIM_OK;
}

enum msim_status msim_steps_left_as(struct msim_trace *to,
                                    const struct msim_trace *from)
{
    for (uint32_t i = 0; i < from->n_left_steps; i++)
        MSIM_TRY(note_left(to, from->left_steps[i]));
    return MSIM_OK;
}

enum msim_status msim_steps_keep(struct msim_trace *t,
                                 bool (*keep)(void *of, int64_t number),
                                 void *of, enum msim_left_why why)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++) {
        if (keep(of, t->steps[s].number)) {
            t->steps[n++] = t->steps[s];
            continue;
        }
        MSIM_TRY(note_left(
            t, (struct msim_left_step){t->steps[s].number, (uint8_t)why}));
    }
    t->n_steps = n;
    return MSIM_OK;
}

const char *msim_step_left_why(const struct msim_trace *t, int64_t number)
{
    static const char *const WHY[] = {
        [MSIM_LEFT_UNCOMMON] = "not all ranks recorded it",
        [MSIM_LEFT_IDLE] = "nothing was recorded in it",
        [MSIM_LEFT_CUT] = "the recording ends within it",
        [MSIM_LEFT_LOST] = "kernels that it launched are not recorded",
    };

    for (uint32_t i = 0; i < t->n_left_steps; i++)
        if (t->left_steps[i].number == number)
            return WHY[t->left_steps[i].why];
    return NULL;
}

uint32_t msim_steps_numbered(const struct msim_trace *t, int64_t number)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++)
        n += t->steps[s].number == number;
    return n;
}

struct msim_step_numbers msim_step_numbers_of(const struct msim_trace *t)
{
    static const size_t LAST = 28; /* ", ..., " and the longest number */
    struct msim_step_numbers n = {"none"};
    size_t used = 0;

    for (uint32_t s = 0; s < t->n_steps; s++) {
        bool last = s + 1 == t->n_steps;
        bool room = used + LAST < sizeof(n.text) - LAST;

        if (s && !room && !last)
            continue;
        used += (size_t)snprintf(n.text + used, sizeof(n.text) - used, "%s%lld",
                                 !s     ? ""
                                 : room ? ", "
                                        : ", ..., ",
                                 (long long)t->steps[s].number);
    }
    return n;
}
