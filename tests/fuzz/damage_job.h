/*
 * tests/fuzz/damage_job.h - what no run has, put into a made-up job; and the
 * job as Kineto traces.
 *
 * Private to tests.
 */
#ifndef MSIM_TESTS_FUZZ_DAMAGE_JOB_H
#define MSIM_TESTS_FUZZ_DAMAGE_JOB_H
#include "tests/fuzz/played_job.h"

/* ---- damage -------------------------------------------------------------- */

static inline void damage_time(struct made_job *j, struct made_rank *r,
                               struct made_event *e)
{
    const struct made_event *other = &r->events[made_any(j, r->n)];

    switch (made_any(j, 9)) {
    case 0:
        e->start = other->start;
        break;
    case 1:
        e->start = other->start + other->dur;
        break;
    case 2:
        e->start -= made_time(j, 500000);
        break;
    case 3:
        e->start += made_time(j, 500000);
        break;
    case 4:
        e->dur = 0;
        break;
    case 5:
        e->dur = other->dur;
        break;
    case 6:
        e->dur *= 1 + made_any(j, 50);
        break;
    case 7:
        if (made_once_in(j, 20)) /* ten days and more */
            e->start += (int64_t)made_any(j, 20) * 86400 * 1000000000;
        break;
    default:
        if (made_once_in(j, 20))
            e->dur = (int64_t)made_any(j, 20) * 86400 * 1000000000;
        break;
    }
}

static inline int64_t damage_id(struct made_job *j, int64_t id)
{
    static const int64_t ODD[] = {-1, 0,         1,          7,
                                  20, INT32_MAX, UINT32_MAX, (int64_t)1 << 40};

    return made_once_in(j, 2) ? ODD[made_any(j, 8)] : id + made_any(j, 3) - 1;
}

static inline void damage_place(struct made_job *j, struct made_event *e,
                                const struct made_event *other)
{
    switch (made_any(j, 7)) {
    case 0:
        e->correlation = other->correlation;
        break;
    case 1:
        e->correlation = damage_id(j, e->correlation);
        break;
    case 2:
        e->stream = damage_id(j, e->stream);
        break;
    case 3:
        e->stream = other->stream;
        break;
    case 4:
        e->device = damage_id(j, e->device);
        break;
    case 5:
        e->tid = 1 + made_any(j, 4);
        break;
    default:
        e->wait_stream = damage_id(j, e->wait_stream);
        e->record = other->correlation;
        break;
    }
}

static inline void damage_meaning(struct made_job *j, struct made_event *e,
                                  const struct made_event *other)
{
    static const char *const KINDS[] = {"allreduce", "send", "recv", "wait",
                                        "broadcast", "?",    NULL};
    static const int64_t SIZES[] = {
        0, 1, 33, 1024, 65536, INT32_MAX, (int64_t)1 << 31, (int64_t)1 << 40};

    switch (made_any(j, 8)) {
    case 0:
        e->name = other->name;
        break;
    case 1:
        e->cat = other->cat;
        break;
    case 2:
        e->collective = KINDS[made_any(j, 7)];
        break;
    case 3:
        e->sequence = damage_id(j, e->sequence);
        break;
    case 4:
        e->peer = damage_id(j, e->peer);
        e->size = damage_id(j, e->size);
        break;
    case 5:
        e->group = made_any(j, 3);
        e->elements = SIZES[made_any(j, 8)];
        break;
    case 6:
        e->step = (int)made_any(j, 3);
        break;
    default:
        e->grid = SIZES[made_any(j, 8)];
        e->block = SIZES[made_any(j, 8)];
        e->registers = SIZES[made_any(j, 8)];
        e->shared = SIZES[made_any(j, 8)];
        e->bytes = SIZES[made_any(j, 8)];
        break;
    }
}

static inline void damage_rank(struct made_job *j, struct made_rank *r,
                               uint32_t times)
{
    for (; times-- && r->n > 1;) {
        uint32_t i = made_any(j, r->n);
        struct made_event *e = &r->events[i];
        const struct made_event *other = &r->events[made_any(j, r->n)];
        uint32_t what = made_any(j, 8);

        if (what < 3)
            damage_time(j, r, e);
        else if (what < 5)
            damage_place(j, e, other);
        else if (what == 5)
            damage_meaning(j, e, other);
        else if (what == 6)
            *e = r->events[--r->n]; /* lost */
        else if (r->n < MADE_EVENTS)
            r->events[r->n++] = *other; /* twice */
    }
}

