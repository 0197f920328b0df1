/*
 * utf8 - which bytes are valid UTF-8 (RFC 3629: no overlong forms, no surrogates).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/*
 * The length (1 to 4) of the valid sequence that bytes begin with, and its character in
 * *out_character (may be NULL); 0 when they begin with none.
 */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *out_character);
/* The largest length up to len at which bytes do not end within a sequence. */
size_t utf8_cut(const char *bytes, size_t len);
