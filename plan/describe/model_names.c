/*
 * plan/describe/model_names.c - names of models to files.
 */
#include "plan/describe/describe.h"

#include "core/base/csv.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAIN 128
#define WORDS 64 /* of names.csv, at most */

struct word {
    char text[PLAIN], is[PLAIN]; /* plain; `is` of what begins a name */
    bool begins;
};

struct words {
    struct word of[WORDS];
    size_t n;
};

/* Letters and digits alone, small, of `n` characters. */
static void make_plain(char plain[PLAIN], const char *text, size_t n)
{
    size_t used = 0;

    for (size_t i = 0; i < n && text[i] && used + 1 < PLAIN; i++)
        if (isalnum((unsigned char)text[i]))
            plain[used++] = (char)tolower((unsigned char)text[i]);
    plain[used] = '\0';
}

static void plain_name(char plain[PLAIN], const char *name)
{
    const char *slash = strrchr(name, '/');
    char *student;

    name = slash ? slash + 1 : name;
    make_plain(plain, name, strlen(name));
    /* The shape of a distilled model is the student's, which follows. */
    student = strstr(plain, "distill");
    if (student)
        memmove(plain, student + 7, strlen(student + 7) + 1);
}

/* ---- names.csv: kind,name,model ------------------------------------------ */

static enum msim_status read_words(struct words *w, const char *data_dir,
                                   struct msim_error *err)
{
    enum msim_status status;
    struct msim_csv *csv;
    char *const *row;
    char path[1024];

    w->n = 0;
    snprintf(path, sizeof(path), "%s/models/names.csv", data_dir);
    if (access(path, R_OK) != 0)
        return MSIM_OK;
    MSIM_TRY(msim_csv_open(&csv, path, err));
    if (msim_csv_columns(csv) != 3) {
        msim_csv_close(csv);
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "the header wants kind,name,model");
    }
    while ((status = msim_csv_next(csv, &row, err)) == MSIM_OK && row &&
           w->n < WORDS) {
        struct word *word = &w->of[w->n++];

        word->begins = strcmp(row[0], "begins") == 0;
        make_plain(word->text, row[1], strlen(row[1]));
        make_plain(word->is, row[2], strlen(row[2]));
    }
    msim_csv_close(csv);
    return status;
}

/* Let a name begin as another's does; false: none of the words begins it. */
static bool begin_otherwise(char plain[PLAIN], const struct words *w)
{
    char rest[PLAIN];

    for (size_t i = 0; i < w->n; i++) {
        size_t n = strlen(w->of[i].text);

        if (!w->of[i].begins || strncmp(plain, w->of[i].text, n) != 0)
            continue;
        snprintf(rest, sizeof(rest), "%s", plain + n);
        snprintf(plain, PLAIN, "%s%.60s", w->of[i].is, rest);
        return true;
    }
    return false;
}

/* How many characters of what follows a name say a version or a date: "v02",
 * "2507". */
static size_t version_of(const char *rest)
{
    size_t digits = strspn(rest + (*rest == 'v'), "0123456789");

    return *rest == 'v' ? (digits ? digits + 1 : 0) : digits == 4 ? 4 : 0;
}

static bool is_known(const char *rest, const struct words *w)
{
    while (*rest) {
        size_t n = version_of(rest);

        for (size_t i = 0; i < w->n && !n; i++)
            if (!w->of[i].begins &&
                strncmp(rest, w->of[i].text, strlen(w->of[i].text)) == 0)
                n = strlen(w->of[i].text);
        if (!n)
            return false;
        rest += n;
    }
    return true;
}

/* ---- files --------------------------------------------------------------- */

struct search {
    char wanted[PLAIN];
    const struct words *words;
    enum msim_model_rest rest;
};

/* How many letters of the wanted name the file's name is the beginning of; 0:
 * none. */
static size_t match(const struct search *s, const char *file)
{
    size_t n = strlen(file);
    char plain[PLAIN];

    if (n < 6 || strcmp(file + n - 5, ".json") != 0)
        return 0;
    make_plain(plain, file, n - 5);
    n = strlen(plain);
    if (strncmp(s->wanted, plain, n) != 0 ||
        (s->rest == MSIM_MODEL_REST_KNOWN &&
         !is_known(s->wanted + n, s->words)))
        return 0;
    return n;
}

static bool longest(char *path, size_t size, const char *folder, DIR *d,
                    const struct search *s)
{
    struct dirent *entry;
    size_t best = 0;

    rewinddir(d);
    while ((entry = readdir(d))) {
        size_t n = match(s, entry->d_name);

        if (n <= best)
            continue;
        best = n;
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    return best > 0;
}

enum msim_status msim_model_name_find(char *path, size_t size,
                                      const char *folder, const char *data_dir,
                                      const char *name,
                                      enum msim_model_rest rest,
                                      struct msim_error *err)
{
    struct words words;
    struct search s = {.words = &words, .rest = rest};
    bool found;
    DIR *d;

    MSIM_TRY(read_words(&words, data_dir, err));
    d = opendir(folder);
    if (!d)
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "cannot read the folder: %s", strerror(errno));
    plain_name(s.wanted, name);
    found = longest(path, size, folder, d, &s) ||
            (begin_otherwise(s.wanted, &words) &&
             longest(path, size, folder, d, &s));
    closedir(d);
    if (found)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUNKNOWN, folder, MSIM_OFFSET_NONE,
                     "no file for the model '%.64s', want one that its name "
                     "begins with",
                     name);
}
