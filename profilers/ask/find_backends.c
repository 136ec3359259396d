/*
 * profilers/ask/find_backends.c - find the backends of this machine.
 */
#include "profilers/ask/backend_child.h"

#include "profilers/ask/shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARE 0.8 /* of the budget: what times operators */
/* Collectives of one number of ranks (0.1), and compute beside them. */
#define SHARE_RANKS 0.115

struct search {
    struct msim_backends *found;
    char folder[1024]; /* of this program */
};

static void find_folder(struct search *s)
{
    ssize_t n = readlink("/proc/self/exe", s->folder, sizeof(s->folder) - 1);
    char *slash;

    s->folder[n > 0 ? n : 0] = '\0';
    slash = strrchr(s->folder, '/');
    if (slash)
        *slash = '\0';
}

static bool has_program(const struct search *s, const char *name)
{
    char path[1200];

    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    return access(path, X_OK) == 0;
}

static void add(struct search *s, double share, const char *command)
{
    struct msim_backends *f = s->found;

    if (f->n == MSIM_BACKENDS || strlen(command) >= MSIM_BACKEND_LINE)
        return;
    memcpy(f->commands[f->n], command, strlen(command) + 1);
    f->list[f->n] = (struct msim_backend_command){f->commands[f->n], share};
    f->n++;
}

/* The command that runs a program of our folder. */
static void run_line(const struct search *s, const char *program, char *command)
{
    char path[1200];

    snprintf(path, sizeof(path), "%s/%s", s->folder, program);
    (void)msim_shell_print(command, MSIM_BACKEND_LINE, "exec %s", path);
}

/* Collectives need mpirun, and more ranks than cores are allowed. */
static void add_ranks(struct search *s)
{
    char path[1200], command[MSIM_BACKEND_LINE];

    if (!has_program(s, "mystique-prof-mpi") ||
        !msim_shell_succeeds("command -v mpirun"))
        return;
    snprintf(path, sizeof(path), "%s/mystique-prof-mpi", s->folder);
    for (int ranks = 2; ranks <= 4; ranks += 2) {
        (void)msim_shell_print(command, sizeof(command),
                               "exec mpirun --allow-run-as-root "
                               "--oversubscribe --bind-to none -n %d %s",
                               ranks, path);
        add(s, SHARE_RANKS, command);
    }
}

/* ---- PyTorch ------------------------------------------------------------- */

/* The script beside the program that was installed, else in the source; false
 * where no Python has PyTorch. `device` "": the one that PyTorch finds. */
static bool find_torch(const struct search *s, const char *device,
                       char *command, size_t size)
{
    /* Not from the folder that the user happens to be in: what lies there may
     * be called like a module. */
    static const char CHECK[] = "import sys; sys.path = [folder for folder in "
                                "sys.path if folder]; import torch";
    const char *python = getenv("MSIM_PYTHON");
    char script[1200], check[MSIM_BACKEND_LINE];

    python = python && *python ? python : "python3";
    snprintf(script, sizeof(script), "%s/../share/mystique-sim/prof_torch.py",
             s->folder);
    if (access(script, R_OK) != 0)
        snprintf(script, sizeof(script), "%s", MSIM_TORCH_SCRIPT);
    if (!(*device
              ? msim_shell_print(command, size, "exec %s %s --device %s",
                                 python, script, device)
              : msim_shell_print(command, size, "exec %s %s", python, script)))
        return false;
    return msim_shell_print(check, sizeof(check), "%s -c %s", python, CHECK) &&
           msim_shell_succeeds(check);
}

static bool add_torch(struct search *s, const char *device)
{
    char command[MSIM_BACKEND_LINE];

    if (!find_torch(s, device, command, sizeof(command)))
        return false;
    add(s, SHARE, command);
    return true;
}

/* ---- GPUs ---------------------------------------------------------------- */

/* With nothing to time a backend greets, and ends, where there is its device;
 * else it fails. */
static bool has_gpu(const struct search *s)
{
    char command[MSIM_BACKEND_LINE];

    run_line(s, "mystique-prof-cuda", command);
    return has_program(s, "mystique-prof-cuda") && msim_shell_succeeds(command);
}

const char *msim_backends_device(void)
{
    struct search s = {.found = NULL};

    find_folder(&s);
    return has_gpu(&s) ? "cuda" : "cpu";
}

/* PyTorch may find a GPU that the program for GPUs does not: it was not built,
 * or lacks a library. The GPU is what is to be timed all the same. */
static bool torch_has_gpu(const struct search *s)
{
    char command[MSIM_BACKEND_LINE];

    return find_torch(s, "cuda", command, sizeof(command)) &&
           msim_shell_succeeds(command);
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status add_named(struct search *s, const char *name,
                                  struct msim_error *err)
{
    char program[64], command[MSIM_BACKEND_LINE];

    if (strlen(name) >= MSIM_BACKEND_LINE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "a backend's command line has %zu bytes, want at "
                         "most %d",
                         strlen(name), MSIM_BACKEND_LINE - 1);
    if (strpbrk(name, " /")) {
        add(s, SHARE, name);
        return MSIM_OK;
    }
    if (strcmp(name, "torch") == 0)
        return add_torch(s, "")
                   ? MSIM_OK
                   : msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                               "no backend 'torch': 'python3 -c \"import "
                               "torch\"' fails; the environment's MSIM_PYTHON "
                               "may name another Python");
    snprintf(program, sizeof(program), "mystique-prof-%.40s", name);
    if (!has_program(s, program))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no backend '%s': no program '%s' beside this one, "
                         "want cpu, cuda, or a command line with a space or a "
                         "'/' in it",
                         name, program);
    run_line(s, program, command);
    add(s, SHARE, command);
    if (strcmp(name, "cpu") == 0)
        add_ranks(s);
    return MSIM_OK;
}

static enum msim_status add_list(struct search *s, const char *names,
                                 struct msim_error *err)
{
    char *list = strdup(names), *rest = list;
    enum msim_status status = list ? MSIM_OK : MSIM_ENOMEM;

    while (rest && status == MSIM_OK) {
        char *comma = strchr(rest, ',');
        const char *name = rest;

        if (comma)
            *comma = '\0';
        rest = comma ? comma + 1 : NULL;
        status = add_named(s, name, err);
    }
    free(list);
    return status;
}

/* PyTorch's kernels are what users run. */
static enum msim_status add_usual(struct search *s, struct msim_error *err)
{
    bool gpu = has_gpu(s), alone = !gpu && torch_has_gpu(s);
    const char *device = gpu || alone ? "cuda" : "cpu";

    if (alone)
        s->found->warning =
            "PyTorch finds a GPU, mystique-prof-cuda none; goes on "
            "without that";
    alone |= !gpu && !has_program(s, "mystique-prof-cpu");
    return add_torch(s, device) && alone ? MSIM_OK : add_list(s, device, err);
}

enum msim_status msim_backends_find(struct msim_backends *b, const char *names,
                                    struct msim_error *err)
{
    struct search s = {.found = b};

    *b = (struct msim_backends){.n = 0};
    find_folder(&s);
    return names ? add_list(&s, names, err) : add_usual(&s, err);
}
