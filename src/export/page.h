/*
 * page - the pages of flamegraph/ and difference_page/, embedded by embed_page.py during the
 * build.
 *
 * Between head and tail goes the profile as JSON, or the images. Inside export/ only.
 */
#pragma once
#include <stddef.h>

extern const unsigned char flamegraph_head[];
extern const size_t flamegraph_head_size;
extern const unsigned char flamegraph_tail[];
extern const size_t flamegraph_tail_size;
extern const unsigned char difference_head[];
extern const size_t difference_head_size;
extern const unsigned char difference_tail[];
extern const size_t difference_tail_size;
