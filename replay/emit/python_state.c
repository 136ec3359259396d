/*
 * replay/emit/python_state.c - lists of numbers that stand in the data file.
 */
#include "replay/emit/emit_python_internal.h"

#include <string.h>

uint32_t msim_body_list(struct msim_body *b, const int64_t *numbers, uint32_t n)
{
    struct msim_number_list *list = b->lists.data;
    const int64_t *all = b->numbers.data;

    for (uint32_t i = 0; i < b->lists.n; i++)
        if (list[i].n == n &&
            !memcmp(all + list[i].first, numbers, n * sizeof(*numbers)))
            return i;
    list = msim_vec_add(&b->lists, sizeof(*list));
    if (!list) {
        b->text.status = MSIM_ENOMEM;
        return MSIM_NONE;
    }
    *list = (struct msim_number_list){b->numbers.n, n};
    for (uint32_t i = 0; i < n; i++) {
        int64_t *slot = msim_vec_add(&b->numbers, sizeof(*slot));

        if (!slot) {
            b->text.status = MSIM_ENOMEM;
            return MSIM_NONE;
        }
        *slot = numbers[i];
    }
    return b->lists.n - 1;
}
