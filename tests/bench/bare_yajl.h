/*
 * tests/bench/bare_yajl.h - yajl with callbacks that do nothing: what a load is
 * held against.
 */
#ifndef MSIM_TESTS_BENCH_BARE_YAJL_H
#define MSIM_TESTS_BENCH_BARE_YAJL_H
#include <stdlib.h>
#include <yajl/yajl_parse.h>

static int bare_event(void *p)
{
    (void)p;
    return 1;
}

static int bare_boolean(void *p, int value)
{
    (void)value;
    return bare_event(p);
}

static int bare_number(void *p, const char *text, size_t len)
{
    (void)text;
    (void)len;
    return bare_event(p);
}

static int bare_string(void *p, const unsigned char *text, size_t len)
{
    return bare_number(p, (const char *)text, len);
}

static inline yajl_handle bare_yajl(void)
{
    static const yajl_callbacks nothing = {.yajl_null = bare_event,
                                           .yajl_boolean = bare_boolean,
                                           .yajl_number = bare_number,
                                           .yajl_string = bare_string,
                                           .yajl_map_key = bare_string,
                                           .yajl_start_map = bare_event,
                                           .yajl_end_map = bare_event,
                                           .yajl_start_array = bare_event,
                                           .yajl_end_array = bare_event};
    yajl_handle yajl = yajl_alloc(&nothing, NULL, NULL);

    if (!yajl)
        abort();
    return yajl;
}

static inline void bare_parse(yajl_handle yajl, const char *bytes, size_t len)
{
    if (yajl_parse(yajl, (const unsigned char *)bytes, len) != yajl_status_ok)
        abort();
}

#endif
