/*
 * calibrate/programs/fit_collectives_main.c - msim-fit-collectives: the
 * constants that fits of collectives are made with, and how good they are.
 *
 *     msim-fit-collectives TABLES SHEETS COLLECTIVES
 *     msim-fit-collectives --weights TABLES SHEETS COLLECTIVES
 *     msim-fit-collectives --refit FABRIC|all [--steps N]
 *                          TABLES SHEETS COLLECTIVES OUT.json
 *
 * TABLES is a folder with collective.csv.gz, SHEETS the data-sheet file,
 * COLLECTIVES the constants (data/laws/collectives.json). Writes CSV to
 * standard output: the log-likelihood of each fabric's points, and the scores
 * of held-out rows, each a mean over groups of points. With --weights the
 * scores also with each weight of intervals halved and doubled. With --refit
 * the constants of greatest likelihood of a fabric, from those of COLLECTIVES
 * on, are written to OUT.json, and their log-likelihood to standard output.
 */
#include "calibrate/collective/coll_covariance.h"
#include "calibrate/collective/coll_fit.h"
#include "calibrate/programs/program_end.h"
#include "calibrate/rows/samples.h"
#include "core/base/csv.h"
#include "core/base/print.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 300 /* of the simplex, for each component */

struct command {
    const char *refit; /* a fabric or "all"; NULL: none */
    const char *tables, *sheets, *collectives, *out;
    bool weights;
    uint32_t steps;
};

/* The rows, and the constants in use. */
struct input {
    struct msim_samples samples;
    cJSON *sheets;
    struct msim_coll_constants constants;
    struct msim_coll_fits fits;
};

static void release_input(struct input *in)
{
    msim_coll_fits_release(&in->fits);
    cJSON_Delete(in->sheets);
    msim_samples_release(&in->samples);
}

static enum msim_status read_input(struct input *in, const struct command *c,
                                   struct msim_error *err)
{
    struct msim_tables only = {0};

    MSIM_TRY(msim_samples_init(&in->samples));
    if (!msim_tables_choose(&only, "collective", err))
        return MSIM_EINTERNAL;
    MSIM_TRY(msim_coll_constants_read(&in->constants, c->collectives, err));
    MSIM_TRY(msim_json_read(&in->sheets, c->sheets, err));
    MSIM_TRY(msim_tables_read(&in->samples, c->tables, &only, err));
    return msim_coll_fits_init(
        &in->fits, &in->samples,
        cJSON_GetObjectItemCaseSensitive(in->sheets, "platforms"), c->sheets,
        err);
}

/* ---- scores -------------------------------------------------------------- */

static const char *const HOLDOUTS[MSIM_COLL_HOLDOUTS] = {
    [MSIM_COLL_HOLD_OUT_RANKS] = "ranks",
    [MSIM_COLL_HOLD_OUT_SIZES] = "sizes",
    [MSIM_COLL_HOLD_OUT_CLUSTER] = "cluster",
    [MSIM_COLL_HOLD_OUT_GPU] = "gpu",
};

/* The weights to score: as they are, or one of them times a factor. */
struct trial {
    const char *name;
    size_t offset;
    double factor;
};

#define WEIGHT(name, factor)                                                   \
    {                                                                          \
#name, offsetof(struct msim_coll_weights, name), factor                \
    }
static const struct trial TRIALS[] = {
    {"as they are", 0, 1},
    WEIGHT(octaves, 0.5),
    WEIGHT(octaves, 2),
    WEIGHT(log_sd_ratio, 0.5),
    WEIGHT(log_sd_ratio, 2),
    WEIGHT(own_gpu, 0.5),
    WEIGHT(own_gpu, 2),
    WEIGHT(own_group, 0.5),
    WEIGHT(own_group, 2),
    WEIGHT(same_collective, 0.5),
    WEIGHT(same_collective, 2),
    WEIGHT(same_ranks, 0.5),
    WEIGHT(same_ranks, 2),
    WEIGHT(prior, 0.5),
    WEIGHT(prior, 2),
    WEIGHT(next, 0.5),
    WEIGHT(next, 2),
    WEIGHT(change_share, 0.5),
    WEIGHT(change_share, 2),
};

