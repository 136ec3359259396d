/*
 * plan/synth/synth_optimizer.c - the optimizer's states and its step.
 */
#include "plan/synth/synth_internal.h"

#include <stdlib.h>

enum msim_status msim_synth_optimizer_init(struct msim_synth_optimizer *o,
                                           struct msim_synth *y, size_t most)
{
    *o = (struct msim_synth_optimizer){
        .y = y,
        .of = calloc(most, sizeof(*o->of)),
        .steps = calloc(most, sizeof(*o->steps)),
        .master = calloc(most, sizeof(*o->master)),
        .first = calloc(most, sizeof(*o->first)),
        .second = calloc(most, sizeof(*o->second)),
        .grads = calloc(most, sizeof(*o->grads)),
        .weights = calloc(most, sizeof(*o->weights)),
    };
    return o->of && o->steps && o->master && o->first && o->second &&
                   o->grads && o->weights
               ? MSIM_OK
               : MSIM_ENOMEM;
}

void msim_synth_optimizer_release(struct msim_synth_optimizer *o)
{
    free(o->of);
    free(o->steps);
    free(o->master);
    free(o->first);
    free(o->second);
    free(o->grads);
    free(o->weights);
}

static struct msim_etw_tensor state(struct msim_synth_optimizer *o,
                                    int64_t elems)
{
    return msim_etw_new(o->y->e, MSIM_DT_F32, 1, elems);
}

void msim_synth_optimizer_add(struct msim_synth_optimizer *o,
                              const struct msim_synth_parameter *p,
                              int64_t share)
{
    const struct msim_strategy *s = o->y->s;
    uint32_t n = o->n++;

    o->of[n] = p;
    o->first[n] = state(o, share);
    if (s->optimizer == MSIM_OPTIMIZER_ADAMW)
        o->second[n] = state(o, share);
    o->steps[n] = msim_etw_new(o->y->e, MSIM_DT_F32, 0);
    o->weights[n] = s->zero >= 3 ? msim_etw_new(o->y->e, o->y->dtype, 1, share)
                                 : msim_etw_view(o->y->e, &p->weight, 1, share);
    o->master[n] =
        msim_synth_has_masters(o->y) ? state(o, share) : o->weights[n];
    if (msim_synth_shares_at_once(o->y))
        o->grads[n] =
            msim_etw_new(o->y->e, msim_synth_gradient_type(o->y), 1, share);
}

/* Gradients by now: those of fp32 are there only behind backward. */
static void find_gradients(struct msim_synth_optimizer *o)
{
    if (msim_synth_shares_at_once(o->y))
        return;
    for (uint32_t i = 0; i < o->n; i++)
        o->grads[i] =
            msim_etw_view(o->y->e, &o->of[i]->grad, 1, o->first[i].dims[0]);
}

static struct msim_etw_arg list(const struct msim_etw_tensor *t, uint32_t n)
{
    return (struct msim_etw_arg){MSIM_ETW_TENSORS, n, {.tensors = t}};
}

static void adamw(struct msim_synth_optimizer *o, uint32_t from, uint32_t n)
{
    struct msim_etw_arg in[] = {list(o->master + from, n),
                                list(o->grads + from, n),
                                list(o->first + from, n),
                                list(o->second + from, n),
                                list(NULL, 0),
                                list(o->steps + from, n),
                                msim_synth_real(1e-4),
                                msim_synth_real(0.9),
                                msim_synth_real(0.999),
                                msim_synth_real(0.01),
                                msim_synth_real(1e-8),
                                msim_synth_flag(false),
                                msim_synth_flag(false),
                                msim_synth_none(),
                                msim_synth_none()};

    msim_etw_leaf(o->y->e, "aten::_fused_adamw_",
                  "aten::_fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, "
                  "Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
                  "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, "
                  "float lr, float beta1, float beta2, float weight_decay, "
                  "float eps, bool amsgrad, bool maximize, Tensor? "
                  "grad_scale=None, Tensor? found_inf=None) -> ()",
                  in, 15, NULL, 0);
}

