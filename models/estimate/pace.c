/*
 * models/estimate/pace.c - the longer of memory's time and that of the SMs.
 */
#include "models/estimate/model_internal.h"

#include "core/work/kernel_fact.h"
#include "models/law/law.h"

#include <math.h>

void msim_pace_join(double sms_us, struct msim_estimate *e)
{
    double memory = e->us - e->start_us, both;
    double wider =
        sms_us > memory ? exp(MSIM_Z90 * MSIM_FACT(NULL, PACE_LOG_SD)) : 1;

    if (!(sms_us > 0) || !(memory > 0))
        return;
    both = e->start_us + msim_norm2(memory, sms_us, MSIM_FACT(NULL, PACE_NORM));
    e->low_us *= both / e->us / wider;
    e->high_us *= both / e->us * wider;
    e->us = both;
}

void msim_pace_add(double us, struct msim_estimate *e)
{
    double factor = 1 + us / e->us;

    e->us *= factor;
    e->low_us *= factor;
    e->high_us *= factor;
}