/* Means over the groups of a block that have scores. */
static void print_scores(const struct input *in,
                         const struct msim_coll_block *b,
                         enum msim_coll_holdout what, const struct trial *t)
{
    double error = 0, inside = 0, width = 0, score = 0;
    uint32_t groups = 0, rows = 0;

    for (uint32_t i = 0; i < in->fits.points.n_groups; i++) {
        const struct msim_coll_score *s = &in->fits.fits[i].scores[what];

        if (s->rows == 0)
            continue;
        groups++;
        rows += s->rows;
        error += s->error.mean;
        inside += s->coverage;
        width += s->width;
        score += s->score;
    }
    if (groups > 0)
        msim_csv_print(stdout, "%s,%s,%s,%g,%u,%u,%.2f,%.1f,%.3f,%.3f\n",
                       msim_coll_fabric_text(b->fabric), HOLDOUTS[what],
                       t->name, t->factor, groups, rows, 100 * error / groups,
                       100 * inside / groups, width / groups, score / groups);
}

static enum msim_status score_once(struct input *in,
                                   const struct msim_coll_block *b,
                                   enum msim_coll_holdout what,
                                   const struct msim_coll_prediction *held,
                                   const struct trial *t)
{
    struct msim_coll_weights *w = &in->constants.weights, before = *w;
    struct msim_coll_misses misses;
    enum msim_status status;

    *(double *)((char *)w + t->offset) *= t->factor;
    for (uint32_t i = 0; i < in->fits.points.n_groups; i++)
        in->fits.fits[i].scores[what] = (struct msim_coll_score){0};
    status = msim_coll_evaluate(&in->fits, b, what, held, &misses);
    if (status == MSIM_OK)
        print_scores(in, b, what, t);
    msim_coll_misses_release(&misses);
    *w = before;
    return status;
}

static enum msim_status
score_block(struct input *in, const struct msim_coll_block *b, bool weights)
{
    size_t trials = weights ? sizeof(TRIALS) / sizeof(*TRIALS) : 1;
    struct msim_coll_prediction *held =
        malloc(((size_t)in->fits.points.n_points + 1) * sizeof(*held));
    enum msim_status status = held ? MSIM_OK : MSIM_ENOMEM;

    for (int what = 0; status == MSIM_OK && what < MSIM_COLL_HOLDOUTS; what++) {
        if (!msim_coll_is_scored(b->fabric, what))
            continue;
        status = msim_coll_block_hold_out(b, what, held);
        for (size_t i = 0; status == MSIM_OK && i < trials; i++)
            status = score_once(in, b, what, held, &TRIALS[i]);
    }
    free(held);
    return status;
}

static enum msim_status score(struct input *in, bool weights)
{
    printf("fabric,held_out,weight,factor,groups,rows,error_percent,"
           "inside_percent,width,score\n");
    for (int f = 0; f < MSIM_COLL_FABRICS; f++) {
        struct msim_coll_block b;
        enum msim_status status = msim_coll_block_init(
            &b, (enum msim_coll_fabric)f, &in->constants, &in->fits.points);

        if (status == MSIM_OK && b.n > 0)
            status = score_block(in, &b, weights);
        msim_coll_block_release(&b);
        if (status != MSIM_OK)
            return status;
    }
    return MSIM_OK;
}

/* ---- likelihood ---------------------------------------------------------- */

static enum msim_status climb(const struct msim_coll_block *b,
                              struct msim_coll_process *p, uint32_t steps,
                              double *value)
{
    for (uint32_t i = 0; i < p->n_components; i++) {
        MSIM_TRY(msim_coll_likelihood_climb(value, b, p, i, steps));
        msim_print(stderr, "msim-fit-collectives: %s: component %u: %.3f\n",
                   msim_coll_fabric_text(b->fabric), i, *value);
    }
    return MSIM_OK;
}

/* Print the log-likelihood of a block; with `steps` climb, and put what is
 * found into `tree`. */
