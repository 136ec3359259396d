/*
 * api/handles.c - handles of mystique.h: made, freed, and what goes back with
 * them.
 */
#include "api/handles.h"

#include "core/base/files.h"
#include "models/platform/platform.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct mystique_result {
    char *text;
    size_t length;
};

const char *mystique_version(void)
{
    return MSIM_VERSION;
}

/* ---- errors ---------------------------------------------------------------
 */

int msim_api_status(enum msim_status status, const struct msim_error *from,
                    mystique_error *err)
{
    int code = msim_status_exit(status);

    /* What was read is noted so that no output replaces it; nothing is written
     * here, and the list would grow. */
    msim_files_read_release();
    if (!err)
        return code;
    memset(err, 0, sizeof(*err));
    err->status = code;
    err->offset = MYSTIQUE_OFFSET_NONE;
    if (status == MSIM_OK)
        return code;
    if (from->file[0])
        err->offset = from->offset;
    snprintf(err->file, sizeof(err->file), "%s", from->file);
    snprintf(err->text, sizeof(err->text), "%s",
             from->text[0] ? from->text : msim_status_text(status));
    return code;
}

int msim_api_null(const char *name, const char *want, mystique_error *err)
{
    struct msim_error why = {0};
    enum msim_status status =
        msim_fail(&why, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                  "%s is NULL, want %s", name, want);

    return msim_api_status(status, &why, err);
}

/* ---- the library ----------------------------------------------------------
 */

/* base + tail where that is a data folder, else NULL; the caller's. */
static char *try_folder(const char *base, const char *tail)
{
    char path[PATH_MAX];

    return msim_data_folder(path, sizeof(path), base, tail) ? strdup(path)
                                                            : NULL;
}

/* A library may lie in lib or in lib/x86_64-linux-gnu of its prefix, or in the
 * build folder of a source tree. */
static char *beside_library(void)
{
    static const char *const TAILS[] = {
        "/../share/mystique-sim", "/../../share/mystique-sim", "/../data"};
    char dir[PATH_MAX];
    char *found = NULL, *slash;
    Dl_info info;

    if (!dladdr((const void *)TAILS, &info) || !info.dli_fname ||
        !realpath(info.dli_fname, dir))
        return NULL;
    slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; !found && i < sizeof(TAILS) / sizeof(TAILS[0]); i++)
        found = try_folder(dir, TAILS[i]);
    return found;
}

static char *find_data(const char *chosen)
{
    const char *env = getenv("MSIM_DATA");
    char *found;

    if (!chosen && env && env[0])
        chosen = env;
    if (chosen)
        return try_folder(chosen, "");
    found = beside_library();
    return found ? found : try_folder(MSIM_DATA_INSTALL, "");
}

int mystique_open(mystique **out, const char *data_dir, mystique_error *err)
{
    struct msim_error why = {0};
    enum msim_status status = MSIM_OK;
    mystique *m;

    if (!out)
        return msim_api_null("out", "where the library goes", err);
    *out = NULL;
    m = calloc(1, sizeof(*m));
    if (!m)
        return msim_api_status(MSIM_ENOMEM, &why, err);
    m->data = find_data(data_dir);
    if (!m->data)
        status = msim_fail(&why, MSIM_EUNKNOWN, data_dir, MSIM_OFFSET_NONE,
                           "no data folder: want one that holds platforms/, "
                           "given here or in the environment's MSIM_DATA");
    if (status == MSIM_OK) {
        *out = m;
        m = NULL;
    }
    mystique_close(m);
    return msim_api_status(status, &why, err);
}

void mystique_close(mystique *m)
{
    if (!m)
        return;
    free(m->data);
    free(m);
}

/* ---- results --------------------------------------------------------------
 */

void msim_answer_begin(struct msim_answer *a)
{
    *a = (struct msim_answer){0};
    a->out = open_memstream(&a->text, &a->length);
}

enum msim_status msim_answer_end(struct msim_answer *a, mystique_result **out,
                                 enum msim_status status)
{
    mystique_result *r = NULL;

    if (status == MSIM_OK && (!a->out || fflush(a->out) != 0))
        status = MSIM_ENOMEM;
    if (a->out && fclose(a->out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK) {
        r = calloc(1, sizeof(*r));
        status = r ? MSIM_OK : MSIM_ENOMEM;
    }
    if (r)
        *r = (mystique_result){a->text, a->length};
    else
        free(a->text);
    *out = r;
    return status;
}

const char *mystique_text(const mystique_result *r, size_t *length)
{
    if (length)
        *length = r ? r->length : 0;
    return r ? r->text : NULL;
}

void mystique_result_free(mystique_result *r)
{
    if (!r)
        return;
    free(r->text);
    free(r);
}

/* The member or item that `path` begins with, and what is behind it. */
static const cJSON *step_into(const cJSON *at, const char **path)
{
    char key[128];
    size_t n = strcspn(*path, ".[");
    char *end;

    if (**path == '[') {
        long index = strtol(*path + 1, &end, 10);

        if (*end != ']' || end == *path + 1 || index < 0 || index > INT_MAX)
            return NULL;
        *path = end + 1;
        at = cJSON_GetArrayItem(at, (int)index);
    } else {
        if (!n || n >= sizeof(key))
            return NULL;
        memcpy(key, *path, n);
        key[n] = '\0';
        *path += n;
        at = cJSON_GetObjectItemCaseSensitive(at, key);
    }
    if (**path == '.')
        *path += 1;
    return at;
}

int mystique_number(const mystique_result *r, const char *path, double *out)
{
    const cJSON *at;
    cJSON *json;
    int code = MYSTIQUE_USAGE;

    if (!r || !path || !out ||
        msim_json_parse(&json, r->text, r->length, NULL) != MSIM_OK)
        return MYSTIQUE_USAGE;
    for (at = json; at && *path;)
        at = step_into(at, &path);
    if (cJSON_IsNumber(at)) {
        *out = at->valuedouble;
        code = MYSTIQUE_OK;
    }
    cJSON_Delete(json);
    return code;
}

int msim_text_file(char path[64], const char *text)
{
    size_t n = strlen(text), done = 0;
    int fd = memfd_create("mystique", MFD_CLOEXEC);

    while (fd >= 0 && done < n) {
        ssize_t wrote = write(fd, text + done, n - done);

        if (wrote <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}
