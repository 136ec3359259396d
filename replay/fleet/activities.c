/*
 * replay/fleet/activities.c - the columns of traces as rows of CSV.
 */
#include "replay/fleet/fleet.h"

#include "core/base/csv.h"
#include "core/work/opmap/opmap.h"

#include <inttypes.h>
#include <stdlib.h>

/* A row in the making; what is not known is left empty. */
struct row {
    const char *kind, *name, *family, *operator_name;
    msim_ps start, dur;
    const struct msim_stream *stream;
    const struct msim_thread *thread;
    uint64_t bytes;
};

static void put_number(FILE *out, bool known, int64_t value)
{
    char text[24] = "";

    if (known)
        snprintf(text, sizeof(text), "%" PRId64, value);
    msim_csv_add(out, text);
}

static void put_row(FILE *out, const struct msim_trace *t, const struct row *r)
{
    bool timed = r->start != MSIM_TIME_NONE && r->dur != MSIM_TIME_NONE;

    char rank[24] = "";

    if (t->rank >= 0)
        snprintf(rank, sizeof(rank), "%" PRId64, t->rank);
    msim_csv_print(out, "%s,%s,%s,%s,%s", rank, r->kind, r->name, r->family,
                   r->operator_name);
    put_number(out, timed, r->start);
    put_number(out, timed, r->dur);
    put_number(out, r->stream, r->stream ? r->stream->device : 0);
    put_number(out, r->stream, r->stream ? r->stream->id : 0);
    put_number(out, r->thread, r->thread ? r->thread->pid : 0);
    put_number(out, r->thread, r->thread ? r->thread->tid : 0);
    put_number(out, r->bytes, (int64_t)r->bytes);
    fputc('\n', out);
}

static void put_host(FILE *out, const struct msim_trace *t,
                     const struct msim_works *works)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *o = &t->ops[i];
        bool label = o->kind == MSIM_OP_ANNOTATION;

        if (o->kind == MSIM_OP_ROOT)
            continue;
        put_row(out, t,
                &(struct row){.kind = label ? "label" : "operator",
                              .name = msim_trace_text(t, o->name),
                              .family = label ? ""
                                              : msim_time_kind_text(
                                                    msim_op_family(works, i)),
                              .operator_name = "",
                              .start = o->start,
                              .dur = o->dur,
                              .thread = &t->threads[o->thread]});
    }
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const struct msim_call *c = &t->calls[i];

        put_row(out, t,
                &(struct row){.kind = "call",
                              .name = msim_trace_text(t, c->name),
                              .family = "",
                              .operator_name = "",
                              .start = c->start,
                              .dur = c->dur,
                              .thread = &t->threads[c->thread]});
    }
}

static void put_gpu(FILE *out, const struct msim_trace *t,
                    const uint8_t *family)
{
    static const char *const KINDS[] = {"kernel", "communication", "copy",
                                        "memset"};

    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];
        uint32_t top = msim_op_topmost(t, e->op);

        put_row(
            out, t,
            &(struct row){
                .kind = KINDS[e->kind],
                .name = msim_trace_text(t, e->name),
                .family = msim_time_kind_text(msim_gpu_time_kind(t, family, i)),
                .operator_name = top == MSIM_NONE
                                     ? ""
                                     : msim_trace_text(t, t->ops[top].name),
                .start = e->start,
                .dur = e->dur,
                .stream = &t->streams[e->stream],
                .bytes = e->bytes});
    }
}

static enum msim_status put_rank(FILE *out, const struct msim_trace *t)
{
    uint8_t *family = malloc((size_t)t->n_gpu + 1);
    struct msim_works *works = NULL;
    enum msim_status status = MSIM_ENOMEM;

    if (family)
        status = msim_works_new(&works, t, NULL,
                                msim_opmap_place_of(t, !t->has_gpu_events));
    if (status == MSIM_OK) {
        msim_gpu_families(works, family);
        put_host(out, t, works);
        put_gpu(out, t, family);
    }
    msim_works_free(works);
    free(family);
    return status;
}

enum msim_status msim_activities_csv(const struct msim_job *job, FILE *out)
{
    fputs("rank,kind,name,family,operator,start_ps,duration_ps,device,stream,"
          "process,thread,bytes\n",
          out);
    for (uint32_t i = 0; i < job->n_ranks; i++)
        MSIM_TRY(put_rank(out, job->ranks[i]));
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
