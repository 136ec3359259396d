/*
 * calibrate/measure/journal.c - the journal of a calibration.
 *
 * Entries are found by a hash of the experiment; the hashes lie in an array of
 * their own, as an entry has hundreds of bytes and every candidate is looked
 * for.
 */
#include "calibrate/measure/journal.h"

#include "core/base/containers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA    "mystique-sim/calibration/1"
#define BYTES_MAX (UINT64_C(1) << 30)

static enum msim_status fail_io(const struct msim_cal_journal *j,
                                const char *what, struct msim_error *err)
{
    return msim_fail(err, MSIM_EIO, j->path, MSIM_OFFSET_NONE, "%s: %s", what,
                     strerror(errno));
}

static const char FIRST[] = "{\"schema\":\"" SCHEMA "\"}\n"; /* of its lines */

/* ---- writing ------------------------------------------------------------- */

static enum msim_status fail_write(const struct msim_cal_journal *j,
                                   struct msim_error *err)
{
    return msim_fail(err, MSIM_EWRITE, j->path, MSIM_OFFSET_NONE,
                     "an answer cannot be kept: %s", strerror(errno));
}

static enum msim_status write_all(struct msim_cal_journal *j, const char *text,
                                  size_t n, struct msim_error *err)
{
    if (j->fd < 0)
        return MSIM_OK;
    while (n > 0) {
        ssize_t done = write(j->fd, text, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_write(j, err);
        text += done;
        n -= (size_t)done;
    }
    return fdatasync(j->fd) == 0 || errno == EINVAL ? MSIM_OK
                                                    : fail_write(j, err);
}

static enum msim_status append(struct msim_cal_journal *j, const cJSON *line,
                               struct msim_error *err)
{
    char *text = cJSON_PrintUnformatted(line);
    size_t n = text ? strlen(text) : 0;
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    text[n] = '\n'; /* over its end: write() wants none */
    status = write_all(j, text, n + 1, err);
    cJSON_free(text);
    return status;
}

/* ---- what is in memory --------------------------------------------------- */

static uint32_t find_entry(const struct msim_cal_journal *j, uint64_t hash)
{
    uint32_t i = 0;

    while (i < j->n && j->hashes[i] != hash)
        i++;
    return i;
}

static enum msim_status grow(struct msim_cal_journal *j)
{
    MSIM_TRY(msim_grow((void **)&j->hashes, &j->cap_hashes, j->n,
                       sizeof(*j->hashes)));
    return msim_grow((void **)&j->entries, &j->capacity, j->n,
                     sizeof(*j->entries));
}

/* Takes `line`. */
static enum msim_status keep_answer(struct msim_cal_journal *j, cJSON *line)
{
    struct msim_cal_entry e;
    enum msim_status status = msim_cal_entry_read(&e, line);
    uint32_t before;

    if (status != MSIM_OK) {
        cJSON_Delete(line);
        return status;
    }
    before = find_entry(j, e.hash);
    if (before < j->n)
        msim_cal_entry_merge(&j->entries[before], &e);
    else
        status = grow(j);
    if (before < j->n || status != MSIM_OK) {
        msim_cal_entry_release(&e);
        return status;
    }
    j->hashes[j->n] = e.hash;
    j->entries[j->n++] = e;
    return MSIM_OK;
}

static uint32_t find_greeting(const struct msim_cal_journal *j,
                              const char *backend)
{
    uint32_t i = 0;

    while (i < j->n_greetings &&
           strcmp(msim_json_get_text(j->greetings[i], "backend"), backend) != 0)
        i++;
    return i;
}

/* Takes `line`, in the place of an earlier one of the same backend. */
static enum msim_status keep_greeting(struct msim_cal_journal *j, cJSON *line)
{
    uint32_t i = find_greeting(j, msim_json_get_text(line, "backend"));
    enum msim_status status = MSIM_OK;

    if (i < j->n_greetings) {
        cJSON_Delete(j->greetings[i]);
        j->greetings[i] = line;
        return MSIM_OK;
    }
    status = msim_grow((void **)&j->greetings, &j->cap_greetings,
                       j->n_greetings, sizeof(cJSON *));
    if (status == MSIM_OK)
        j->greetings[j->n_greetings++] = line;
    else
        cJSON_Delete(line);
    return status;
}

static void keep_fit(struct msim_cal_journal *j, const char *backend,
                     double seconds)
{
    uint32_t i = 0;

    while (i < j->n_fits && strcmp(j->fits[i].backend, backend) != 0)
        i++;
    if (i == sizeof(j->fits) / sizeof(*j->fits))
        return;
    if (i == j->n_fits)
        snprintf(j->fits[j->n_fits++].backend, sizeof(j->fits[i].backend), "%s",
                 backend);
    j->fits[i].seconds += seconds;
}

/* Takes `line`; false where it is none of a journal's. */
static bool keep_line(struct msim_cal_journal *j, cJSON *line,
                      enum msim_status *status)
{
    bool named = msim_json_get_text(line, "backend") != NULL;
    double fitting = msim_json_get_number(line, "fitting_seconds", -1);

    if (named && cJSON_GetObjectItemCaseSensitive(line, "greeting")) {
        *status = keep_greeting(j, line);
        return true;
    }
    if (named &&
        cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(line, "experiment")) &&
        cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(line, "answer"))) {
        *status = keep_answer(j, line);
        return true;
    }
    if (named && fitting >= 0)
        keep_fit(j, msim_json_get_text(line, "backend"), fitting);
    cJSON_Delete(line);
    return named && fitting >= 0;
}

