/*
 * replay/fleet/device_time.h - the time of the devices of a trace by kind of
 * work: how long gemm, attention, copies, collectives, ... and nothing ran.
 *
 * A GPU counts from its first activity to its last. Every instant belongs to
 * the work that runs in it; where several run at once they share it evenly,
 * and where none runs it is idle. So the kinds sum to the time of the device,
 * and those of several devices may be added. Example, two streams:
 *
 *     stream 7   gemm 0..10                 gemm 14..20
 *     stream 9          all-reduce 6..12
 *
 *     gemm 6 + 4/2 + 6 = 14, collective 4/2 + 2 = 4, idle 2; together 20
 *
 * The family of a kernel is that of the operator that launched it, or that of
 * its name where the operator does not tell. A rank that launches nothing on a
 * GPU has one device, the CPU. Its operators count without those that they
 * call, and what is not known of an operator follows from its caller.
 */
#ifndef MSIM_REPLAY_FLEET_DEVICE_TIME_H
#define MSIM_REPLAY_FLEET_DEVICE_TIME_H
#include "core/work/work.h"

/* Families, and after them idle time. MSIM_FAMILY_BOUND is work of no known
 * family. */
#define MSIM_TIME_IDLE  ((uint32_t)MSIM_FAMILY_COUNT)
#define MSIM_TIME_KINDS ((uint32_t)MSIM_FAMILY_COUNT + 1)

/* "gemm", ..., "other", "idle". */
const char *msim_time_kind_text(uint32_t kind);

/* The kind of GPU activity `i`: its family, of msim_gpu_families(), or that of
 * its kernel's name where the operator does not tell. */
uint32_t msim_gpu_time_kind(const struct msim_trace *t, const uint8_t *family,
                            uint32_t i);

struct msim_device_time {
    double us[MSIM_FAMILY_COUNT + 1];
    uint32_t gpus, cpus;
};

/* Add the devices of `t`; ENOMEM, which adds nothing. A trace without times of
 * its devices has none: msim_device_time_absent() says why. */
MSIM_MUST_CHECK
enum msim_status msim_device_time_add(struct msim_device_time *sum,
                                      const struct msim_trace *t);

/* All kinds together. */
double msim_device_time_total(const struct msim_device_time *d);

/* Why a trace has no time of its devices, as the end of a sentence. */
const char *msim_device_time_absent(const struct msim_trace *t);

#endif
