/*
 * serving/llm/model_find.c - names of models to files.
 */
#include "serving/llm/model_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PLAIN 128

/* Letters and digits alone, small, of `n` characters. */
static void make_plain(char plain[PLAIN], const char *text, size_t n)
{
    size_t used = 0;

    for (size_t i = 0; i < n && text[i] && used + 1 < PLAIN; i++)
        if (isalnum((unsigned char)text[i]))
            plain[used++] = (char)tolower((unsigned char)text[i]);
    plain[used] = '\0';
}

/* Models of one architecture and size that have names of their own, and makers
 * that stand in front of a name. */
static const struct {
    const char *begins, *is;
} ALIASES[] = {
    {"deepseekr1", "deepseekv3"},  {"deepseekv3", "deepseekv3"},
    {"metallama", "llama"},        {"kimik2thinking", "kimik25"},
    {"kimik2instruct", "kimik25"},
};

static void plain_name(char plain[PLAIN], const char *name)
{
    const char *slash = strrchr(name, '/');
    char rest[PLAIN], *student;

    name = slash ? slash + 1 : name;
    make_plain(plain, name, strlen(name));
    /* The shape of a distilled model is the student's, which follows. */
    student = strstr(plain, "distill");
    if (student)
        memmove(plain, student + 7, strlen(student + 7) + 1);
    for (size_t i = 0; i < sizeof(ALIASES) / sizeof(*ALIASES); i++) {
        size_t n = strlen(ALIASES[i].begins);

        if (strncmp(plain, ALIASES[i].begins, n) != 0)
            continue;
        snprintf(rest, sizeof(rest), "%s", plain + n);
        snprintf(plain, PLAIN, "%s%.100s", ALIASES[i].is, rest);
        return;
    }
}

/* How many letters of `wanted` the file's name is the beginning of; 0: none. */
static size_t match(const char *wanted, const char *file)
{
    size_t n = strlen(file);
    char plain[PLAIN];

    if (n < 6 || strcmp(file + n - 5, ".json") != 0)
        return 0;
    make_plain(plain, file, n - 5);
    n = strlen(plain);
    return strncmp(wanted, plain, n) == 0 ? n : 0;
}

enum msim_status msim_llm_model_find(char *path, size_t size,
                                     const char *folder, const char *name,
                                     struct msim_error *err)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    char wanted[PLAIN];
    size_t best = 0;

    if (!d)
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "cannot read the folder: %s", strerror(errno));
    plain_name(wanted, name);
    while ((entry = readdir(d))) {
        size_t n = match(wanted, entry->d_name);

        if (n <= best)
            continue;
        best = n;
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    closedir(d);
    if (best)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUNKNOWN, folder, MSIM_OFFSET_NONE,
                     "no file for the model '%.64s', want one that its name "
                     "begins with",
                     name);
}