/* ---- reading ------------------------------------------------------------- */

static enum msim_status no_journal(const struct msim_cal_journal *j,
                                   uint64_t number, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, j->path, MSIM_OFFSET_NONE,
                     "line %llu is none of a calibration's journal; give "
                     "another --out, or remove the file",
                     (unsigned long long)number);
}

static enum msim_status read_line(struct msim_cal_journal *j, const char *text,
                                  size_t n, uint64_t number,
                                  struct msim_error *err)
{
    cJSON *line;
    enum msim_status status = msim_json_parse(&line, text, n, NULL);
    const char *schema = line ? msim_json_get_text(line, "schema") : NULL;
    bool is_first = schema && strcmp(schema, SCHEMA) == 0;

    if (status == MSIM_ENOMEM)
        return status;
    status = MSIM_OK;
    if (is_first != (number == 1)) {
        cJSON_Delete(line);
        return no_journal(j, number, err);
    }
    if (is_first) {
        cJSON_Delete(line);
        return MSIM_OK;
    }
    return keep_line(j, line, &status) ? status : no_journal(j, number, err);
}

/* The whole file in memory; the caller's. */
static enum msim_status slurp(struct msim_cal_journal *j, char **text,
                              size_t *size, struct msim_error *err)
{
    struct stat st;
    size_t done = 0;

    *text = NULL;
    if (fstat(j->fd, &st) != 0)
        return fail_io(j, "cannot be read", err);
    if ((uint64_t)st.st_size > BYTES_MAX)
        return MSIM_ELIMIT;
    *size = (size_t)st.st_size;
    *text = malloc(*size + 1);
    if (!*text)
        return MSIM_ENOMEM;
    while (done < *size) {
        ssize_t n = pread(j->fd, *text + done, *size - done, (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_io(j, "cannot be read", err);
        done += (size_t)n;
    }
    return MSIM_OK;
}

/* Whole lines; what comes after the last line end is taken out of the file. */
static enum msim_status read_lines(struct msim_cal_journal *j, const char *text,
                                   size_t size, struct msim_error *err)
{
    uint64_t number = 0;
    size_t at = 0;

    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);

        if (!end)
            break;
        MSIM_TRY(
            read_line(j, text + at, (size_t)(end - text) - at, ++number, err));
        at = (size_t)(end - text) + 1;
    }
    j->torn = size - at;
    /* A file of something else may have no line end at all. */
    if (j->torn && at == 0 && strncmp(FIRST, text, size) != 0)
        return no_journal(j, 1, err);
    if (j->torn && ftruncate(j->fd, (off_t)at) != 0)
        return fail_io(j, "a torn line cannot be taken away", err);
    return MSIM_OK;
}

static enum msim_status read_or_begin(struct msim_cal_journal *j,
                                      struct msim_error *err)
{
    char *text;
    size_t size = 0;
    enum msim_status status = slurp(j, &text, &size, err);

    if (status == MSIM_OK)
        status = read_lines(j, text, size, err);
    free(text);
    if (status != MSIM_OK || size > j->torn)
        return status;
    return write_all(j, FIRST, sizeof(FIRST) - 1, err);
}

static enum msim_status open_file(struct msim_cal_journal *j, const char *path,
                                  struct msim_error *err)
{
    snprintf(j->path, sizeof(j->path), "%s", path);
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return fail_io(j, "cannot be opened", err);
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "another calibration is writing it");
    return read_or_begin(j, err);
}

enum msim_status msim_cal_journal_open(struct msim_cal_journal *j,
                                       const char *path, struct msim_error *err)
{
    enum msim_status status;

    *j = (struct msim_cal_journal){.fd = -1};
    status = path ? open_file(j, path, err) : MSIM_OK;
    if (status != MSIM_OK)
        msim_cal_journal_close(j);
    return status;
}

