/*
 * page - the flame graph's page, made of flamegraph/ by embed_page.py when fathom is built.
 *
 * Between the head and the tail comes the profile as JSON.  Inside export/ only.
 */
#pragma once
#include <stddef.h>

extern const unsigned char flamegraph_head[];
extern const size_t flamegraph_head_size;
extern const unsigned char flamegraph_tail[];
extern const size_t flamegraph_tail_size;
