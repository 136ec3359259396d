/*
 * serving/app/app_help.c - what the readers of APP.json's parts share.
 */
#include "core/base/print.h"
#include "serving/app/app_internal.h"

#include <stdio.h>
#include <string.h>

void *msim_app_room(struct msim_app *app, struct msim_fields *f, size_t n,
                    size_t bytes)
{
    void *room = msim_arena_alloc(&app->arena, n ? n * bytes : 1);

    if (!room && f->status == MSIM_OK)
        f->status = msim_fail(f->err, MSIM_ENOMEM, f->file, MSIM_OFFSET_NONE,
                              "out of memory");
    return room;
}

const char *msim_app_copy(struct msim_app *app, struct msim_fields *f,
                          const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    char *copy = text ? msim_app_room(app, f, n, 1) : NULL;

    if (copy)
        memcpy(copy, text, n);
    return copy;
}

const char *msim_app_join(struct msim_app *app, struct msim_fields *f,
                          const char *path)
{
    const char *slash = strrchr(app->path, '/');
    size_t folder = slash && *path != '/' ? (size_t)(slash - app->path) + 1 : 0;
    size_t n = strlen(path) + 1;
    char *joined = msim_app_room(app, f, folder + n, 1);

    if (joined) {
        memcpy(joined, app->path, folder);
        memcpy(joined + folder, path, n);
    }
    return joined;
}

void msim_app_assume(struct msim_app *app, const struct msim_fields *f,
                     const char *member, const char *value, const char *why)
{
    struct msim_assumed *grown;
    struct msim_fields at = *f;
    char path[256];

    /* The arena has no room to grow in: sizes double, and old ones stay. */
    if ((app->n_assumed & (app->n_assumed - 1)) == 0) {
        grown = msim_app_room(app, &at, app->n_assumed ? 2 * app->n_assumed : 1,
                              sizeof(*grown));
        if (!grown)
            return;
        if (app->n_assumed)
            memcpy(grown, app->assumed, app->n_assumed * sizeof(*grown));
        app->assumed = grown;
    }
    snprintf(path, sizeof(path), "%s%s", f->path, member);
    grown = (struct msim_assumed *)app->assumed + app->n_assumed++;
    grown->path = msim_app_copy(app, &at, path);
    grown->value = msim_app_copy(app, &at, value);
    grown->why = why;
    if (at.status != MSIM_OK)
        app->n_assumed--;
}

void msim_app_check_name(struct msim_fields *f, const char *key,
                         const char *name)
{
    unsigned n = 1;

    while (*name && (n = msim_printable_length(name)) > 0)
        name += n;
    if (n > 0 || f->status != MSIM_OK)
        return;
    n = msim_utf8_length(name);
    f->status = msim_fail(
        f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
        "%s%.60s: the name has %s%0*X in it, want no characters that cannot be "
        "seen: of control, of direction, ends of lines",
        f->path, key, n ? "U+" : "the byte 0x", n ? 4 : 2,
        n ? (unsigned)msim_utf8_code(name, n) : (unsigned char)*name);
}
