/*
 * amounts - formats times and shares for pictures: "12.3 ms", "4.5 %".
 *
 * Inside export/ only.
 */
#pragma once
#include <stdint.h>

struct text;

void amounts_add_time(struct text *out, uint64_t ns);
void amounts_add_share(struct text *out, uint64_t part, uint64_t whole);