static enum msim_status visit_block(const struct msim_coll_block *b,
                                    cJSON *tree, uint32_t steps)
{
    struct msim_coll_process p = b->constants->fabrics[b->fabric];
    double before, after;
    char date[16];
    time_t now = time(NULL);
    struct tm utc;

    MSIM_TRY(msim_coll_log_likelihood(&before, b, &p));
    after = before;
    if (steps > 0) {
        MSIM_TRY(climb(b, &p, steps, &after));
        (void)strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &utc));
        MSIM_TRY(
            msim_coll_constants_put(tree, b->fabric, &p, b->n, after, date));
    }
    msim_csv_print(stdout, "%s,%u,%.3f,%.3f\n",
                   msim_coll_fabric_text(b->fabric), b->n, before, after);
    return MSIM_OK;
}

static enum msim_status visit_blocks(struct input *in, const struct command *c,
                                     cJSON *tree)
{
    printf("fabric,points,log_likelihood_before,log_likelihood_after\n");
    for (int f = 0; f < MSIM_COLL_FABRICS; f++) {
        const char *name = msim_coll_fabric_text((enum msim_coll_fabric)f);
        bool wanted = c->refit && (strcmp(c->refit, "all") == 0 ||
                                   strcmp(c->refit, name) == 0);
        struct msim_coll_block b;
        enum msim_status status = msim_coll_block_init(
            &b, (enum msim_coll_fabric)f, &in->constants, &in->fits.points);

        if (status == MSIM_OK && b.n > 0)
            status = visit_block(&b, tree, wanted ? c->steps : 0);
        msim_coll_block_release(&b);
        if (status != MSIM_OK)
            return status;
    }
    return MSIM_OK;
}

static enum msim_status refit(struct input *in, const struct command *c,
                              struct msim_error *err)
{
    cJSON *tree;
    enum msim_status status;

    MSIM_TRY(msim_json_read(&tree, c->collectives, err));
    status = visit_blocks(in, c, tree);
    if (status == MSIM_OK)
        status = msim_tree_renew(tree, c->out, err);
    cJSON_Delete(tree);
    return status;
}

/* ---- the program --------------------------------------------------------- */

static enum msim_status run(const struct command *c, struct msim_error *err)
{
    struct input in = {0};
    enum msim_status status = read_input(&in, c, err);

    if (status == MSIM_OK && c->refit) {
        status = refit(&in, c, err);
    } else if (status == MSIM_OK) {
        status = visit_blocks(&in, c, NULL);
        if (status == MSIM_OK)
            status = score(&in, c->weights);
    }
    release_input(&in);
    return status;
}

static bool is_fabric(const char *name)
{
    bool found = strcmp(name, "all") == 0;

    for (int f = 0; f < MSIM_COLL_FABRICS; f++)
        found |=
            strcmp(name, msim_coll_fabric_text((enum msim_coll_fabric)f)) == 0;
    return found;
}

/* The options before the files; false where one is wrong. */
static bool parse_options(struct command *c, int argc, char **argv, int *at)
{
    for (; *at < argc && strncmp(argv[*at], "--", 2) == 0; (*at)++) {
        const char *option = argv[*at];

        if (strcmp(option, "--weights") == 0) {
            c->weights = true;
        } else if (*at + 1 == argc) {
            return false;
        } else if (strcmp(option, "--refit") == 0) {
            c->refit = argv[++*at];
        } else if (strcmp(option, "--steps") == 0) {
            c->steps = (uint32_t)strtoul(argv[++*at], NULL, 10);
        } else {
            return false;
        }
    }
    return c->steps > 0 && !(c->refit && c->weights) &&
           (!c->refit || is_fabric(c->refit));
}

static bool parse(struct command *c, int argc, char **argv)
{
    int at = 1;

    if (!parse_options(c, argc, argv, &at) || argc - at != (c->refit ? 4 : 3)) {
        fprintf(stderr, "usage: msim-fit-collectives [--weights] TABLES SHEETS "
                        "COLLECTIVES\n"
                        "       msim-fit-collectives --refit "
                        "switched|pcie|network|all [--steps N] TABLES SHEETS "
                        "COLLECTIVES OUT.json\n");
        return false;
    }
    c->tables = argv[at];
    c->sheets = argv[at + 1];
    c->collectives = argv[at + 2];
    c->out = c->refit ? argv[at + 3] : NULL;
    return true;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};
    struct command c = {.steps = STEPS};
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    /* Each line when it is known: fits take hours. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (!parse(&c, argc, argv))
        return 2;
    status = run(&c, &err);
    return msim_program_end(stderr, "msim-fit-collectives", status, &err);
}
