/* cc two_gpus.c $(pkg-config --cflags --libs mystique) && ./a.out TRACE */
#include <mystique.h>
#include <stdio.h>

static const char *const ASKED[] = {
    "{\"platform\": \"a100\"}", "{\"platform\": \"h100\"}",
    "{\"platform\": \"h100\", \"scale\": [\"kernels=0.5\"]}"};

static int show(mystique_job *job, const char *options, mystique_error *e)
{
    mystique_result *r;
    double us, low, high;
    int rc = mystique_predict(&r, job, options, e);

    if (!rc && !mystique_number(r, "period_us.predicted", &us) &&
        !mystique_number(r, "period_us.low", &low) &&
        !mystique_number(r, "period_us.high", &high))
        printf("%s: %.3f ms (%.3f to %.3f)\n", options, us / 1e3, low / 1e3,
               high / 1e3);
    mystique_result_free(r);
    return rc;
}

int main(int argc, char **argv)
{
    const char *const *traces = (const char *const *)argv + 1;
    mystique *m = NULL;
    mystique_job *job = NULL;
    mystique_error e;
    int rc = mystique_open(&m, NULL, &e);

    rc = rc ? rc : mystique_load(&job, m, traces, (size_t)argc - 1, NULL, &e);
    for (int i = 0; !rc && i < 3; i++)
        rc = show(job, ASKED[i], &e);
    if (rc)
        fprintf(stderr, "%s%s%s\n", e.file, e.file[0] ? ": " : "", e.text);
    mystique_job_free(job);
    mystique_close(m);
    return rc;
}