void msim_cal_journal_close(struct msim_cal_journal *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        msim_cal_entry_release(&j->entries[i]);
    for (uint32_t i = 0; i < j->n_greetings; i++)
        cJSON_Delete(j->greetings[i]);
    free(j->entries);
    free(j->hashes);
    free(j->greetings);
    if (j->fd >= 0)
        close(j->fd);
    *j = (struct msim_cal_journal){.fd = -1};
}

/* ---- asking and adding --------------------------------------------------- */

const struct msim_cal_entry *
msim_cal_journal_find(const struct msim_cal_journal *j, uint64_t hash)
{
    uint32_t i = find_entry(j, hash);

    return i < j->n ? &j->entries[i] : NULL;
}

bool msim_cal_journal_has_rows(const struct msim_cal_journal *j,
                               const char *backend)
{
    for (uint32_t i = 0; i < j->n; i++)
        if (msim_cal_entry_is_row(&j->entries[i]) &&
            (!backend || strcmp(j->entries[i].backend, backend) == 0))
            return true;
    return false;
}

const cJSON *msim_cal_journal_greeting(const struct msim_cal_journal *j,
                                       const char *backend)
{
    uint32_t i = backend ? find_greeting(j, backend) : 0;

    return i < j->n_greetings
               ? cJSON_GetObjectItemCaseSensitive(j->greetings[i], "greeting")
               : NULL;
}

static void add_date(cJSON *line)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[32];

    if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%d", &tm))
        cJSON_AddStringToObject(line, "date", text);
}

enum msim_status msim_cal_journal_greet(struct msim_cal_journal *j,
                                        const char *backend, cJSON *greeting,
                                        struct msim_error *err)
{
    const cJSON *before = msim_cal_journal_greeting(j, backend);
    cJSON *line;
    enum msim_status status;

    if (before && cJSON_Compare(before, greeting, true)) {
        cJSON_Delete(greeting);
        return MSIM_OK;
    }
    line = cJSON_CreateObject();
    if (!line || !cJSON_AddStringToObject(line, "backend", backend)) {
        cJSON_Delete(line);
        cJSON_Delete(greeting);
        return MSIM_ENOMEM;
    }
    add_date(line);
    cJSON_AddItemToObject(line, "greeting", greeting);
    status = append(j, line, err);
    if (status == MSIM_OK)
        return keep_greeting(j, line);
    cJSON_Delete(line);
    return status;
}

/* The line of a visit; takes `answer`. NULL without memory. */
static cJSON *make_line(const struct msim_cal_journal *j, const char *backend,
                        const struct msim_cal_experiment *e, cJSON *answer,
                        double seconds)
{
    const struct msim_cal_entry *before =
        msim_cal_journal_find(j, msim_cal_hash(e, backend));
    cJSON *line = cJSON_CreateObject(), *experiment = NULL;

    if (line && cJSON_AddStringToObject(line, "backend", backend) &&
        (!before ||
         cJSON_AddNumberToObject(line, "visit", before->visits + 1)) &&
        cJSON_AddNumberToObject(line, "seconds", seconds))
        experiment = msim_cal_experiment_json(e);
    if (!experiment) {
        cJSON_Delete(line);
        cJSON_Delete(answer);
        return NULL;
    }
    cJSON_AddItemToObject(line, "experiment", experiment);
    cJSON_AddItemToObject(line, "answer", answer);
    return line;
}

enum msim_status msim_cal_journal_add(struct msim_cal_journal *j,
                                      const char *backend,
                                      const struct msim_cal_experiment *e,
                                      cJSON *answer, double seconds,
                                      struct msim_error *err)
{
    cJSON *line = make_line(j, backend, e, answer, seconds);
    enum msim_status status;

    if (!line)
        return MSIM_ENOMEM;
    status = append(j, line, err);
    if (status == MSIM_OK)
        return keep_answer(j, line);
    cJSON_Delete(line);
    return status;
}

enum msim_status msim_cal_journal_fitted(struct msim_cal_journal *j,
                                         const char *backend, double seconds,
                                         struct msim_error *err)
{
    cJSON *line = cJSON_CreateObject();
    enum msim_status status = MSIM_ENOMEM;

    if (line && cJSON_AddStringToObject(line, "backend", backend) &&
        cJSON_AddNumberToObject(line, "fitting_seconds", seconds))
        status = append(j, line, err);
    cJSON_Delete(line);
    if (status == MSIM_OK)
        keep_fit(j, backend, seconds);
    return status;
}

double msim_cal_journal_seconds(const struct msim_cal_journal *j,
                                const char *backend)
{
    double sum = 0;

    for (uint32_t i = 0; i < j->n; i++)
        if (!backend || strcmp(j->entries[i].backend, backend) == 0)
            sum += j->entries[i].seconds;
    for (uint32_t i = 0; i < j->n_fits; i++)
        if (!backend || strcmp(j->fits[i].backend, backend) == 0)
            sum += j->fits[i].seconds;
    return sum;
}
