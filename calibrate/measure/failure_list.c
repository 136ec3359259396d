/*
 * calibrate/measure/failure_list.c - distinct failures.
 */
#include "calibrate/measure/journal.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Names hold digits, too ("conv2d", "fp16"): a number begins a word. */
uint64_t msim_cal_failure_hash(const char *text)
{
    uint64_t h = MSIM_HASH_START;
    bool inside = false, number = false;

    for (; *text; text++) {
        if (!inside)
            number = isdigit((unsigned char)*text);
        inside = is_in_word(*text);
        if (!inside || !number)
            h = msim_hash_byte(h, (unsigned char)*text);
    }
    return h;
}

enum msim_status msim_cal_failures_add(struct msim_cal_failures *f,
                                       const char *text,
                                       const struct msim_cal_experiment *e)
{
    uint64_t hash = msim_cal_failure_hash(text);
    uint32_t i = 0;

    while (i < f->n && f->list[i].hash != hash)
        i++;
    if (i == f->n) {
        MSIM_TRY(
            msim_grow((void **)&f->list, &f->capacity, f->n, sizeof(*f->list)));
        f->list[f->n++] = (struct msim_cal_failure){.hash = hash};
        snprintf(f->list[i].text, sizeof(f->list[i].text), "%s", text);
        msim_cal_describe(e, f->list[i].first, sizeof(f->list[i].first));
    }
    f->list[i].n++;
    return MSIM_OK;
}

void msim_cal_failures_release(struct msim_cal_failures *f)
{
    free(f->list);
    *f = (struct msim_cal_failures){.n = 0};
}

static void tell(char *text, size_t size, const struct msim_cal_journal *j,
                 const struct msim_cal_failures *f)
{
    const struct msim_cal_failure *most = f->list;
    uint32_t failed = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        failed += f->list[i].n;
        if (f->list[i].n > most->n)
            most = &f->list[i];
    }
    if (failed == 0)
        snprintf(text, size, "%u experiments were asked, and none failed",
                 j->n);
    else if (f->n == 1)
        snprintf(text, size, "%u experiments were asked, and %u failed: '%s'",
                 j->n, failed, most->text);
    else
        snprintf(text, size,
                 "%u experiments were asked, and %u failed, %u of them with "
                 "'%s'",
                 j->n, failed, most->n, most->text);
}

enum msim_status msim_cal_failures_tell(char *text, size_t size,
                                        const struct msim_cal_journal *j)
{
    struct msim_cal_failures f = {.n = 0};
    enum msim_status status = MSIM_OK;

    for (uint32_t i = 0; status == MSIM_OK && i < j->n; i++)
        if (j->entries[i].answer.error)
            status = msim_cal_failures_add(&f, j->entries[i].answer.error,
                                           &j->entries[i].experiment);
    if (status == MSIM_OK)
        tell(text, size, j, &f);
    msim_cal_failures_release(&f);
    return status;
}
