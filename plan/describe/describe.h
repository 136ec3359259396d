/*
 * plan/describe/describe.h - reading models by their usual numbers, with no
 * trace.
 *
 * Read from a file of ours (data/models has examples) or from the config.json
 * of a Hugging Face model (Llama, Mistral, Qwen, Mixtral, DeepSeek, GPT-2,
 * BERT, RoBERTa, ViT and others with the same names).
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_H
#include "core/base/status.h"
#include "plan/describe/described.h"

#include <stddef.h>

/*
 * Read the model at `path`. EFORMAT names the member, what was found and what
 * was wanted; EIO, ESYNTAX as msim_json_read().
 */
MSIM_MUST_CHECK
enum msim_status msim_described_read(struct msim_described *m, const char *path,
                                     struct msim_error *err);

struct cJSON;
/* The same of an object that stands in `file`, which errors name. */
MSIM_MUST_CHECK
enum msim_status msim_described_parse(struct msim_described *m,
                                      const struct cJSON *object,
                                      const char *file, struct msim_error *err);

struct msim_fields;
/* The same of an object within a file, whose path errors begin with: "model.".
 * A model without a name has that of its member. Errors stay in `f`. */
void msim_described_take(struct msim_described *m, struct msim_fields *f);

/* Whether an object has the members of a model, ours or Hugging Face's. */
bool msim_described_looks(const struct cJSON *object);

/* Whether it is the path of a file: it holds a '/' or ends in .json. */
bool msim_described_is_path(const char *name);

/* Whether it may be a model's name: no path, or one that is not there and has
 * an organisation in front ("Qwen/Qwen3-8B"). */
bool msim_described_may_be_name(const char *name);

/*
 * The model that `name` stands for: a path, else NAME.json in
 * `data_dir`/models, else in `beside` (may be NULL), else what it means of the
 * first ("meta-llama/Llama-3.1-8B-Instruct": plan/describe/model_names.h).
 * EUNKNOWN says which is near, else lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_described_find(struct msim_described *m, const char *name,
                                     const char *data_dir, const char *beside,
                                     struct msim_error *err);

/* What the file of that model says, as JSON on one line; the caller frees
 * `*json`. */
MSIM_MUST_CHECK
enum msim_status msim_described_source(char **json, const char *name,
                                       const char *data_dir,
                                       struct msim_error *err);

/*
 * Whether `name` stands for a model and not for a trace: a name of
 * `data_dir`/models, or a file of one JSON object of at most 1 MB that says
 * nothing of what traces begin with ("nodes", "traceEvents"). A file that is
 * not there counts as none.
 */
bool msim_described_is(const char *name, const char *data_dir);

#endif