static void sgd(struct msim_synth_optimizer *o, uint32_t from, uint32_t n)
{
    struct msim_etw_arg in[] = {
        list(o->master + from, n), list(o->grads + from, n),
        list(o->first + from, n),  msim_synth_real(1e-4),
        msim_synth_real(0.9),      msim_synth_real(0.01),
        msim_synth_real(0),        msim_synth_flag(false),
        msim_synth_flag(false),    msim_synth_flag(false),
        msim_synth_none(),         msim_synth_none()};

    msim_etw_leaf(o->y->e, "aten::_fused_sgd_",
                  "aten::_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, "
                  "Tensor(c!)[] momentum_buffer_list, *, float weight_decay, "
                  "float momentum, float lr, float dampening, bool nesterov, "
                  "bool maximize, bool is_first_step, Tensor? "
                  "grad_scale=None, Tensor? found_inf=None) -> ()",
                  in, 12, NULL, 0);
}

static void adagrad(struct msim_synth_optimizer *o, uint32_t from, uint32_t n)
{
    struct msim_etw_arg in[] = {
        list(o->master + from, n), list(o->grads + from, n),
        list(o->first + from, n),  list(o->steps + from, n),
        msim_synth_real(0.01),     msim_synth_real(0),
        msim_synth_real(0),        msim_synth_real(1e-10),
        msim_synth_flag(false),    msim_synth_none(),
        msim_synth_none()};

    msim_etw_leaf(o->y->e, "aten::_fused_adagrad_",
                  "aten::_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] "
                  "grads, Tensor(c!)[] state_sums, Tensor(d!)[] state_steps, "
                  "*, float lr, float lr_decay, float weight_decay, float eps, "
                  "bool maximize, Tensor? grad_scale=None, Tensor? "
                  "found_inf=None) -> ()",
                  in, 11, NULL, 0);
}

static void copy_back(struct msim_synth_optimizer *o, uint32_t from, uint32_t n)
{
    struct msim_etw_arg in[] = {list(o->weights + from, n),
                                list(o->master + from, n),
                                msim_synth_flag(false)};

    msim_etw_leaf(o->y->e, "aten::_foreach_copy_",
                  "aten::_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool "
                  "non_blocking=False) -> ()",
                  in, 3, NULL, 0);
}

/* Gradients in 16 bits to the type of what they update. */
static void widen(struct msim_synth_optimizer *o, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < from + n; i++) {
        struct msim_etw_tensor wide = state(o, o->grads[i].dims[0]);

        msim_synth_write_to_copy(o->y->e, &o->grads[i], &wide);
        o->grads[i] = wide;
    }
}

/* Tensors of one call: longer lists are cut. Wide copies of gradients are there
 * for one call. */
#define STEP_TENSORS    512
#define WIDENED_TENSORS 16

void msim_synth_optimizer_step(struct msim_synth_optimizer *o)
{
    static const struct {
        const char *label;
        void (*call)(struct msim_synth_optimizer *, uint32_t, uint32_t);
    } KINDS[] = {
        [MSIM_OPTIMIZER_ADAMW] = {"Optimizer.step#AdamW.step", adamw},
        [MSIM_OPTIMIZER_SGD] = {"Optimizer.step#SGD.step", sgd},
        [MSIM_OPTIMIZER_ADAGRAD] = {"Optimizer.step#Adagrad.step", adagrad}};
    enum msim_optimizer kind = o->y->s->optimizer;
    bool narrow = msim_synth_has_masters(o->y) &&
                  msim_synth_gradient_type(o->y) != MSIM_DT_F32 &&
                  o->y->m->type != MSIM_MODEL_DLRM;
    uint32_t most = narrow ? WIDENED_TENSORS : STEP_TENSORS;

    msim_etw_label(o->y->e, KINDS[kind].label);
    find_gradients(o);
    for (uint32_t i = 0; i < o->n; i += most) {
        uint32_t n = o->n - i < most ? o->n - i : most;

        if (narrow)
            widen(o, i, n);
        KINDS[kind].call(o, i, n);
        if (msim_synth_has_masters(o->y))
            copy_back(o, i, n);
    }
    msim_etw_close(o->y->e, NULL, 0);
}
