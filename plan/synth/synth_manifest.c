/*
 * plan/synth/synth_manifest.c - what written traces are of, beside them.
 */
#include "plan/synth/synth.h"

static void write_size(struct msim_json *j, const char *key, int64_t to)
{
    if (to)
        msim_json_integer(j, key, to);
}

/* What makes the model of the one that its file has, one after the other. */
static void write_changes(struct msim_json *j,
                          const struct msim_synth_options *o)
{
    if (!o->n_changes)
        return;
    msim_json_open(j, "changes", '[', false);
    for (uint32_t i = 0; i < o->n_changes; i++) {
        const struct msim_job_model *c = &o->changes[i];

        msim_json_open(j, NULL, '{', false);
#define X(name) write_size(j, #name, c->name.to);
        MSIM_JOB_SIZE_MAP(X)
#undef X
        write_size(j, "layers", c->layers);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* What the job was asked for as, to be read again. */
static void write_description(struct msim_json *j,
                              const struct msim_synth_options *o)
{
    const struct msim_strategy *s = o->strategy;

    msim_json_open(j, "described", '{', true);
    msim_json_value(j, "model", o->source);
    write_changes(j, o);
    msim_json_open(j, "strategy", '{', false);
    for (int g = 0; g < MSIM_GIVEN_COUNT; g++) {
        char text[64];

        if (!(o->given >> g & 1))
            continue;
        msim_strategy_text(s, (enum msim_given)g, text, sizeof(text));
        msim_json_text(j, msim_given_text((enum msim_given)g), text);
    }
    msim_json_text(j, "optimizer", msim_optimizer_text(s->optimizer));
    msim_json_close(j);
    msim_json_close(j);
}

enum msim_status msim_synth_manifest(struct msim_folder *folder,
                                     const struct msim_synth_options *o,
                                     int64_t a_file, struct msim_error *err)
{
    const struct msim_strategy *s = o->strategy;
    struct msim_file *file;
    struct msim_json j;

    MSIM_TRY(msim_folder_file(&file, folder, "synth.json", err));
    msim_json_document(&j, msim_file_write, file, "mystique-sim/synth/1");
    msim_json_text(&j, "model", o->model->name);
    msim_json_open(&j, "strategy", '{', false);
    msim_strategy_json(&j, s);
    msim_json_text(&j, "optimizer", msim_optimizer_text(s->optimizer));
    msim_json_close(&j);
    msim_json_integer(&j, "ranks", s->gpus);
    msim_json_integer(&j, "ranks_a_file", a_file);
    write_description(&j, o);
    return msim_file_close(file, msim_json_end(&j), err);
}