static inline void made_job_damage(struct made_job *j)
{
    for (uint32_t i = 0; i < j->n_ranks; i++) {
        uint32_t most = j->ranks[i].n / (1u << made_any(j, 8));

        damage_rank(j, &j->ranks[i], 1 + made_any(j, 1 + most));
    }
}

/* ---- text ---------------------------------------------------------------- */

static inline void text_us(FILE *f, const char *key, int64_t ns)
{
    fprintf(f, ",\"%s\":%s%" PRId64 ".%03" PRId64, key, ns < 0 ? "-" : "",
            (ns < 0 ? -ns : ns) / 1000, (ns < 0 ? -ns : ns) % 1000);
}

static inline void text_device(FILE *f, const struct made_event *e)
{
    if (e->grid > 0)
        fprintf(f,
                ",\"grid\":[%" PRId64 ",1,1],\"block\":[%" PRId64
                ",1,1],\"registers per thread\":%" PRId64
                ",\"shared memory\":%" PRId64,
                e->grid, e->block, e->registers, e->shared);
    if (e->bytes)
        fprintf(f, ",\"bytes\":%" PRId64, e->bytes);
    if (!e->collective)
        return;
    fprintf(f,
            ",\"Collective name\":\"%s\",\"In msg nelems\":%" PRId64
            ",\"Out msg nelems\":%" PRId64 ",\"Group size\":%" PRId64
            ",\"dtype\":\"Float\",\"Process Group Name\":\"%" PRId64 "\"",
            e->collective, e->elements, e->elements, e->size, e->group);
    if (e->sequence >= 0)
        fprintf(f, ",\"Seq\":%" PRId64, e->sequence);
    if (e->peer >= 0)
        fprintf(f, ",\"%s\":%" PRId64,
                strcmp(e->collective, "send") ? "Src Rank" : "Dst Rank",
                e->peer);
}

static inline void text_sync(FILE *f, const struct made_event *e)
{
    fprintf(f,
            ",\"cuda_sync_kind\":\"%s\",\"wait_on_stream\":%" PRId64
            ",\"wait_on_cuda_event_record_corr_id\":%" PRId64,
            e->name, e->wait_stream, e->record);
}

static inline void text_event(FILE *f, const struct made_event *e)
{
    bool device = strcmp(e->cat, "kernel") == 0 ||
                  strncmp(e->cat, "gpu_", 4) == 0 ||
                  strcmp(e->cat, "cuda_sync") == 0;

    fprintf(f, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s", e->cat, e->name);
    if (e->step >= 0)
        fprintf(f, "%d", e->step);
    fprintf(f, "\",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
            device ? e->device : 1, device ? e->stream : e->tid);
    text_us(f, "ts", e->start);
    text_us(f, "dur", e->dur);
    fprintf(f, ",\"args\":{\"correlation\":%" PRId64, e->correlation);
    if (device)
        fprintf(f, ",\"device\":%" PRId64 ",\"stream\":%" PRId64, e->device,
                e->stream);
    if (strcmp(e->cat, "cuda_sync") == 0)
        text_sync(f, e);
    else if (device)
        text_device(f, e);
    fputs("}},\n", f);
}

static inline void text_properties(struct made_job *j, FILE *f)
{
    uint32_t what = made_any(j, 4);

    if (what == 0)
        return;
    fprintf(f,
            "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-40GB\""
            ",\"totalGlobalMem\":42297524224,\"computeMajor\":8,"
            "\"computeMinor\":%d,\"numSms\":%d}],",
            what == 1 ? 99 : 0, what == 2 ? 0 : 108);
}

/* One rank's file; its events in any order if `shuffle`. */
static inline bool made_job_write(struct made_job *j, uint32_t rank,
                                  const char *path, bool shuffle)
{
    struct made_rank *r = &j->ranks[rank];
    FILE *f = fopen(path, "wb");

    if (!f)
        return false;
    for (uint32_t i = r->n; shuffle && i > 1; i--) {
        uint32_t k = made_any(j, i);
        struct made_event swap = r->events[k];

        r->events[k] = r->events[i - 1];
        r->events[i - 1] = swap;
    }
    fputs("{\"schemaVersion\":1,", f);
    text_properties(j, f);
    fprintf(f,
            "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%u,"
            "\"world_size\":%u},\"traceEvents\":[",
            rank, j->world ? 8 : j->n_ranks);
    for (uint32_t i = 0; i < r->n; i++)
        text_event(f, &r->events[i]);
    fputs("{\"ph\":\"M\",\"name\":\"end\",\"pid\":0,\"tid\":0,\"ts\":0,"
          "\"args\":{}}]}\n",
          f);
    return fclose(f) == 0;
}

#endif
